package decide

import (
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/energy"
	"vjob/energy/consolidate"
)

// ConsolidationRequest is what is asked of a picture on which nothing else is to be done: could
// what runs draw less elsewhere?
type ConsolidationRequest struct {
	consolidate.Terms
	Turn int // the piece of the cluster that is looked at
	// Uses is the CPU that a VM was last seen to use.
	Uses func(vm cluster.VMID) cluster.MilliCPU
	// Keeps reports whether a VM stays because it was moved a while ago; nil: none does.
	Keeps func(vm cluster.VMID) bool
	// NodePower switches nodes off that nothing needs; nil: nobody does.
	NodePower NodePower
}

// NodePower knows which nodes go off once nothing runs there. Package nodepower has one.
type NodePower interface {
	// MayGoOff reports whether a node would go off.
	MayGoOff(id cluster.NodeID) bool
	// Fill is how much of its processors and memory a node may have in use before another
	// one comes on, from 0 to 1.
	Fill() float64
	// Objects says why some nodes may not be off together; "": they may.
	Objects(nodes []cluster.NodeID) string
}

// Consolidation is what was found, and what was made of it.
type Consolidation struct {
	Plan     ctxswitch.Plan
	Caps     map[cluster.VJobID][]cluster.MilliCPU // as in [Decision]
	VMs      []cluster.VMID                        // that are better off elsewhere
	VJobs    []cluster.VJobID                      // whose they are
	NodesOff []cluster.NodeID                      // that can go off then
	Before   energy.Watts                          // what the nodes draw that these VMs leave or come to
	After    energy.Watts
	Saves    energy.Joules // within the horizon
	Costs    energy.Joules
	Yield    [2]float64 // the part of their CPU that all who run may use, before and after
	Nodes    int        // that were looked at
	Turns    int        // looks until all are
	Why      string     // why nothing is done; "": there is a plan
}

// Consolidate looks for places where what runs draws less at the same yield, and for a way
// there. There is a plan only if it pays.
func (p *View) Consolidate(d *Decision, ask *ConsolidationRequest) Consolidation {
	var c Consolidation
	well := withoutPanic(func() { c = p.consolidate(d, ask) })
	if !well {
		return Consolidation{Why: "no decision can be taken with some vjobs"}
	}
	return c
}

func (p *View) consolidate(d *Decision, ask *ConsolidationRequest) (c Consolidation) {
	s, err := p.newConsolidator(d, ask)
	if err != nil {
		c.Why = err.Error()
		return c
	}
	if c = s.search(); c.Why != "" && s.objected {
		s.keepNodesOn()
		if other := s.search(); other.Why == "" {
			return other
		}
	}
	return c
}

// search looks for places, and if those found will not do, perhaps because of rules that look
// at several VMs together, for places where all of these rules are sure to hold.
func (s *consolidator) search() Consolidation {
	c := s.look(false)
	if c.Why != "" && len(c.VMs) > 0 && s.allowed != nil {
		if other := s.look(true); other.Why == "" {
			return other
		}
	}
	return c
}

// look asks where VMs should be, and how to get there; strictly: of those at whom rules look
// together one goes at a time.
func (s *consolidator) look(strict bool) (c Consolidation) {
	if s.allowed != nil {
		s.model.May = s.allowedMoves(strict)
	}
	a, err := s.model.Look(s.ConsolidationRequest.Turn)
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
	case len(c.NodesOff) > 0:
		c.Why = s.NodePower.Objects(c.NodesOff)
		s.objected = s.objected || c.Why != ""
	}
	if c.Why == "" {
		s.setTargets(&c, a)
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
func (s *consolidator) describe(a *consolidate.Answer) Consolidation {
	c := Consolidation{Before: a.Before, After: a.After, Nodes: a.Nodes, Turns: a.Turns, Saves: s.model.Saves(a, 0)}
	for _, i := range a.Moves {
		c.VMs, c.VJobs = append(c.VMs, s.vms[i]), append(c.VJobs, s.vms[i].VJob)
	}
	slices.SortFunc(c.VMs, cluster.VMID.Compare)
	slices.Sort(c.VJobs)
	c.VJobs = slices.Compact(c.VJobs)
	for _, n := range a.Dark {
		c.NodesOff = append(c.NodesOff, s.nodes[n])
	}
	return c
}

// setTargets states where the VMs of vjobs are to be that have some to move; all others stay.
func (s *consolidator) setTargets(c *Consolidation, a *consolidate.Answer) {
	s.planProblem.Places, s.planProblem.Pinned = map[cluster.VMID]cluster.NodeID{}, make(map[cluster.VMID]bool, len(s.vms))
	for _, vm := range s.current.VMs() {
		_, moves := slices.BinarySearch(c.VJobs, vm.VJob)
		if !moves || s.pinned[vm] {
			s.planProblem.Pinned[vm] = true
		}
	}
	for i, vm := range s.vms {
		if !s.planProblem.Pinned[vm] {
			s.planProblem.Places[vm] = s.nodes[a.To[i]]
		}
	}
}
