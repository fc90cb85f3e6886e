package nodepower

import (
	"cmp"
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/energy/power/cycle"
)

// shed switches off as few empty nodes as let the most waiting vjobs run on the released idle power.
// It is the counterpart of wake and uses the same view, so that neither undoes the other.
func (k *Policy) shed(s *Scene) {
	if !k.Power.Limited() || len(s.Waiting) == 0 {
		return
	}
	p := s.View()
	var empty []cluster.Node
	for _, n := range p.Nodes() {
		if r := k.Controller.Record(n.ID); r != nil && r.Want == cycle.WantOff && (r.Phase == cycle.Emptying || r.Phase == cycle.Stopping) {
			p.AssumeOff(n.ID) // its power is released soon
		}
		r := k.switchable(n.ID)
		if r == nil || r.Phase != cycle.On || r.Want != cycle.WantOn || n.State != cluster.Online {
			continue
		}
		if _, known := k.Models[n.ID]; known && k.Exec.PowerStates.InUse(n.ID) == "" {
			empty = append(empty, n)
		}
	}
	if len(empty) == 0 {
		return
	}
	idle := func(n cluster.Node) float64 { return float64(k.Models[n.ID].Idle) }
	slices.SortStableFunc(empty, func(a, b cluster.Node) int {
		return cmp.Or(cmp.Compare(idle(b), idle(a)), cmp.Compare(a.Capacity.CPU, b.Capacity.CPU))
	})
	for _, n := range k.safe(s, empty[:p.Dispensable(empty)]) {
		k.wish(s.Now, n.ID, cycle.WantOff, fmt.Sprintf("vjob %s waits for the power that it draws", s.Waiting[0]))
	}
}

// safe returns as many of some empty nodes, from the first, as may go off if nodes can still be lost.
func (k *Policy) safe(s *Scene, empty []cluster.Node) []cluster.Node {
	ids := make([]cluster.NodeID, len(empty))
	for i := range empty {
		ids[i] = empty[i].ID
	}
	n := len(ids)
	for n > 0 && !s.View().CanEmpty(ids[:n]) {
		n--
	}
	return empty[:n]
}
