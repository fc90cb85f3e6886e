package simulated

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
)

// faultPlan holds the faults to come: armed faults, and random ones at their rates.
type faultPlan struct {
	clock  *clock
	random *random
	rates  Rates
	armed  []Fault // faults that wait for a call that they match
	healed bool    // no more random faults
}

// plan schedules the first random fault of each kind.
func (p *faultPlan) plan() {
	for k := range FaultKind(faultKinds) {
		p.planNext(k)
	}
}

// planNext schedules the next random fault of a kind.
func (p *faultPlan) planNext(k FaultKind) {
	if mean := p.rates.meanInterval(k); mean > 0 && !p.healed {
		p.clock.schedule(p.random.exponential(mean), event{Kind: evFault, Fault: k})
	}
}

const (
	// defaultLasting is the mean length of lasting faults without a rate.
	defaultLasting = 30 * time.Second
	// maxStaleness bounds the age of a cached directory.
	maxStaleness = 2 * time.Minute
)

// lasting draws how long a random fault lasts.
func (p *faultPlan) lasting(k FaultKind) time.Duration {
	d := p.random.exponential(cmp.Or(p.rates.Lasting, defaultLasting)) + 1
	if k == StoreStale {
		return min(d, maxStaleness)
	}
	return d
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

// take disarms a fault of a kind that is armed for a node. It reports whether one was armed.
func (p *faultPlan) take(k FaultKind, node cluster.NodeID) bool {
	i := slices.IndexFunc(p.armed, func(f Fault) bool { return f.Kind == k && (f.Node == "" || f.Node == node) })
	if i < 0 {
		return false
	}
	p.armed = slices.Delete(p.armed, i, i+1)
	return true
}
