package replay

import (
	"time"

	"vjob/cluster"
)

// Usage is what the nodes and the VMs of a replay add up to: the measures of thesis §10.2.2.
type Usage struct {
	// NodeTime is the time of all nodes that have VMs, FirstEnd the part of it until the first vjob ends: VMs of
	// vjobs that have ended leave nodes empty without any consolidation.
	NodeTime, FirstEnd time.Duration
	MostNodes          int // at once
	// UnsatisfiedTime is that of all VMs that get less CPU than they demand.
	UnsatisfiedTime time.Duration
	// Crises is how often VMs began to be unsatisfied while none was, and Reaction how long that lasted, in sum and at most,
	// until none was.
	Crises               int
	Reaction, LongestOne time.Duration
}

// MeanReaction returns the mean time from demand beyond the capacity of a node to relief.
func (u *Usage) MeanReaction() time.Duration { return u.Reaction / time.Duration(max(1, u.Crises)) }

// end ends a time with unsatisfied VMs.
func (u *Usage) end(lasted time.Duration) {
	if lasted == 0 {
		return
	}
	u.Crises++
	u.Reaction += lasted
	u.LongestOne = max(u.LongestOne, lasted)
}

// usage adds up the usage.
type usage struct {
	Usage
	nodes, unsatisfied int           // now
	unsatisfiedFor     time.Duration // some VM is unsatisfied for so long
	ended              bool          // some vjob has ended
}

// advance counts a time in which nothing changed.
func (u *usage) advance(d time.Duration) {
	if d <= 0 {
		return
	}
	u.NodeTime += time.Duration(u.nodes) * d
	if !u.ended {
		u.FirstEnd = u.NodeTime
	}
	u.MostNodes = max(u.MostNodes, u.nodes)
	u.UnsatisfiedTime += time.Duration(u.unsatisfied) * d
	if u.unsatisfied > 0 {
		u.unsatisfiedFor += d
		return
	}
	u.end(u.unsatisfiedFor)
	u.unsatisfiedFor = 0
}

// vjobEnded notes that a vjob has ended.
func (u *usage) vjobEnded() { u.ended = true }

// overhead returns by how much the vjobs that ended by themselves took longer than alone.
func (r *Result) overhead() float64 {
	took, alone := time.Duration(0), time.Duration(0)
	for i := range r.VJobs {
		j := &r.VJobs[i]
		if j.Started < 0 || j.Ended < 0 || j.State == cluster.Failed || j.Outcome == cluster.WalltimeExceeded {
			continue
		}
		took += j.Ended - j.Started - j.Spent(cluster.Suspended) - j.Spent(cluster.Paused)
		alone += j.Length
	}
	if alone == 0 {
		return 0
	}
	return float64(took)/float64(alone) - 1
}
