package nodepower

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy/power/cycle"
	"vjob/scheduler/decide"
)

// wake switches nodes on for vjobs that wait for resources or for their reservations.
func (k *Policy) wake(s *Scene) {
	if len(s.Waiting) > 0 {
		k.wakeIn(s.Now, s.View(), fmt.Sprintf("vjob %s waits for room", s.Waiting[0]))
	}
	if job := k.soon(s); job != nil {
		p := s.View()
		p.Forward(job.Reservation)
		k.wakeIn(s.Now, p, fmt.Sprintf("the reservation of vjob %s begins", job.ID))
	}
}

// soon returns the vjob with the latest of the reservations for which nodes must be woken now; nil if
// there is no such vjob. Then a decision is taken.
func (k *Policy) soon(s *Scene) (last *cluster.VJob) {
	lead := k.Margin + 2*k.longestBoot()
	for _, r := range k.Exec.Jobs() {
		job := r.Job
		if job.Reservation.IsZero() || !job.State.Ready() || job.Held {
			continue
		}
		switch wake := job.Reservation.Add(-lead); {
		case wake.After(s.Now):
			if k.again.IsZero() || wake.Before(k.again) {
				k.again = wake
			}
		case last == nil || job.Reservation.After(last.Reservation):
			last = job
		}
	}
	return last
}

// longestBoot returns how long a node that is off takes at most until it can be used.
func (k *Policy) longestBoot() time.Duration {
	longest := k.settings.Boot
	for id := range k.Controller.Nodes() {
		longest = max(longest, k.Models[id].On.Time)
	}
	return longest
}

// wakeIn switches on as few nodes as let as many waiting vjobs run as all nodes would: first those
// still being emptied, and the largest first. Nodes that are coming on count already.
func (k *Policy) wakeIn(now time.Time, p *decide.Variant, why string) {
	off := k.wakeable(p)
	if len(off) == 0 {
		return
	}
	for _, n := range off[:p.Fewest(off)] {
		k.wish(now, n.ID, cycle.WantOn, why)
	}
}

// replenish switches on as few nodes as leave enough for the loss of nodes, or all that help.
func (k *Policy) replenish(s *Scene) {
	if s.Short == "" {
		return
	}
	p := s.View()
	off := k.wakeable(p)
	if len(off) == 0 {
		return
	}
	for _, n := range off[:p.Replenishing(off)] {
		k.wish(s.Now, n.ID, cycle.WantOn, "room is missing for the loss of nodes (policy.failover): "+s.Short)
	}
}

// wakeable returns the nodes that can be switched on, in the order in which they should be. In the view, nodes that are
// coming on are online.
func (k *Policy) wakeable(p *decide.Variant) (off []cluster.Node) {
	for _, n := range p.Nodes() {
		r := k.switchable(n.ID)
		if decreed, _ := k.Exec.Node(n.ID); r == nil || decreed.State != cluster.Online {
			continue
		}
		switch {
		case r.Phase == cycle.Emptying, r.Want == cycle.WantOff && (r.Phase == cycle.Off || r.Phase == cycle.Stopping):
			off = append(off, n)
		case r.Phase != cycle.On && r.Phase != cycle.Stuck:
			_ = p.SetNodeState(n.ID, cluster.Online) // it was just listed
		}
	}
	slices.SortStableFunc(off, func(a, b cluster.Node) int {
		gone := func(n cluster.Node) int { return int(k.Controller.Record(n.ID).Phase) } // the less far on its way, the sooner back
		return cmp.Or(
			cmp.Compare(gone(a), gone(b)), cmp.Compare(b.Capacity.CPU, a.Capacity.CPU), cmp.Compare(b.Capacity.Memory, a.Capacity.Memory),
		)
	})
	return off
}
