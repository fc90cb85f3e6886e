package workload

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"vjob/cluster"
	"vjob/scheduler/admission"
	"vjob/sim/swf"
)

// LogMapping are the options of the conversion.
type LogMapping struct {
	// Share is the part of a node that belongs to one of its processors. It is the maximum
	// memory of a VM, and the default if the log has none.
	Share cluster.MiB
	// Phases: the VMs of a job need their CPU in phases, by one of the models of
	// [phases], and 512 to 2048 MiB of memory if the log has none. A hash of the
	// job's number selects the model. Without Phases all VMs always need their CPU.
	Phases bool
	Fields LogFields
}

// LogFields are the fields of a log that the conversion uses.
type LogFields struct {
	User, Group, Queue bool // the owner is "user12", the project "group3", the queue "queue1"
	// Preceding: a job depends on the end of its preceding job.
	Preceding bool
	// Think: a job is submitted its think time after the end of its preceding job, instead of
	// at its time in the log.
	Think bool
}

// minLogMemory is the minimum memory of a VM if the log has its memory.
const minLogMemory = 64

// FromLog converts the jobs of a log to vjobs, with one VM for each processor of a job. Logs say little about the needs of a
// job, so some are assumptions, see [LogMapping] and docs/replay.md.
func FromLog(log *swf.Log, m LogMapping) (*Workload, error) {
	w := &Workload{Start: log.Start, Jobs: make([]Job, len(log.Jobs))}
	numbers := make(map[int64]int, len(log.Jobs)) // by number: the index of the last job with it
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

// follow makes a job follow another one. Dependencies exist only between jobs of one user.
func (m *LogMapping) follow(job *Job, j *swf.Job, on int, same bool) {
	if m.Fields.Preceding && same {
		job.After = []Link{{On: on, When: cluster.AfterAny}}
	}
	if m.Fields.Think {
		job.Follows = &Following{On: on, Think: time.Duration(max(0, j.Think)) * time.Second}
	}
}

func (m *LogMapping) job(j *swf.Job) (job Job, err error) {
	const longest = int64(100 * 365 * 86_400) // seconds: what a duration can hold, three times over
	hash := fnv.New32a()
	_, _ = hash.Write(strconv.AppendInt(nil, j.Number, 10))
	size := cluster.Resources{CPU: cluster.CPU, Memory: m.memory(j, hash.Sum32())}
	model := "ED"
	if m.Phases {
		model = kind(hash.Sum32(), j.Processors)
	}
	vms, err := members(model, int(j.Processors), min(j.Run, longest), size)
	if err != nil {
		return job, err
	}
	s := admission.Submission{
		Owner: Owner, Name: fmt.Sprintf("j%d", j.Number), VMs: vms,
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
	return Job{At: time.Duration(min(j.Submit, longest)) * time.Second, Submission: s}, nil
}

// memory returns the memory of each VM.
func (m *LogMapping) memory(j *swf.Job, hash uint32) cluster.MiB {
	switch {
	case j.MemoryKiB > 0:
		return min(max(cluster.MiB((int64(j.MemoryKiB)+1023)/1024), minLogMemory), m.Share)
	case m.Phases:
		supposed := [...]cluster.MiB{512, 512, 1024, 1024, 1024, 1536, 1536, 2048}
		return min(supposed[hash>>8&7], m.Share)
	default:
		return m.Share
	}
}

// kind selects the model of a job by a hash: jobs of one or two processors are simple.
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
