package decide

import (
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/energy"
	"vjob/energy/consolidate"
)

// Consolidating is what is asked of a picture on which nothing else is to be done: could
// what runs draw less elsewhere?
type Consolidating struct {
	consolidate.Terms
	Turn int // the piece of the cluster that is looked at
	// Uses is the CPU that a VM was last seen to use.
	Uses func(vm cluster.VMID) cluster.MilliCPU
	// Keeps reports whether a VM stays because it was moved a while ago; nil: none does.
	Keeps func(vm cluster.VMID) bool
	// Steward switches nodes off that nothing needs; nil: nobody does.
	Steward NodePower
}

// NodePower knows which nodes go off once nothing runs there. Package nodepower has one.
type NodePower interface {
	// Spares reports whether a node would go off.
	Spares(id cluster.NodeID) bool
	// Fill is how much of its processors and memory a node may have in use before another
	// one comes on, from 0 to 1.
	Fill() float64
	// Objects says why some nodes may not be off together; "": they may.
	Objects(nodes []cluster.NodeID) string
}

// Consolidation is what was found, and what was made of it.
type Consolidation struct {
	Plan   ctxswitch.Plan
	Caps   map[cluster.VJobID][]cluster.MilliCPU // as in [Decision]
	VMs    []cluster.VMID                        // that are better off elsewhere
	VJobs  []cluster.VJobID                      // whose they are
	Dark   []cluster.NodeID                      // that can go off then
	Before energy.Watts                          // what the nodes draw that these VMs leave or come to
	After  energy.Watts
	Saves  energy.Joules // within the horizon
	Costs  energy.Joules
	Yield  [2]float64 // the part of their CPU that all who run may use, before and after
	Nodes  int        // that were looked at
	Turns  int        // looks until all are
	Why    string     // why nothing is done; "": there is a plan
}

// Consolidate looks for places where what runs draws less at the same yield, and for a way
// there. There is a plan only if it pays.
func (p *View) Consolidate(d *Decision, ask *Consolidating) Consolidation {
	var c Consolidation
	well := unharmed(func() { c = p.consolidate(d, ask) })
	if !well {
		return Consolidation{Why: "no decision can be taken with some vjobs"}
	}
	return c
}

func (p *View) consolidate(d *Decision, ask *Consolidating) (c Consolidation) {
	s, err := p.saver(d, ask)
	if err != nil {
		c.Why = err.Error()
		return c
	}
	if c = s.search(); c.Why != "" && s.objected {
		s.keepOn()
		if other := s.search(); other.Why == "" {
			return other
		}
	}
	return c
}

// search looks for places, and if those found will not do, perhaps because of rules that look
// at several VMs together, for places where all of these rules are sure to hold.
func (s *saver) search() Consolidation {
	c := s.look(false)
	if c.Why != "" && len(c.VMs) > 0 && s.liberty != nil {
		if other := s.look(true); other.Why == "" {
			return other
		}
	}
	return c
}

// look asks where VMs should be, and how to get there; strictly: of those at whom rules look
// together one goes at a time.
func (s *saver) look(strict bool) (c Consolidation) {
	if s.liberty != nil {
		s.question.May = s.may(strict)
	}
	a, err := s.question.Look(s.Consolidating.Turn)
	if err != nil {
		c.Why = err.Error()
		return c
	}
	c = s.describe(a)
	switch {
	case len(c.VMs) == 0:
		c.Why = "no places were found where they would draw so much less"
		return c
	case c.Before-c.After < s.Least:
		c.Why = fmt.Sprintf("less than %s would be saved", s.Least)
	case len(c.Dark) > 0:
		c.Why = s.Steward.Objects(c.Dark)
		s.objected = s.objected || c.Why != ""
	}
	if c.Why == "" {
		s.send(&c, a)
		s.plan(&c)
	}
	if c.Why == "" {
		s.price(&c, a)
	}
	if c.Why != "" {
		c.Plan = ctxswitch.Plan{}
	}
	return c
}

// describe names who moves, and what may go off.
func (s *saver) describe(a *consolidate.Answer) Consolidation {
	c := Consolidation{Before: a.Before, After: a.After, Nodes: a.Nodes, Turns: a.Turns, Saves: s.question.Saves(a, 0)}
	for _, i := range a.Moves {
		c.VMs, c.VJobs = append(c.VMs, s.vms[i]), append(c.VJobs, s.vms[i].VJob)
	}
	slices.SortFunc(c.VMs, cluster.VMID.Compare)
	slices.Sort(c.VJobs)
	c.VJobs = slices.Compact(c.VJobs)
	for _, n := range a.Dark {
		c.Dark = append(c.Dark, s.nodes[n])
	}
	return c
}

// send states where the VMs of vjobs are to be that have some to move; all others stay.
func (s *saver) send(c *Consolidation, a *consolidate.Answer) {
	s.asked.Places, s.asked.Pinned = map[cluster.VMID]cluster.NodeID{}, make(map[cluster.VMID]bool, len(s.vms))
	for _, vm := range s.current.VMs() {
		_, moves := slices.BinarySearch(c.VJobs, vm.VJob)
		if !moves || s.pinned[vm] {
			s.asked.Pinned[vm] = true
		}
	}
	for i, vm := range s.vms {
		if !s.asked.Pinned[vm] {
			s.asked.Places[vm] = s.nodes[a.To[i]]
		}
	}
}
