package simulated

import (
	"iter"

	"vjob/cluster"
	"vjob/hypervisor"
)

// appKey identifies one run of a vjob's application: a boot from scratch starts another.
type appKey struct {
	VJob        cluster.VJobID
	Incarnation int
}

// app is the progress that the members of a vjob have reported to each other. It never goes back,
// because a gang is paused as a whole before it is saved.
type app struct {
	Key       appKey       `json:"key"`
	Members   int          `json:"members"`       // as the machines declare, at least as many as have booted
	Reached   map[int]int  `json:"reached"`       // steps that each rank has completed
	Ended     map[int]bool `json:"ended"`         // ranks that have completed their programs
	Over      bool         `json:"over"`          // every step of every member is done
	Advancing bool         `json:"level"`         // lockstep: every member runs and gets its demand
	Num       int64        `json:"num,omitempty"` // lockstep: while it advances, it progresses at Num/Den of full speed
	Den       int64        `json:"den,omitempty"`
	dirty     bool
}

// app returns the application of a copy's vjob.
func (g *guests) app(m *machine) *app {
	key := appKey{m.VM.VJob, m.Memory.Stamp.Incarnation}
	a, ok := g.apps[key]
	if !ok {
		a = &app{Key: key, Reached: map[int]int{}, Ended: map[int]bool{}}
		g.apps[key] = a
	}
	if members := max(m.Memory.Spec.Members, m.VM.Rank+1); members > a.Members {
		a.Members = members
		g.touched.apps.add(key)
	}
	return a
}

// speed is the speed of a lockstep application while it advances.
func (a *app) speed() (num, den int64) {
	if a.Den == 0 {
		return 1, 1
	}
	return a.Num, a.Den
}

// finished reports whether all members of the guest's vjob have completed their programs. It first
// tells the others that the guest itself has.
func (g *guests) finished(m *machine) bool {
	if m.program() == nil {
		return false
	}
	a := g.app(m)
	if a.Over {
		return true
	}
	if _, more := m.step(); more {
		return false
	}
	g.reportProgress(a, m)
	return a.Over || m.program().Independent
}

// reportProgress tells the other members which steps one has completed.
func (g *guests) reportProgress(a *app, m *machine) {
	rank := m.VM.Rank
	_, more := m.step()
	if m.Memory.Step <= a.Reached[rank] && (more || a.Ended[rank]) {
		return
	}
	g.touched.apps.add(a.Key)
	g.touched.ranks.add(appRank{a.Key, rank})
	a.Reached[rank] = max(a.Reached[rank], m.Memory.Step)
	a.Ended[rank] = a.Ended[rank] || !more
	a.Over = a.allEnded()
	for rank := range a.Members {
		for peer := range g.running(a, rank) {
			if peer != m {
				g.mark(peer)
			}
		}
	}
}

// running yields the running copies of a member of an application.
func (g *guests) running(a *app, rank int) iter.Seq[*machine] {
	return func(yield func(*machine) bool) {
		for _, m := range g.nodes.copies[cluster.VMID{VJob: a.Key.VJob, Rank: rank}] {
			if m.Memory.Stamp.Incarnation == a.Key.Incarnation && m.State == hypervisor.CopyRunning && !yield(m) {
				return
			}
		}
	}
}

// allEnded reports whether every member has reported the end of its program.
func (a *app) allEnded() bool {
	for rank := range a.Members {
		if !a.Ended[rank] {
			return false
		}
	}
	return true
}

// updateLockstep sets the speed of a lockstep application. It progresses while every member runs
// on a node that is not overloaded, at the speed of the member with the tightest cap.
func (g *guests) updateLockstep(a *app) {
	advancing := true
	num, den := int64(1), int64(1)
	var running []*machine
	for rank := range a.Members {
		satisfied := false
		for m := range g.running(a, rank) {
			running = append(running, m)
			satisfied = m.Memory.Stage == working && (m.Demand == 0 || g.nodes.of(m).satisfies(m))
			if capped := int64(m.cappedDemand()); capped*den < num*int64(m.Demand) {
				num, den = capped, int64(m.Demand)
			}
		}
		advancing = advancing && satisfied
	}
	if pn, pd := a.speed(); advancing == a.Advancing && num*pd == pn*den {
		return
	}
	a.Advancing, a.Num, a.Den = advancing, num, den
	g.touched.apps.add(a.Key)
	for _, m := range running {
		g.updateRate(m)
	}
}
