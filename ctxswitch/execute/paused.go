package execute

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// mayUnpause reports whether a gang that is paused in memory may continue now: its nodes have the
// CPU that its members need. When they lack it for too long, the gang gives up its aim and stays
// paused, and the policy decides.
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

// mayRun reports whether all members of a paused gang have the CPU that they need on their nodes,
// and the power for it. A member that needs more CPU than its node has continues with all of it:
// it would never have more there, and cannot move before it runs. A node that was not seen has no
// CPU.
func (e *Executor) mayRun(p *gangState) bool {
	wants, load := map[cluster.NodeID]cluster.MilliCPU{}, map[cluster.NodeID]cluster.MilliCPU{}
	for rank, m := range p.rec.Members {
		if !m.Ended {
			wants[m.Node] += e.need(p, rank).CPU
			load[m.Node] += max(e.Cap(p.job.VMs[rank].ID), p.ceiling(rank, p.member(rank).cap.most))
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
