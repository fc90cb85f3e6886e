package improve

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/energy/dpm"
	"vjob/scheduler/nodepower"
)

// demandSpan is how much of the demand of VMs is remembered (VMware 2012 §3.1.4).
const demandSpan = time.Hour

// Demand remembers the demand of running VMs. A restart loses it.
type Demand struct {
	exec    *execute.Executor
	past    *dpm.History
	traffic *trafficHistory // nil if nothing is balanced
	noted   time.Time
}

// NewDemand returns the memory if power management, which looks back for a while, or balancing use it; otherwise nil.
func NewDemand(s *Settings, lookBack time.Duration, exec *execute.Executor) *Demand {
	if s.Balance != nil {
		lookBack = max(lookBack, demandSpan)
	}
	if lookBack == 0 {
		return nil
	}
	m := &Demand{exec: exec, past: dpm.NewHistory(lookBack)}
	if s.Balance != nil {
		m.traffic = &trafficHistory{vms: map[cluster.VMID]*trafficRecord{}}
	}
	return m
}

// note takes a sample, unless the last one is recent.
func (m *Demand) note(now time.Time) {
	if m != nil && (m.noted.IsZero() || now.Sub(m.noted) >= dpm.Slot/4) {
		m.noted = now
		samples := nodepower.Samples(m.exec)
		m.past.Add(now, samples)
		if m.traffic != nil {
			m.traffic.add(now, samples, m.exec.VMs.Traffic)
		}
	}
}

// History returns the memory for power management; nil without one.
func (m *Demand) History() *dpm.History {
	if m == nil {
		return nil
	}
	return m.past
}

// of returns what a VM demands now, and what it demanded least and most.
func (m *Demand) of(vm cluster.VMID) (now, least, most cluster.MilliCPU) {
	least, most, known := m.past.Extremes(vm)
	return around(m.exec.VMs.Demand(vm), least, most, known)
}

// around returns the demand of a VM with the least and the largest one of it and of the past, if that is known.
func around(demand, least, most cluster.MilliCPU, known bool) (now, low, high cluster.MilliCPU) {
	if !known {
		return demand, demand, demand
	}
	return demand, min(demand, least), max(demand, most)
}

// Extremes are the least and the largest demand of VMs in the time that is remembered, by vjob and rank.
type Extremes map[cluster.VJobID][]extremes

type extremes struct {
	least, most cluster.MilliCPU
	known       bool
}

// Extremes returns those of the VMs of some vjobs.
func (m *Demand) Extremes(vjobs []execute.Report) Extremes {
	list := Extremes{}
	for i := range vjobs {
		job := vjobs[i].Job
		if job.State == cluster.Waiting {
			continue
		}
		vms := make([]extremes, len(job.VMs))
		for rank := range job.VMs {
			e := &vms[rank]
			e.least, e.most, e.known = m.past.Extremes(job.VMs[rank].ID)
		}
		list[job.ID] = vms
	}
	return list
}

// Of returns the extremes of a VM; false if nothing is remembered of it.
func (x Extremes) Of(vm cluster.VMID) (least, most cluster.MilliCPU, known bool) {
	vms := x[vm.VJob]
	if vm.Rank >= len(vms) {
		return 0, 0, false
	}
	e := vms[vm.Rank]
	return e.least, e.most, e.known
}
