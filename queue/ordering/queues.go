package ordering

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/queue"
)

// Queue is a queue of submissions: a priority, a policy, and limits on single vjobs.
type Queue struct {
	Name     string
	Priority int // 0 or more; larger ones first
	Policy   queue.Policy
	Pool     string // of its vjobs, unless they or their project have one; ""
	// Limits on one vjob; 0 is no limit.
	VMs      int
	CPU      cluster.MilliCPU
	Memory   cluster.MiB
	Walltime time.Duration // with a limit, a vjob must have a walltime
}

// Queues are the queues of a cluster. They do not change.
type Queues struct {
	queues      []Queue // larger priorities first, then by name
	defaultName string
}

// NewQueues checks the queues; defaultName is the queue of submissions that name none.
func NewQueues(queues []Queue, defaultName string) (*Queues, error) {
	if len(queues) == 0 {
		return nil, cluster.BadField("queues", "[]", "at least one queue")
	}
	for i := range queues {
		q, field := &queues[i], fmt.Sprintf("queues[%d]", i)
		switch {
		case strings.TrimSpace(q.Name) == "":
			return nil, cluster.BadField(field+".name", q.Name, "a name")
		case slices.ContainsFunc(queues[:i], func(o Queue) bool { return o.Name == q.Name }):
			return nil, cluster.BadField(field+".name", q.Name, "a name that no other queue has")
		case q.Priority < 0:
			return nil, cluster.BadField(field+".priority", q.Priority, "0 or more")
		case q.VMs < 0 || q.CPU < 0 || q.Memory < 0 || q.Walltime < 0:
			return nil, cluster.Fault(field, "a limit is below 0, want 0 for no limit")
		case q.Policy.Traits().Needs != queues[0].Policy.Traits().Needs:
			return nil, cluster.BadField(field+".policy", q.Policy.Name(), fmt.Sprintf(
				"one that counts VMs as the policy of queue %s does, %s; firstfit does with needs: reserved", queues[0].Name, queues[0].Policy.Name()))
		}
	}
	l := &Queues{queues: slices.Clone(queues), defaultName: defaultName}
	slices.SortFunc(l.queues, func(a, b Queue) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Name, b.Name))
	})
	if l.find(defaultName) == nil {
		return nil, cluster.BadField("default_queue", defaultName, "one of "+strings.Join(l.Names(), ", "))
	}
	return l, nil
}

func (l *Queues) find(name string) *Queue {
	i := slices.IndexFunc(l.queues, func(q Queue) bool { return q.Name == name })
	if i < 0 {
		return nil
	}
	return &l.queues[i]
}

// Names returns the names of the queues, larger priorities first.
func (l *Queues) Names() []string {
	names := make([]string, len(l.queues))
	for i := range l.queues {
		names[i] = l.queues[i].Name
	}
	return names
}

// Route returns the queue of that name, or the default one for "".
func (l *Queues) Route(name string) (*Queue, error) {
	if name == "" {
		name = l.defaultName
	}
	if q := l.find(name); q != nil {
		return q, nil
	}
	return nil, cluster.BadField("queue", name, "one of "+strings.Join(l.Names(), ", "))
}

// of returns the queue of a vjob that was submitted to that name: the default one if that is gone or "".
func (l *Queues) of(name string) *Queue {
	if q := l.find(name); q != nil {
		return q
	}
	return l.find(l.defaultName)
}

// Factor returns the priority of a queue relative to the largest, from 0 to 1.
func (l *Queues) Factor(name string) float64 {
	q := l.of(name)
	if q.Priority == 0 {
		return 0
	}
	return float64(q.Priority) / float64(l.queues[0].Priority)
}

// Admit returns why a vjob is too large for the queue, if it is.
func (q *Queue) Admit(vms int, needs cluster.Resources, walltime time.Duration) error {
	switch {
	case q.VMs > 0 && vms > q.VMs:
		return cluster.Fault("vms", "%d VMs requested, queue %s allows at most %d", vms, q.Name, q.VMs)
	case q.CPU > 0 && needs.CPU > q.CPU:
		return cluster.Fault("vms", "%s CPU requested, queue %s allows at most %s", needs.CPU, q.Name, q.CPU)
	case q.Memory > 0 && needs.Memory > q.Memory:
		return cluster.Fault("vms", "%s requested, queue %s allows at most %s", needs.Memory, q.Name, q.Memory)
	case q.Walltime > 0 && walltime == 0:
		return cluster.Fault("walltime_seconds", "queue %s requires a walltime of at most %s", q.Name, q.Walltime)
	case q.Walltime > 0 && walltime > q.Walltime:
		return cluster.Fault("walltime_seconds", "%s requested, queue %s allows at most %s", walltime, q.Name, q.Walltime)
	}
	return nil
}
