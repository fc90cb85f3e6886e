package supply

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/energy"
)

// Future places are unknown, so a CPU counts with its mean power.

// Demand is what a vjob and the reservations beside it need at one instant.
type Demand struct {
	Job    *cluster.VJob
	Others []*cluster.VJob // with reservations at that instant
	At     time.Time
	// Dark assumes that unused nodes go off by themselves.
	Dark bool
}

// Lacks returns why the budget of the whole cluster leaves a demand too little power, each vjob with
// its minimum share; "" if it suffices. All other vjobs can get less or be suspended.
func (s *Supply) Lacks(nodes []cluster.Node, d *Demand) string {
	l, limited := s.clusterLimit(d.At)
	if !limited {
		return ""
	}
	own, others, need, names := s.MinShareWatts(nodes, d.Job), energy.Watts(0), d.Job.Reserved(), []string(nil)
	for _, job := range d.Others {
		others, need = others+s.MinShareWatts(nodes, job), need.Plus(job.Reserved())
		names = append(names, job.ID.String())
	}
	base := s.idle(nodes, d.Dark) + s.wakeWatts(nodes, need, d.Dark)
	if base+own+others <= l.Watts {
		return ""
	}
	text := fmt.Sprintf("%s: idle nodes draw %s", Title(&l), base)
	if len(names) > 0 {
		word := "reservations"
		if len(names) == 1 {
			word = "reservation"
		}
		text += fmt.Sprintf(", %s go to %s %s", others, word, strings.Join(names, ", "))
	}
	return text + fmt.Sprintf(", and it draws %s with %.0f %% of its CPU", own, 100*MinShare(d.Job))
}

// idle returns what the nodes draw without load as they are switched now; with dark all are off.
func (s *Supply) idle(nodes []cluster.Node, dark bool) (sum energy.Watts) {
	for i := range nodes {
		power, known := s.Models[nodes[i].ID]
		switch {
		case !known:
		case dark:
			sum += power.Standby
		default:
			sum += s.Idle(nodes[i].ID, power)
		}
	}
	return sum
}

// wakeWatts returns the additional idle power of the nodes that must come on for a need, those that
// draw least first. With dark all nodes are off.
func (s *Supply) wakeWatts(nodes []cluster.Node, need cluster.Resources, dark bool) (sum energy.Watts) {
	var off []cluster.Node
	more := func(n *cluster.Node) energy.Watts { return s.Models[n.ID].Idle - s.Models[n.ID].Standby }
	for _, n := range nodes {
		switch {
		case !n.Hosts():
		case dark || s.Off[n.ID]:
			off = append(off, n)
		default:
			need = need.Minus(n.Capacity)
		}
	}
	slices.SortStableFunc(off, func(a, b cluster.Node) int { return cmp.Compare(more(&a), more(&b)) })
	for i := range off {
		if need.CPU <= 0 && need.Memory <= 0 {
			break
		}
		need, sum = need.Minus(off[i].Capacity), sum+more(&off[i])
	}
	return sum
}

// Changes returns the instants of an interval at which there may be less power: its start, and when
// budgets change or reservations begin.
func (s *Supply) Changes(from, until time.Time, reservations []time.Time) []time.Time {
	list := s.changes(from, until)
	for _, at := range reservations {
		if at.After(from) && at.Before(until) {
			list = append(list, at)
		}
	}
	slices.SortFunc(list, time.Time.Compare)
	return list
}
