package improve

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/energy/dpm"
	"vjob/scheduler/decide"
)

// trafficHistory is the network traffic of running VMs in the last [demandSpan]: the largest rate of each minute.
type trafficHistory struct {
	vms map[cluster.VMID]*trafficRecord
}

// trafficRecord is the traffic of one VM.
type trafficRecord struct {
	changes []trafficChange // oldest first; the first may be before the span
	seen    int64           // the minute of the last sample
}

// trafficChange is a rate that holds from a minute on.
type trafficChange struct {
	minute int64
	rate   cluster.Rate
}

// add adds the rates of all VMs that run now, as far as they are known, and forgets the others.
func (h *trafficHistory) add(now time.Time, running []dpm.Sample, rate func(cluster.VMID) (cluster.Rate, bool)) {
	minute := now.UnixNano() / int64(time.Minute)
	known := 0
	for i := range running {
		vm := running[i].VM
		r, ok := rate(vm)
		if !ok {
			continue
		}
		known++
		if h.vms[vm] == nil {
			h.vms[vm] = &trafficRecord{}
		}
		h.vms[vm].add(minute, r)
	}
	if known == len(h.vms) {
		return
	}
	runs := make(map[cluster.VMID]bool, len(running))
	for i := range running {
		runs[running[i].VM] = true
	}
	for vm := range h.vms {
		if !runs[vm] {
			delete(h.vms, vm)
		}
	}
}

// add adds a rate in a minute.
func (t *trafficRecord) add(minute int64, rate cluster.Rate) {
	n := len(t.changes)
	switch {
	case n == 0:
		t.changes = append(t.changes, trafficChange{minute, rate})
	case t.seen == minute && rate <= t.changes[n-1].rate: // the largest of the minute counts
	case t.changes[n-1].minute == minute:
		t.changes[n-1].rate = rate
	case rate != t.changes[n-1].rate:
		t.changes = append(t.changes, trafficChange{minute, rate})
	}
	t.seen = minute
	first := minute - int64(demandSpan/time.Minute) + 1
	for len(t.changes) > 1 && t.changes[1].minute <= first {
		t.changes = t.changes[1:]
	}
}

// extremes returns the least and the largest rate of a VM; false for an unknown one.
func (h *trafficHistory) extremes(vm cluster.VMID) (least, most cluster.Rate, known bool) {
	t := h.vms[vm]
	if t == nil {
		return 0, 0, false
	}
	least, most = t.changes[0].rate, t.changes[0].rate
	for _, c := range t.changes {
		least, most = min(least, c.rate), max(most, c.rate)
	}
	return least, most, true
}

// traffics returns the traffic of the VMs of some vjobs, see trafficOf, as of now.
func (m *Demand) traffics(vjobs []execute.Report) decide.Traffic {
	type rates struct{ now, least, most cluster.Rate }
	known := map[cluster.VMID]rates{}
	for i := range vjobs {
		job := vjobs[i].Job
		if job.State == cluster.Waiting {
			continue
		}
		for rank := range job.VMs {
			vm := job.VMs[rank].ID
			if now, least, most := m.trafficOf(vm); now != 0 || most != 0 {
				known[vm] = rates{now, least, most}
			}
		}
	}
	return func(vm cluster.VMID) (now, least, most cluster.Rate) {
		r := known[vm]
		return r.now, r.least, r.most
	}
}

// trafficOf returns how fast a VM receives or sends, whichever is more, now and least and most in the last hour.
func (m *Demand) trafficOf(vm cluster.VMID) (now, least, most cluster.Rate) {
	now, _ = m.exec.VMs.Traffic(vm)
	least, most, known := m.traffic.extremes(vm)
	if !known {
		return now, now, now
	}
	return now, min(now, least), max(now, most)
}
