package ordering

import (
	"time"

	"github.com/tidwall/btree"

	"vjob/cluster"
	"vjob/queue/multifactor"
)

// Ranks say how vjobs rank at one instant. They never change, and other goroutines may read them.
type Ranks struct {
	settings *Settings
	total    cluster.Resources
	factors  *btree.Map[string, float64] // fair-share factors by account
	at       time.Time
}

// Ranks returns the ranks at an instant. It costs the same however many vjobs there are.
func (d *Order) Ranks(now time.Time) Ranks {
	return Ranks{settings: &d.settings, total: d.total, factors: d.factors.Copy(), at: now}
}

// Queue returns the queue in which a vjob counts.
func (r *Ranks) Queue(j *cluster.VJob) string { return r.settings.Queues.of(j.Queue).Name }

// Priority returns the priority of a vjob, and its parts.
func (r *Ranks) Priority(j *cluster.VJob, runs bool) multifactor.Priority {
	who := r.settings.Association(j)
	factor, _ := r.factors.Get(accountPath(who.User, who.Project).String())
	return r.settings.Rank.Priority(&multifactor.Factors{
		ID: j.ID, Submitted: j.Submitted, Priority: j.Priority, Deadline: j.Deadline,
		Queue: r.settings.Queues.Factor(who.Queue), FairShare: factor, Size: sizeOf(j.Reserved(), r.total), Runs: runs,
	}, r.at)
}

// sizeOf returns the share of a total that a vjob needs, of its scarcest resource.
func sizeOf(need, total cluster.Resources) (part float64) {
	if total.CPU > 0 {
		part = float64(need.CPU) / float64(total.CPU)
	}
	if total.Memory > 0 {
		part = max(part, float64(need.Memory)/float64(total.Memory))
	}
	return part
}
