package pass

import (
	"fmt"

	"vjob/cluster"
	"vjob/energy/ration"
	"vjob/queue"
)

// leavers are those on their way out under an earlier plan, whose VMs still draw power. They
// are no reason for anybody who runs to stop, but who starts has to wait for it: a plan
// knows nobody but its own, and who was started too soon would be turned back.
func (p *Picture) leavers(q *rationing) (list []ration.Job, who []cluster.VJobID) {
	for i := range p.VJobs {
		r := &p.VJobs[i]
		if r.Idle && !r.Blind || r.Bound == cluster.VMRunning {
			continue
		}
		j := ration.Job{Floor: 1, Fixed: true}
		for rank, m := range r.Record.Members {
			n, known := q.nodes[m.Node]
			if most := p.books.Most(r.Job.VMs[rank].ID); known && !m.Ended && most > 0 {
				j.VMs = append(j.VMs, ration.VM{Node: n, CPU: float64(most)})
			}
		}
		if len(j.VMs) > 0 {
			list, who = append(list, j), append(who, r.Job.ID)
		}
	}
	return list, who
}

// early are the verdicts on those that could start if nobody was on his way out.
func (p *Picture) early(q *rationing, runs []bool) map[int]queue.Verdict {
	leavers, who := p.leavers(q)
	if len(leavers) == 0 {
		return nil
	}
	beside := ration.Problem{Nodes: q.Nodes, Limits: q.Limits, Jobs: leavers}
	asks := map[int]int{} // who starts, by its place there
	for k, run := range runs {
		if !run {
			continue
		}
		j := q.Jobs[k]
		if starts := p.VJobs[q.jobs[k]].Job.State.Ready() && !j.Fixed; starts {
			asks[len(beside.Jobs)] = q.jobs[k]
		} else {
			j.Fixed = true
		}
		beside.Jobs = append(beside.Jobs, j)
	}
	waits := map[int]queue.Verdict{}
	_, refusals := beside.Choose()
	for k, r := range refusals {
		waits[asks[k]] = queue.Verdict{Wish: queue.Stay, Reason: fmt.Sprintf(
			"waits: %s, and %s more would be drawn with it until %s left", title(&q.limits[r.Limit]), r.Short, have(who))}
	}
	return waits
}

// have is "vjob 1 has", "vjobs 1 and 2 have".
func have(ids []cluster.VJobID) string {
	if len(ids) == 1 {
		return "vjob " + ids[0].String() + " has"
	}
	return "vjobs " + names(ids) + " have"
}
