package decide

import (
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/energy"
	"vjob/energy/consolidate"
)

// ConsolidationRequest asks whether the running VMs could draw less power elsewhere, when
// nothing else is to be done.
type ConsolidationRequest struct {
	consolidate.Criteria
	Turn int // the part of the cluster to search
	// Uses returns the CPU that a VM used when it was last observed.
	Uses func(vm cluster.VMID) cluster.MilliCPU
	// Keeps reports whether a VM stays because it was moved recently. May be nil.
	Keeps func(vm cluster.VMID) bool
	// NodePower switches unused nodes off. May be nil.
	NodePower NodePower
	// Pack aims at the fewest nodes in use, whatever they draw (thesis ch. 7).
	Pack bool
	// Split searches first without manual vjobs, which wait for approval. Otherwise all moves are found alike.
	Split bool
}

// NodePower tells which nodes go off once they are empty. Package nodepower implements it.
type NodePower interface {
	// MayGoOff reports whether a node would go off once it is empty.
	MayGoOff(id cluster.NodeID) bool
	// Fill returns the fraction of CPU and memory, from 0 to 1, that a node may have in use before
	// another node comes on.
	Fill() float64
	// Objects returns why the nodes may not be off together; "" if they may.
	Objects(nodes []cluster.NodeID) string
}

// Consolidation is the result of one search, and its effects.
type Consolidation struct {
	Plan     ctxswitch.Plan
	Caps     map[cluster.VJobID][]cluster.MilliCPU // as in [Decision]
	Moves    []cluster.Move                        // of VMs that draw less elsewhere, in order of VMs
	VJobs    []cluster.VJobID                      // of these VMs
	NodesOff []cluster.NodeID                      // that can go off then
	Before   energy.Watts                          // drawn by the nodes that these VMs leave or reach
	After    energy.Watts
	Saves    energy.Joules // within the horizon
	Costs    energy.Joules
	PerCPU   energy.Watts // what a busy processor draws more than an idle one
	Yield    [2]float64   // the fraction of its CPU that every running vjob may use, before and after
	Nodes    int          // searched
	Turns    int          // searches until the whole cluster is covered
	Waits    bool         // for approval: VMs of manual vjobs move
	Why      string       // why there is no plan; "" if there is one
}

// Consolidate searches for a placement in which the running VMs draw less power at the same
// yield, and for a plan that leads there. It returns a plan only if the plan pays.
func (d *Decision) Consolidate(ask *ConsolidationRequest) Consolidation {
	var c Consolidation
	well := withoutPanic(func() { c = d.final.consolidate(d, ask) })
	switch {
	case !well:
		return Consolidation{Why: "no decision can be taken with some vjobs"}
	case ask.Pack: // the power is not that of the nodes
		c.Before, c.After, c.Saves, c.Costs, c.PerCPU = 0, 0, 0, 0, 0
	}
	return c
}

// consolidateWith searches with or without manual vjobs.
func (a *attempt) consolidateWith(d *Decision, ask *ConsolidationRequest, manual bool) (c Consolidation) {
	s, err := a.newConsolidator(d, ask, manual)
	if err != nil {
		c.Why = err.Error()
		return c
	}
	for range mostFailoverRounds {
		s.unsafe = false
		if c = s.search(); !s.unsafe || !s.spare(&c) {
			break
		}
	}
	if c.Why != "" && s.objected {
		s.keepNodesOn()
		if other := s.search(); other.Why == "" {
			return other
		}
	}
	return c
}

// search searches for a placement. If the result is rejected, perhaps because of rules that
// concern several VMs, it searches again for a placement that is sure to keep these rules.
func (s *consolidator) search() Consolidation {
	c := s.look(false)
	if c.Why != "" && len(c.Moves) > 0 && s.allowed != nil {
		if other := s.look(true); other.Why == "" {
			return other
		}
	}
	return c
}

// look searches for a placement and a plan. If strict, of the VMs that one rule concerns only
// one moves at a time.
func (s *consolidator) look(strict bool) (c Consolidation) {
	if s.allowed != nil {
		s.model.May = s.allowedMoves(strict)
	}
	a, err := s.model.Search(s.Turn)
	if err != nil {
		c.Why = err.Error()
		return c
	}
	c = s.describe(a)
	switch {
	case len(c.Moves) == 0:
		c.Why = "no places were found where they would draw so much less"
		return c
	case c.Before-c.After < s.MinSaving:
		c.Why = fmt.Sprintf("less than %s would be saved", s.MinSaving)
	case len(c.NodesOff) > 0 && s.NodePower != nil:
		c.Why = s.NodePower.Objects(c.NodesOff)
		s.objected = s.objected || c.Why != ""
	}
	if c.Why == "" {
		c.Why = s.takesFailover(c.Moves, s.goOff(c.NodesOff))
		s.unsafe = c.Why != ""
		s.objected = s.objected || s.unsafe
	}
	if c.Why == "" {
		out, why := s.plan(c.Moves)
		c.Plan, c.Caps, c.Yield, c.Why = out.plan, out.caps, out.yield, why
	}
	if c.Why == "" {
		s.price(&c, a)
	}
	if c.Why != "" {
		c.Plan = ctxswitch.Plan{}
	}
	return c
}

// describe lists the VMs that move and the nodes that can go off.
func (s *consolidator) describe(a *consolidate.Result) Consolidation {
	c := Consolidation{Before: a.Before, After: a.After, Nodes: a.Nodes, Turns: a.Subsets, Saves: s.model.Saves(a, 0), PerCPU: s.perCPU}
	for _, i := range a.Moves {
		c.Moves = append(c.Moves, cluster.Move{VM: s.vms[i], From: s.nodes[s.model.VMs[i].Node], To: s.nodes[a.To[i]]})
		c.VJobs = append(c.VJobs, s.vms[i].VJob)
	}
	slices.SortFunc(c.Moves, func(x, y cluster.Move) int { return x.VM.Compare(y.VM) })
	slices.Sort(c.VJobs)
	c.VJobs = slices.Compact(c.VJobs)
	for _, n := range a.Emptied {
		c.NodesOff = append(c.NodesOff, s.nodes[n])
	}
	return c
}
