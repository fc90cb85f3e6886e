// Package logged makes vjobs of the jobs of a log: of each processor that a job had, one
// VM. A log says little about what a job needs, so some of it is supposed: [Mapping] and
// docs/replay.md say what.
//
// It refuses to know how vjobs are scheduled.
package logged

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"vjob/cluster"
	"vjob/scheduler/admission"
	"vjob/sim/swf"
	"vjob/sim/workload"
)

// Mapping says what becomes of the jobs.
type Mapping struct {
	// Share is the part of a node that belongs to one of its processors: no VM has more
	// memory, and one of which the log says nothing has as much.
	Share cluster.MiB
	// Phases: the VMs of a job need their CPU one after another, or in layers, as the
	// kinds of graph of [workload.Phases] do, and memory of which the log says nothing is
	// from 512 to 2048 MiB. Which job is of which kind is drawn by its number. Else all VMs
	// need their CPU all the time.
	Phases bool
	Fields Fields
}

// Fields are the fields of a log that are used.
type Fields struct {
	User, Group, Queue bool // the owner is "user12", the project "group3", the queue "queue1"
	// Preceding: a job waits until the one after which its user sent it has ended.
	Preceding bool
	// Think: a job comes so long after the end of that one as its user thought, instead of
	// when it came in the log.
	Think bool
}

// least is the least memory of a VM of which a log tells the memory.
const least = 64

// Workload makes vjobs of a log.
func Workload(log *swf.Log, m Mapping) (*workload.Workload, error) {
	w := &workload.Workload{Start: log.Start, Jobs: make([]workload.Job, len(log.Jobs))}
	numbers := make(map[int64]int, len(log.Jobs)) // the last one above of each
	for i := range log.Jobs {
		j := &log.Jobs[i]
		job, err := m.job(j)
		if err != nil {
			return nil, err
		}
		if on, known := numbers[int64(j.Preceding)]; known {
			m.follow(&job, j, on, w.Jobs[on].Submission.Owner == job.Submission.Owner)
		}
		if _, repeated := numbers[j.Number]; repeated {
			job.Submission.Name += fmt.Sprintf(".%d", i+1)
		}
		numbers[j.Number] = i
		w.Jobs[i] = job
	}
	return w, nil
}

// follow lets a job come after another one. Only for those of the same user it can wait.
func (m *Mapping) follow(job *workload.Job, j *swf.Job, on int, same bool) {
	if m.Fields.Preceding && same {
		job.After = []workload.Link{{On: on, When: cluster.AfterAny}}
	}
	if m.Fields.Think {
		job.Follows = &workload.Following{On: on, Think: time.Duration(max(0, j.Think)) * time.Second}
	}
}

func (m *Mapping) job(j *swf.Job) (job workload.Job, err error) {
	const longest = int64(100 * 365 * 86_400) // seconds: what a duration can hold, three times over
	hash := fnv.New32a()
	_, _ = hash.Write(strconv.AppendInt(nil, j.Number, 10))
	size := cluster.Resources{CPU: cluster.CPU, Memory: m.memory(j, hash.Sum32())}
	model := "ED"
	if m.Phases {
		model = kind(hash.Sum32(), j.Processors)
	}
	vms, err := workload.Members(model, int(j.Processors), min(j.Run, longest), size)
	if err != nil {
		return job, err
	}
	s := admission.Submission{
		Owner: workload.Owner, Name: fmt.Sprintf("j%d", j.Number), VMs: vms,
		Walltime: time.Duration(min(j.Walltime, longest)) * time.Second,
	}
	if m.Fields.User && j.User >= 0 {
		s.Owner = fmt.Sprintf("user%d", j.User)
	}
	if m.Fields.Group && j.Group >= 0 {
		s.Project = fmt.Sprintf("group%d", j.Group)
	}
	if m.Fields.Queue && j.Queue >= 0 {
		s.Queue = fmt.Sprintf("queue%d", j.Queue)
	}
	return workload.Job{At: time.Duration(min(j.Submit, longest)) * time.Second, Submission: s}, nil
}

// memory is what each VM has.
func (m *Mapping) memory(j *swf.Job, hash uint32) cluster.MiB {
	switch {
	case j.MemoryKiB > 0:
		return min(max(cluster.MiB((int64(j.MemoryKiB)+1023)/1024), least), m.Share)
	case m.Phases:
		supposed := [...]cluster.MiB{512, 512, 1024, 1024, 1024, 1536, 1536, 2048}
		return min(supposed[hash>>8&7], m.Share)
	default:
		return m.Share
	}
}

// kind draws the kind of graph of a job: those of one or two processors are simple.
func kind(hash uint32, processors int64) string {
	switch c := hash % 100; {
	case processors < 3 || c < 40:
		return "ED"
	case c < 60:
		return "HC"
	case c < 80:
		return "VP"
	default:
		return "MB"
	}
}
