package simulated

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// guests are the guests of the copies: they run programs on the CPU of their nodes.
type guests struct {
	touched  *touched
	clock    *clock
	random   *random
	nodes    *nodes
	outbox   *outbox
	consoles *consoles

	shutdownTime time.Duration
	apps         map[appKey]*app
	epochs       map[Disk]int // +1 whenever a guest starts to run

	dirty struct { // what must be updated before time advances
		guests []*machine
		nodes  []*node
		apps   []*app
	}
}

// add puts a copy on its node.
func (g *guests) add(m *machine) {
	m.AccruedAt, m.Num, m.Den = g.clock.now, 0, 1
	m.Demand = g.demand(m)
	g.nodes.add(m)
	g.outbox.hint(g.nodes.of(m))
}

// remove removes a copy from its node.
func (g *guests) remove(m *machine) {
	m.accrue(g.clock.now)
	g.nodes.remove(m)
	m.Version++
	g.markChanged(m)
}

// run lets a copy execute: the guest uses its disk from now on (+1 epoch).
func (g *guests) run(m *machine) {
	m.State, m.AccruedAt = hypervisor.CopyRunning, g.clock.now
	g.epochs[m.disk()]++
	g.touched.disks.add(m.disk())
	m.Memory.Epoch = g.epochs[m.disk()]
	g.markChanged(m)
	g.mark(m)
}

// stop stops the execution of a copy.
func (g *guests) stop(m *machine, s hypervisor.CopyState) {
	m.accrue(g.clock.now)
	m.State, m.Num, m.Den = s, 0, 1
	m.Version++
	g.markChanged(m)
}

// markChanged marks the copy's node and application for an update.
func (g *guests) markChanged(m *machine) {
	g.touched.vms.add(m.VM)
	g.markNode(g.nodes.of(m))
	if m.lockstep() {
		g.markApp(g.app(m))
	}
	g.outbox.hint(g.nodes.of(m))
}

func (g *guests) markNode(n *node) {
	if !n.dirty {
		n.dirty = true
		g.dirty.nodes = append(g.dirty.nodes, n)
	}
}

func (g *guests) markApp(a *app) {
	if !a.dirty {
		a.dirty = true
		g.dirty.apps = append(g.dirty.apps, a)
	}
}

// mark marks a guest that may have reached the end of its step.
func (g *guests) mark(m *machine) {
	g.touched.vms.add(m.VM)
	if !m.dirty {
		m.dirty = true
		g.dirty.guests = append(g.dirty.guests, m)
	}
}

// reshare updates the rates of guests after a change of their node's capacity.
func (g *guests) reshare(n *node) {
	for _, m := range n.sortedCopies() {
		g.mark(m)
		if m.lockstep() {
			g.markApp(g.app(m))
		}
	}
}

// update brings guests, CPU shares and applications up to date. It returns a guest that has shut
// down, or nil when nothing is left to update.
func (g *guests) update() (ended *machine) {
	for {
		switch {
		case len(g.dirty.guests) > 0:
			m := g.dirty.guests[0]
			g.dirty.guests = g.dirty.guests[1:]
			m.dirty = false
			if g.progress(m) {
				return m
			}
		case len(g.dirty.nodes) > 0:
			n := g.dirty.nodes[0]
			g.dirty.nodes = g.dirty.nodes[1:]
			n.dirty = false
			g.updateShares(n)
		case len(g.dirty.apps) > 0:
			a := g.dirty.apps[0]
			g.dirty.apps = g.dirty.apps[1:]
			a.dirty = false
			g.updateLockstep(a)
		default:
			return nil
		}
	}
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

// updateRate sets the current rate of a guest and schedules the end of its step.
func (g *guests) updateRate(m *machine) {
	g.touched.vms.add(m.VM)
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
			g.exit(m)
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

// exit tells the exit code of a guest that has completed its program, and lets it stop.
func (g *guests) exit(m *machine) {
	g.beginShutdown(m)
	if code := m.program().Exit; code == cluster.ExitUntold {
		m.Memory.Exit = cluster.UnknownExit
	} else {
		m.Memory.Exit = cluster.Exited(code)
		g.consoles.write(m, fmt.Sprintf("%s%d\n", cluster.ExitMark, code))
	}
	g.printEnd(m, "shutting down")
}

// printEnd prints a message of a guest that shuts down. Those of a guest that has told no exit status would stand in the output
// of its work, and are left out.
func (g *guests) printEnd(m *machine, text string) {
	if !m.interprets() || m.Memory.Exit.Known() {
		g.consoles.print(m, "%s", text)
	}
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
		if m.interprets() {
			g.consoles.write(m, cluster.OutputMark+"\n")
			g.printStep(m)
		}
		return
	}
	if !m.interprets() {
		g.consoles.print(m, "step %d done", m.Memory.Step)
	}
	m.Memory.Step++
	m.Memory.Done = 0
	if m.interprets() {
		g.printStep(m)
	}
	g.reportProgress(g.app(m), m)
}

// printStep prints the output of the step that begins.
func (g *guests) printStep(m *machine) {
	s, ok := m.step()
	if ok && s.Output != "" {
		g.consoles.write(m, s.Output)
	}
	if ok && s.Errors != "" {
		g.consoles.writeErrors(m, s.Errors)
	}
}
