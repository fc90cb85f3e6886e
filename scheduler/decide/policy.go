package decide

import (
	"cmp"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/queue"
	"vjob/queue/reservation"
)

// applyPolicy asks the policy which vjobs should run within the limits, in queue order. It
// returns the fault of the first packing that cannot judge any vjob.
func (p *View) applyPolicy() (verdicts []queue.Verdict, fault error) {
	if p.closed != "" {
		return p.suspendAll(), nil
	}
	counts := needs(p.intended)
	line := ctxswitch.NewApplicantQueue(p.applicants)
	var rooms []*ctxswitch.Packing
	room := func(feeds *ctxswitch.PowerFeeds) func() queue.Capacity {
		return func() queue.Capacity {
			rooms = append(rooms, ctxswitch.NewPacking(ctxswitch.PackingInput{
				Current: p.intended, Applicants: line, Rules: p.rules, Avoid: p.avoid, Pinned: p.immovable, Needs: counts, Feeds: feeds,
			}))
			return rooms[len(rooms)-1]
		}
	}
	m := &queue.Input{Now: p.now, Jobs: make([]queue.Job, 0, len(p.VJobs)), Capacity: room(p.feeds(p.Limits))}
	if len(p.settings.Energy.Power) > 0 { // other budgets hold at other instants
		m.CapacityAt = func(at time.Time) queue.Capacity { return room(p.feeds(p.budgets.At(at)))() }
	}
	verdicts, whose := make([]queue.Verdict, len(p.VJobs)), make([]int, 0, len(p.VJobs))
	for i, at := range p.eachVJob {
		r := &p.VJobs[i]
		if p.quarantined[r.Job.ID] != "" {
			verdicts[i] = p.quarantinedVerdict(r)
			continue
		}
		m.Jobs, whose = append(m.Jobs, p.job(i, at, counts)), append(whose, i)
	}
	for _, n := range p.intended.Nodes() {
		if n.Hosts() {
			m.Total = m.Total.Plus(n.Capacity)
		}
	}
	p.limitByPower(m)
	p.applyQuotas(m)
	for k, v := range reservation.Select(queue.Preemptible{Policy: p.settings.Policy}, m, p.leads()) {
		verdicts[whose[k]] = v
	}
	if p.limited() {
		p.enforcePower(verdicts)
	}
	for _, room := range rooms {
		fault = cmp.Or(fault, room.Err())
	}
	return verdicts, fault
}

// needs returns what every VM of a configuration counts for.
func needs(c *cluster.Configuration) map[cluster.VMID]cluster.Resources {
	vms := c.VMs()
	needs := make(map[cluster.VMID]cluster.Resources, len(vms))
	for _, vm := range vms {
		needs[vm] = c.Need(vm)
	}
	return needs
}

func bound(r *execute.Report) queue.Target {
	switch r.Bound {
	case cluster.VMRunning:
		return queue.Run
	case cluster.VMSleeping:
		return queue.Suspend
	case cluster.VMPaused:
		return queue.Pause
	default:
		return queue.Wait
	}
}
