package scheduler

import (
	"cmp"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/energy/dpm"
	"vjob/scheduler/nodepower"
)

// demandSpan is how much of the demand of VMs is remembered (VMware 2012 §3.1.4).
const demandSpan = time.Hour

// demand remembers the demand of running VMs. A restart loses it.
type demand struct {
	exec  *execute.Executor
	past  *dpm.History
	noted time.Time
}

// newDemand returns the memory if power management or balancing use it.
func newDemand(s *Settings, exec *execute.Executor) *demand {
	span := time.Duration(0)
	if s.NodePower != nil {
		span = s.NodePower.RiskWindow
	}
	if s.Balance != nil {
		span = max(span, demandSpan)
	}
	if span == 0 {
		return nil
	}
	return &demand{exec: exec, past: dpm.NewHistory(span)}
}

// note takes a sample, unless the last one is recent.
func (m *demand) note(now time.Time) {
	if m != nil && (m.noted.IsZero() || now.Sub(m.noted) >= dpm.Slot/4) {
		m.noted = now
		m.past.Add(now, nodepower.Samples(m.exec))
	}
}

// history returns the memory for power management; nil without one.
func (m *demand) history() *dpm.History {
	if m == nil {
		return nil
	}
	return m.past
}

// of returns what a VM demands now, and what it demanded least and most.
func (m *demand) of(vm cluster.VMID) (now, least, most cluster.MilliCPU) {
	now = m.exec.VMs.Demand(vm)
	least, most, known := m.past.Extremes(vm)
	if !known {
		return now, now, now
	}
	return now, min(now, least), cmp.Or(max(now, most), now)
}
