// Package predictor predicts the CPU demand of a VM from its past demand: at least the current
// demand, and at least the mean plus two standard deviations of the recent past, as in DPM
// (VMware 2012 §4.1). The prediction rises at once and falls slowly, so that a VM with bursts
// keeps its CPU for the next one. The package is pure.
package predictor

import (
	"math"
	"time"

	"vjob/cluster"
)

// halfLife is the age at which a sample has half its weight. A burst is forgotten after some ten
// half-lives.
const halfLife = 2 * time.Minute

// Step is the resolution of predictions. A prediction falls by at least [steps] of it: each
// change makes the scheduler decide again, so smaller changes are ignored.
const Step cluster.MilliCPU = 100

const steps = 3

// deviations is how many standard deviations are added to the mean.
const deviations = 2

// Predictor predicts the demand of one VM. Its zero value has no samples.
type Predictor struct {
	at             time.Time
	now            float64 // thousandths of a processor
	mean, variance float64
	expected       cluster.MilliCPU
}

// Add adds a sample: the current demand of the VM. Times must not go back. It reports whether the
// prediction has changed.
func (d *Predictor) Add(at time.Time, cpu cluster.MilliCPU) (changed bool) {
	if d.at.IsZero() {
		*d = Predictor{at: at, now: float64(cpu), mean: float64(cpu), expected: ceil(float64(cpu))}
		return true
	}
	// The last sample was the demand until now.
	weight := 1 - math.Exp2(-at.Sub(d.at).Seconds()/halfLife.Seconds())
	off := d.now - d.mean
	d.mean += weight * off
	d.variance = (1 - weight) * (d.variance + weight*off*off)
	d.at, d.now = at, float64(cpu)

	before := d.expected
	exact := max(d.now, d.mean+deviations*math.Sqrt(d.variance))
	if exact > float64(d.expected) || exact <= float64(d.expected-steps*Step) {
		d.expected = ceil(exact)
	}
	if d.now == 0 && exact < float64(Step)/2 {
		d.expected = 0 // end the exponential decay
	}
	return d.expected != before
}

// Expected is the prediction in whole steps; seen is false before the first sample.
func (d *Predictor) Expected() (cpu cluster.MilliCPU, seen bool) { return d.expected, !d.at.IsZero() }

func ceil(cpu float64) cluster.MilliCPU {
	return cluster.MilliCPU(math.Ceil(cpu/float64(Step)-1e-9)) * Step
}
