package simulated

import (
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// appKey identifies one run of a vjob's application: a boot from scratch starts another.
type appKey struct {
	VJob        cluster.VJobID
	Incarnation int
}

// app is what the members of a vjob have told each other. Messages that arrived are never undone:
// a gang is paused as a whole before it is saved.
type app struct {
	Key       appKey       `json:"key"`
	Members   int          `json:"members"`       // as the machines declare, or as many as were seen
	Reached   map[int]int  `json:"reached"`       // steps that each rank has completed
	Ended     map[int]bool `json:"ended"`         // ranks that have completed their programs
	Over      bool         `json:"over"`          // every step of every member is done
	Advancing bool         `json:"level"`         // lockstep: every member runs and gets its demand
	Num       int64        `json:"num,omitempty"` // lockstep: it then progresses at Num/Den of full speed
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
	a.Members = max(a.Members, m.Memory.Spec.Members, m.VM.Rank+1)
	return a
}

// speed is the speed of a lockstep application while it advances.
func (a *app) speed() (num, den int64) {
	if a.Den == 0 {
		return 1, 1
	}
	return a.Num, a.Den
}

func (m *machine) program() *cluster.Program { return m.Memory.Spec.Payload.Program }

func (m *machine) lockstep() bool { p := m.program(); return p != nil && p.Lockstep }

// step returns the current step of the guest's program.
func (m *machine) step() (s cluster.Step, ok bool) {
	p := m.program()
	if p == nil || m.Memory.Stage == stopping || m.Memory.Step >= len(p.Steps) {
		return cluster.Step{}, false
	}
	return p.Steps[m.Memory.Step], true
}

// blocked reports whether the guest's step waits for another member's.
func (g *guests) blocked(m *machine) bool {
	s, ok := m.step()
	if !ok || len(s.After) == 0 || m.lockstep() {
		return false
	}
	a := g.app(m)
	for _, ref := range s.After {
		if a.Reached[ref.Rank] <= ref.Index {
			return true
		}
	}
	return false
}

// demand is the CPU demand of the guest now. A guest without a program demands its
// reservation; a booting guest already has the demand of its first step.
func (g *guests) demand(m *machine) cluster.MilliCPU {
	switch s, ok := m.step(); {
	case m.State == hypervisor.CopyDead:
		return 0
	case m.program() == nil:
		return m.Memory.Spec.Reserved.CPU
	case !ok || g.blocked(m):
		return 0
	default:
		return s.CPU
	}
}

// rate is the speed of the guest in its step: num/den of full speed.
func (g *guests) rate(m *machine) (num, den int64) {
	switch s, ok := m.step(); {
	case m.State != hypervisor.CopyRunning:
		return 0, 1
	case m.Memory.Stage != working:
		return 1, 1
	case m.program() == nil:
		return g.shareOf(m)
	case !ok || g.blocked(m):
		return 0, 1
	case m.lockstep():
		if a := g.app(m); a.Advancing {
			return a.speed()
		}
		return 0, 1
	case s.CPU == 0:
		return 1, 1
	}
	return g.shareOf(m)
}

// remaining is the rest of the stage or step, at full speed.
func (m *machine) remaining() (left time.Duration, finite bool) {
	if m.Memory.Stage != working {
		return m.Memory.Length - m.Memory.Done, true
	}
	s, ok := m.step()
	return s.Duration - m.Memory.Done, ok
}

// accrue adds the progress of a guest since the last call.
func (m *machine) accrue(now simTime) {
	passed := now - m.AccruedAt
	m.AccruedAt = now
	if passed <= 0 || m.State != hypervisor.CopyRunning {
		return
	}
	done := scale(passed, m.Num, m.Den)
	m.Memory.Ran += passed
	m.Memory.Done += done
	used := m.Demand
	if m.Memory.Stage != working { // boot and shutdown take their time regardless of load
		used = m.cappedDemand()
	}
	m.CPUTime += scale(done, int64(used), int64(cluster.CPU))
}

// updateRate sets the current rate of a guest and schedules the end of its step.
func (g *guests) updateRate(m *machine) {
	m.accrue(g.clock.now)
	m.Num, m.Den = g.rate(m)
	m.Version++
	if left, finite := m.remaining(); finite && m.Num > 0 {
		g.clock.schedule(scaleUp(left, m.Den, m.Num), event{Kind: evGuest, VM: m.VM, Node: m.Node, Version: m.Version})
	}
}

// progress takes a running guest through all steps that it has completed. It reports whether the
// guest has shut down.
func (g *guests) progress(m *machine) (ended bool) {
	if g.nodes.at(m.Node, m.VM) != m {
		return false
	}
	m.accrue(g.clock.now)
	for m.State == hypervisor.CopyRunning {
		left, finite := m.remaining()
		if m.Memory.Stage == working && !finite && g.finished(m) {
			g.beginShutdown(m)
			if exit := m.program().Exit; exit != nil {
				g.consoles.print(m, "%s%d", cluster.ExitMark, *exit)
			}
			g.consoles.print(m, "shutting down")
			continue
		}
		if !finite || left > 0 || m.Memory.Stage == working && g.blocked(m) {
			break
		}
		if m.Memory.Stage == stopping {
			return true
		}
		g.finishStage(m)
	}
	if need := g.demand(m); need != m.Demand {
		m.Demand = need
		g.markChanged(m)
	}
	g.updateRate(m)
	return false
}

// beginShutdown lets a guest stop, which takes time.
func (g *guests) beginShutdown(m *machine) {
	m.Memory.Stage, m.Memory.Done, m.Memory.Length = stopping, 0, g.random.jitter(g.shutdownTime)
}

// finished reports whether all members of the guest's vjob have completed their programs.
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
	return a.Over
}

// finishStage ends the boot or a step of a guest.
func (g *guests) finishStage(m *machine) {
	if m.Memory.Stage == booting {
		m.Memory.Stage, m.Memory.Done = working, 0
		g.consoles.print(m, "booted")
		if m.lockstep() {
			g.markApp(g.app(m))
		}
		return
	}
	g.consoles.print(m, "step %d done", m.Memory.Step)
	m.Memory.Step++
	m.Memory.Done = 0
	g.reportProgress(g.app(m), m)
}

// reportProgress tells the other members which steps one has completed.
func (g *guests) reportProgress(a *app, m *machine) {
	rank := m.VM.Rank
	_, more := m.step()
	if m.Memory.Step <= a.Reached[rank] && (more || a.Ended[rank]) {
		return
	}
	a.Reached[rank] = max(a.Reached[rank], m.Memory.Step)
	a.Ended[rank] = a.Ended[rank] || !more
	a.Over = a.allEnded()
	for rank := range a.Members {
		for _, peer := range g.nodes.copies[cluster.VMID{VJob: a.Key.VJob, Rank: rank}] {
			if peer != m && peer.Memory.Stamp.Incarnation == a.Key.Incarnation && peer.State == hypervisor.CopyRunning {
				g.mark(peer)
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
