package decide

import (
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
)

// What would be with other nodes, for those who switch them off and on.

// Forward has the picture decided on as if an instant had come; what runs still does.
func (p *View) Forward(to time.Time) {
	if to.After(p.now) {
		p.now = to
	}
}

// CanEmpty reports whether all VMs find places elsewhere while nodes are drained. The
// picture has them drained afterwards.
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
	// Where there is no room for a VM, the planner leaves it on a node that is drained.
	return well && err == nil && plan.Target != nil && empty(plan.Target, nodes)
}

func empty(c *cluster.Configuration, nodes []cluster.NodeID) bool {
	return !slices.ContainsFunc(nodes, func(id cluster.NodeID) bool { return len(c.On(id)) > 0 })
}

// withoutPanic does something and reports whether it went without a panic: vjobs with which no
// decision can be taken are the business of others, and stop no power management.
func withoutPanic(do func()) (well bool) {
	defer func() { well = recover() == nil }()
	do()
	return true
}

// Fewest is how many of the nodes, from the first on, let as many vjobs run as all of them
// would; under limits of power, which nodes use up by being on, as let the most run. The
// picture has some of them online afterwards.
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

// argmax is the least number with the largest value, of 0 to n; of many numbers only some are
// tried, each half as large again as the one before.
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

// runs is how many vjobs would run with the first of some nodes online, and the others not.
// Those that are online draw power for it.
func (p *View) runs(nodes []cluster.Node, online int) (count int) {
	was := p.off
	p.off = maps.Clone(was)
	defer func() { p.off = was }()
	for i, n := range nodes {
		if n.State = cluster.Offline; i < online {
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
