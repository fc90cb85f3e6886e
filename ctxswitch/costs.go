package ctxswitch

import (
	"time"

	"vjob/cluster"
)

// Costs estimates how long actions last.
type Costs struct {
	Boot, Stop      time.Duration
	Suspend, Resume time.Duration // whatever the memory, on top of the part per GiB
	MigratePer      time.Duration // per GiB
	SuspendPer      time.Duration // per GiB
	ResumePer       time.Duration // per GiB, local
	Pause           time.Duration // to stop a VM or to let it go on, in memory
	RemoteFactor    float64       // a remote resume takes this many times a local one; below 1 counts as 1
}

// ThesisCosts are the measurements of thesis §8.3.2 (figure 8.6): Xen, Gigabit
// Ethernet, clean shutdowns.
var ThesisCosts = Costs{
	Boot: 6 * time.Second, Stop: 25 * time.Second,
	MigratePer: 12 * time.Second, SuspendPer: 50 * time.Second, ResumePer: 45 * time.Second,
	RemoteFactor: 3, // to pause is not among them: next to nothing
}

// RepackingCosts are the estimates of the bin repacking paper, §5, in which only
// a migration depends on the memory.
var RepackingCosts = Costs{
	Boot: time.Second, Stop: 2 * time.Second,
	Suspend: 4 * time.Second, Resume: 5 * time.Second, MigratePer: time.Second,
	RemoteFactor: 1.2, // 6 s instead of 5 s
}

// Duration estimates an action on a VM with so much memory. Remote matters to
// [cluster.Resume] only: the image lies on another node.
func (c Costs) Duration(kind cluster.ActionKind, memory cluster.MiB, remote bool) time.Duration {
	per := func(gib time.Duration) time.Duration {
		return time.Duration(float64(gib) * float64(memory) / float64(cluster.GiB))
	}
	switch kind {
	case cluster.Boot:
		return c.Boot
	case cluster.Stop:
		return c.Stop
	case cluster.Pause, cluster.Unpause:
		return c.Pause
	case cluster.Suspend:
		return c.Suspend + per(c.SuspendPer)
	case cluster.Resume:
		local := c.Resume + per(c.ResumePer)
		if remote && c.RemoteFactor > 1 {
			return time.Duration(float64(local) * c.RemoteFactor)
		}
		return local
	default:
		return per(c.MigratePer)
	}
}

// localCost is k of thesis table 8.3, in MiB. The constants of boots and stops
// are 0, as in the thesis, and nothing is copied to stand still in memory.
func localCost(kind cluster.ActionKind, memory cluster.MiB, remote bool) int64 {
	switch kind {
	case cluster.Boot, cluster.Stop, cluster.Pause, cluster.Unpause:
		return 0
	case cluster.Resume:
		if remote {
			return 2 * int64(memory)
		}
	default: // proportional to the memory, as a local resume
	}
	return int64(memory)
}

// planCost is K of thesis eq. 8.1: the sum over all actions of their local cost
// and the cost of the steps before theirs, where a step costs as much as its
// dearest action.
//
// A plan here has dependencies instead of steps, so the steps are read off them:
// an action that waits for nothing is in the first, any other in the one after
// the last that it waits for. For plans that were steps in the first place, this
// is the very same figure.
func planCost(actions []Action) int64 {
	level := levels(actions)
	var steps []int64
	for i, a := range actions {
		for len(steps) <= level[i] {
			steps = append(steps, 0)
		}
		steps[level[i]] = max(steps[level[i]], a.Cost)
	}
	before := make([]int64, len(steps)+1)
	for i, k := range steps {
		before[i+1] = before[i] + k
	}
	var sum int64
	for i, a := range actions {
		sum += before[level[i]] + a.Cost
	}
	return sum
}

// levels numbers the step of each action. Actions wait for earlier ones only.
func levels(actions []Action) []int {
	level := make([]int, len(actions))
	for i, a := range actions {
		for _, before := range a.After {
			level[i] = max(level[i], level[before]+1)
		}
	}
	return level
}
