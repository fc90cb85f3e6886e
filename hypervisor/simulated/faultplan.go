package simulated

import (
	"slices"
	"time"
)

// faultPlan holds the faults to come: armed faults, and random ones at their rates.
type faultPlan struct {
	clock  *clock
	random *random
	rates  Rates
	armed  []Fault // faults that wait for a call that they match
	healed bool    // no more random faults
}

// maxStaleness bounds the age of a cached directory.
const maxStaleness = 2 * time.Minute

// lasting draws how long a random fault lasts.
func (p *faultPlan) lasting(k FaultKind, mean time.Duration) time.Duration {
	d := p.random.exponential(mean) + 1
	if k == StoreStale {
		return min(d, maxStaleness)
	}
	return d
}

// plan schedules the first random fault of each kind.
func (p *faultPlan) plan() {
	for k := range FaultKind(faultKinds) {
		p.planKind(k)
	}
}

func (p *faultPlan) planKind(k FaultKind) {
	if mean := p.rates.meanInterval(k); mean > 0 && !p.healed {
		p.clock.schedule(p.random.exponential(mean), event{Kind: evFault, Fault: k})
	}
}

// takeHalfLeft reports whether an armed or random [HalfLeft] applies.
func (p *faultPlan) takeHalfLeft(m *machine) bool {
	i := slices.IndexFunc(p.armed, func(f Fault) bool {
		return f.Kind == HalfLeft && (f.Node == "" || f.Node == m.Node)
	})
	if i >= 0 {
		p.armed = slices.Delete(p.armed, i, i+1)
		return true
	}
	return p.random.bernoulli(p.rates.HalfLeft)
}

// apply applies armed and random faults to a call that a node begins. A failure means that
// the call has no effect.
func (p *faultPlan) apply(op *operation) *failure {
	fails := false
	p.armed = slices.DeleteFunc(p.armed, func(f Fault) bool {
		if !f.matches(&op.Call) {
			return false
		}
		fails = fails || f.Kind == CallFails
		op.mark(f.Kind)
		return true
	})
	for _, r := range p.rates.callFaults() {
		f := Fault{Kind: r.kind}
		if f.appliesTo(op.Call.Verb) && p.random.bernoulli(r.chance) {
			fails = fails || r.kind == CallFails
			op.mark(r.kind)
		}
	}
	if fails {
		return refuse(op, "internal error")
	}
	return nil
}

func (p *faultPlan) takeBootFault(n *node) bool {
	i := slices.IndexFunc(p.armed, func(f Fault) bool { return f.Kind == BootFails && (f.Node == "" || f.Node == n.ID) })
	if i < 0 {
		return false
	}
	p.armed = slices.Delete(p.armed, i, i+1)
	return true
}
