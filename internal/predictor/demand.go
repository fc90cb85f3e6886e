// Package predictor predicts the CPU that a VM is going to need from what it was seen to
// need: as much as now, and no less than the mean and two standard deviations of the
// recent past, as DPM takes it (VMware 2012 §4.1). So it goes up at once and comes down
// slowly, and who computes in bursts keeps room for the next one.
//
// It is pure. It refuses to know what is done with the prediction.
package predictor

import (
	"math"
	"time"

	"vjob/cluster"
)

// HalfLife is after how long what was seen counts for half. A burst is forgotten after
// some ten of them.
const HalfLife = 2 * time.Minute

// Step is how finely a prediction is told, and it comes down by [steps] of these at least:
// smaller changes are none, since each makes the scheduler decide again.
const Step cluster.MilliCPU = 100

const steps = 3

// deviations is how many standard deviations are added to the mean.
const deviations = 2

// Predictor is what is known of one VM. Its zero value has seen nothing.
type Predictor struct {
	at             time.Time
	now            float64 // thousandths of a processor
	mean, variance float64
	expected       cluster.MilliCPU
}

// See takes in what the VM needs now; times must not go back. It reports whether the
// prediction has changed.
func (d *Predictor) See(at time.Time, cpu cluster.MilliCPU) (changed bool) {
	if d.at.IsZero() {
		*d = Predictor{at: at, now: float64(cpu), mean: float64(cpu), expected: ceil(float64(cpu))}
		return true
	}
	// What was seen last has been the need until now.
	weight := 1 - math.Exp2(-at.Sub(d.at).Seconds()/HalfLife.Seconds())
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
		d.expected = 0 // it comes to rest, instead of nearing 0 for ever
	}
	return d.expected != before
}

// Expected is the prediction, in whole steps; false before anything was seen.
func (d *Predictor) Expected() (cpu cluster.MilliCPU, seen bool) { return d.expected, !d.at.IsZero() }

func ceil(cpu float64) cluster.MilliCPU {
	return cluster.MilliCPU(math.Ceil(cpu/float64(Step)-1e-9)) * Step
}
