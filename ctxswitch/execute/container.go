package execute

import (
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
)

// step asks the protocol for the next turn of a gang.
func (e *Executor) step(p *gangState) gang.Turn {
	if p.job.Container {
		return gang.StepContainer(p.rec, e.scene(p), e.inside(p))
	}
	return gang.Step(p.rec, e.scene(p))
}

// containerSight is all that is to be seen of a member of a container: whether its node is lost.
func (e *Executor) containerSight(p *gangState, rank int) gang.Sight {
	return gang.Sight{Gone: e.fenced(p.rec.Members[rank].Node)}
}

// inside says which vjobs have to leave before a container can give its room back, "" for none.
func (e *Executor) inside(p *gangState) string {
	if p.rec.Phase != gang.Clearing {
		return ""
	}
	var inside []cluster.VJobID
	for id, q := range e.gangs {
		if q.job.Inner == p.job.ID && !q.away() {
			inside = append(inside, id)
		}
	}
	switch n := len(inside); n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("vjob %s is still inside", inside[0])
	default:
		return fmt.Sprintf("vjob %s and %d more are still inside", slices.Min(inside), n-1)
	}
}

// away reports whether a gang is on no node.
func (p *gangState) away() bool { return p.rec.Phase == gang.Absent || p.rec.Phase == gang.Saved }

// outside says why a vjob cannot begin inside its container, "" if it can.
func (e *Executor) outside(p *gangState, a *assignment) string {
	if p.job.Inner == 0 {
		return ""
	}
	switch a.gang.Kind {
	case cluster.Suspend, cluster.Pause, cluster.Stop:
		return "" // it makes room
	default:
	}
	c, live := e.gangs[p.job.Inner]
	switch {
	case !live:
		return fmt.Sprintf("its container %s has ended", p.job.Inner)
	case c.rec.Phase != gang.Active:
		return fmt.Sprintf("its container %s is %s", c.job.ID, c.job.State)
	default:
		return ""
	}
}

// touchContainer wakes the gangs that depend on the new phase of a gang: the vjobs inside a
// container, or the container that waits for them to leave.
func (e *Executor) touchContainer(p *gangState) {
	if p.job.Inner != 0 {
		e.dirty[p.job.Inner] = true
	}
	if !p.job.Container {
		return
	}
	for id, q := range e.gangs {
		if q.job.Inner == p.job.ID {
			e.dirty[id] = true
		}
	}
}

// free is what a vjob finds on a node: what is free there and no container keeps;
// inside a container, the room of the container that no vjob inside uses.
func (e *Executor) free(n *node, p *gangState) cluster.Resources {
	free := n.Capacity.Minus(e.used(n))
	for id, c := range e.containers {
		if id == p.job.Inner {
			continue
		}
		unused := e.unused(c, n)
		free = free.Minus(cluster.Resources{CPU: max(0, unused.CPU), Memory: max(0, unused.Memory)})
	}
	if c, inside := e.containers[p.job.Inner]; inside {
		unused := e.unused(c, n)
		free = cluster.Resources{CPU: min(free.CPU, unused.CPU), Memory: min(free.Memory, unused.Memory)}
	}
	return free
}

// unused is what a container keeps on a node and no VM inside uses.
func (e *Executor) unused(c *gangState, n *node) cluster.Resources {
	return c.keeps(n.ID).Minus(e.usedBy(n, func(q *gangState) bool { return q.job.Inner == c.job.ID }))
}

// keeps is the room that a container has on a node, from when it begins to run until it has
// ended.
func (p *gangState) keeps(node cluster.NodeID) (sum cluster.Resources) {
	for rank, m := range p.rec.Members {
		if m.Node == node {
			sum = sum.Plus(p.job.VMs[rank].Reserved)
		}
	}
	return sum
}
