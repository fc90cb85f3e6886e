package decide

import (
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
)

// Questions of power management: the same view with other nodes on.

// Forward moves the view to a later instant; running vjobs keep running.
func (p *View) Forward(to time.Time) {
	if to.After(p.now) {
		p.now = to
	}
}

// CanEmpty drains nodes in the view and reports whether all their VMs find places elsewhere.
func (p *View) CanEmpty(nodes []cluster.NodeID) bool {
	for _, id := range nodes {
		n, _ := p.current.Node(id)
		n.State = cluster.Draining
		p.setNode(n)
	}
	if empty(p.current, nodes) {
		return true
	}
	verdicts := make([]queue.Verdict, len(p.VJobs))
	for i, r := range p.VJobs {
		if r.Job.State == cluster.Running {
			verdicts[i].Target = queue.Run
		}
	}
	goals, _ := p.goals(verdicts)
	plan, err := ctxswitch.Plan{}, error(nil)
	well := withoutPanic(func() { plan, err = ctxswitch.Repacker{}.Plan(p.problem(goals)) })
	// The planner leaves a VM without a place on its drained node.
	return well && err == nil && plan.Target != nil && empty(plan.Target, nodes)
}

func empty(c *cluster.Configuration, nodes []cluster.NodeID) bool {
	return !slices.ContainsFunc(nodes, func(id cluster.NodeID) bool { return len(c.On(id)) > 0 })
}

// withoutPanic runs a function and reports whether it did not panic: a vjob that makes decisions
// fail is quarantined elsewhere and must not stop power management.
func withoutPanic(do func()) (well bool) {
	defer func() { well = recover() == nil }()
	do()
	return true
}

// Fewest returns how many of the nodes, from the first, suffice to run as many vjobs as all of
// them. Under power limits nodes also use up power, and it returns how many run the most vjobs.
// It leaves some of the nodes online in the view.
func (p *View) Fewest(off []cluster.Node) int {
	if len(p.Limits) > 0 {
		return argmax(len(off), func(n int) int { return p.runs(off, n) })
	}
	goal := p.runs(off, len(off))
	if p.runs(off, 0) >= goal {
		return 0
	}
	low, high := 0, len(off) // with low it is too few, with high enough
	for high-low > 1 {
		if mid := (low + high) / 2; p.runs(off, mid) >= goal {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// argmax returns the smallest argmax of value over 0..n. For large n it tries only some numbers,
// each half as large again as the one before.
func argmax(n int, value func(int) int) (best int) {
	for i, largest := 0, -1; i <= n; i++ {
		if v := value(i); v > largest {
			best, largest = i, v
		}
		if i < n {
			i = min(i+i/2, n-1)
		}
	}
	return best
}

// runs returns how many vjobs would run with the first of some nodes online and the others
// offline. Online nodes draw power.
func (p *View) runs(nodes []cluster.Node, online int) (count int) {
	was := p.off
	p.off = maps.Clone(was)
	defer func() { p.off = was }()
	for i, n := range nodes {
		n.State = cluster.Offline
		if i < online {
			n.State = cluster.Online
			delete(p.off, n.ID)
		}
		p.setNode(n)
	}
	var verdicts []queue.Verdict
	withoutPanic(func() { verdicts, _ = p.applyPolicy() })
	for _, v := range verdicts {
		if v.Target == queue.Run {
			count++
		}
	}
	return count
}
