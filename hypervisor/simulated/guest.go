package simulated

import (
	"vjob/cluster"
	"vjob/hypervisor"
)

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
