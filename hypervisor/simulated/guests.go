package simulated

import (
	"time"

	"vjob/hypervisor"
)

// guests are the guests of the copies: they run programs on the CPU of their nodes.
type guests struct {
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
	g.outbox.hint(g.nodes.byID[m.Node])
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
	g.markNode(g.nodes.byID[m.Node])
	if m.lockstep() {
		g.markApp(g.app(m))
	}
	g.outbox.hint(g.nodes.byID[m.Node])
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
