package execute

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// mayUnpause reports whether a gang that stands still in memory may go on now: its nodes
// have the CPU that its members need. When they do not have it for too long, what the
// gang was to do is given up: it goes on standing, and somebody else decides.
func (e *Executor) mayUnpause(p *gangState) bool {
	if e.mayRun(p) {
		return true
	}
	e.denied[p.job.ID] = true
	if p.denied.IsZero() {
		p.denied = e.now
	}
	if e.now.Sub(p.denied) >= e.settings.Patience {
		p.denied = time.Time{}
		p.failures++
		p.failedAt, p.why = e.now, fmt.Sprintf("no CPU or power to go on after %s of waiting", e.settings.Patience)
		e.drop(p, journal.PlanFailed, p.why)
	}
	return false
}

// mayRun reports whether all members of a gang that stands still have the CPU on their
// nodes that they need to go on, and the power for it. Those who need more than their node
// has are content with all of it: they would never have more there, and cannot move before
// they run. A node of which nothing is seen has none.
func (e *Executor) mayRun(p *gangState) bool {
	wants, load := map[cluster.NodeID]cluster.MilliCPU{}, map[cluster.NodeID]cluster.MilliCPU{}
	for rank, m := range p.rec.Members {
		if !m.Ended {
			wants[m.Node] += e.need(p, rank).CPU
			load[m.Node] += max(e.Most(p.job.VMs[rank].ID), p.ceiling(rank, p.member(rank).cap.most))
		}
	}
	for id, cpu := range wants {
		n, ok := e.nodes[id]
		if !ok || !n.seen || cpu > 0 && min(cpu, n.Capacity.CPU) > e.free(n, p).CPU {
			return false
		}
	}
	return e.Admits == nil || e.Admits(load)
}
