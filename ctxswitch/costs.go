package ctxswitch

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/duration"
)

// Costs estimates how long actions last: by what was learned, or else by the settings.
type Costs struct {
	Boot, Stop       time.Duration // whatever the memory, on top of the part per GiB
	Suspend, Resume  time.Duration
	Migrate          time.Duration
	BootPer, StopPer time.Duration // per GiB
	MigratePer       time.Duration
	SuspendPer       time.Duration
	ResumePer        time.Duration // local
	Pause            time.Duration // to stop a VM or to let it go on, in memory
	RemoteFactor     float64       // a remote resume takes this many times a local one; below 1 counts as 1
	// Learned estimates replace all of these but Pause; nil: nothing was learned.
	Learned *duration.Estimates
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

// Duration estimates an action on a VM with so much memory. From is where the VM is or its image
// lies, and to where it will be; "" is unknown: then the median of the nodes counts, if durations
// were learned.
func (c *Costs) Duration(kind cluster.ActionKind, memory cluster.MiB, from, to cluster.NodeID) time.Duration {
	learned, ok := duration.KindOf(kind, from, to)
	if !ok {
		return c.Pause
	}
	if c.Learned != nil {
		d, _ := c.Learned.Duration(kind, memory, from, to)
		return d
	}
	return c.prior(learned).Of(memory)
}

// Priors returns the estimates without what was learned.
func (c *Costs) Priors() (p duration.Priors) {
	for kind := range p {
		p[kind] = c.prior(duration.Kind(kind))
	}
	return p
}

func (c *Costs) prior(kind duration.Kind) duration.Line {
	switch kind {
	case duration.Boot:
		return duration.Line{Constant: c.Boot, PerGiB: c.BootPer}
	case duration.Stop:
		return duration.Line{Constant: c.Stop, PerGiB: c.StopPer}
	case duration.Suspend:
		return duration.Line{Constant: c.Suspend, PerGiB: c.SuspendPer}
	case duration.ResumeRemote:
		remote := func(d time.Duration) time.Duration { return time.Duration(float64(d) * max(c.RemoteFactor, 1)) }
		return duration.Line{Constant: remote(c.Resume), PerGiB: remote(c.ResumePer)}
	case duration.Resume:
		return duration.Line{Constant: c.Resume, PerGiB: c.ResumePer}
	default:
		return duration.Line{Constant: c.Migrate, PerGiB: c.MigratePer}
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
