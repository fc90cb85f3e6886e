package simulated

import "time"

// Rates are the rates of random faults. The zero value is a cluster without faults.
type Rates struct {
	// Mean time between faults of a kind, anywhere in the cluster; 0 is never.
	PowerLoss, Freeze, Partition, DaemonKilled, StoreGone, DiskFull,
	StoreForeign, StoreFails, StoreStale, StoreSlow, JobsHidden, LoadRefused,
	LockdKilled, GuestCrashed, GuestPanicked, ImageRot time.Duration
	// Lasting is the mean length of lasting faults; 0 is 30 s.
	Lasting time.Duration

	// Probabilities for each call to which the fault applies.
	CallFails, CallLost, CallSilent, CallSlow,
	SaveFull, SaveFullLeft, MigrateCut, MigrateSplit, CallLate, BootStuck float64

	// HalfLeft is the probability that a killed daemon leaves an incomplete copy.
	HalfLeft float64
	// Misfit is the probability, for each image and each node except the one that saved it, that
	// the node never loads the image because it lacks the machine type.
	Misfit float64

	// Probabilities for each hint.
	HintLost, HintRepeated float64
}

// Harsh are rates that cause a failure in most context switches, for simulations that search for
// bugs. They do not model a real cluster.
var Harsh = Rates{
	PowerLoss: 20 * time.Minute, Freeze: 6 * time.Minute, Partition: 6 * time.Minute, DaemonKilled: 5 * time.Minute,
	StoreGone: 30 * time.Minute, DiskFull: 15 * time.Minute, GuestCrashed: 30 * time.Minute,
	GuestPanicked: time.Hour, ImageRot: 30 * time.Minute, Lasting: 40 * time.Second,
	StoreForeign: 30 * time.Minute, StoreFails: 10 * time.Minute, StoreStale: 8 * time.Minute, StoreSlow: 8 * time.Minute,
	JobsHidden: 10 * time.Minute, LoadRefused: 15 * time.Minute,
	CallLate: 0.01, BootStuck: 0.01, HalfLeft: 0.5, Misfit: 0.02,
	CallFails: 0.02, CallLost: 0.03, CallSilent: 0.01, CallSlow: 0.02,
	SaveFull: 0.02, SaveFullLeft: 0.01, MigrateCut: 0.05, MigrateSplit: 0.05,
	HintLost: 0.2, HintRepeated: 0.1,
}

// callFault is a kind of fault with its probability for each call.
type callFault struct {
	kind   FaultKind
	chance float64
}

// callFaults lists the faults of calls in a fixed order.
func (r *Rates) callFaults() []callFault {
	if *r == (Rates{}) {
		return nil
	}
	return []callFault{
		{CallFails, r.CallFails},
		{CallLost, r.CallLost},
		{CallSilent, r.CallSilent},
		{CallSlow, r.CallSlow},
		{SaveFull, r.SaveFull},
		{SaveFullLeft, r.SaveFullLeft},
		{MigrateCut, r.MigrateCut},
		{MigrateSplit, r.MigrateSplit},
		{CallLate, r.CallLate},
		{BootStuck, r.BootStuck},
	}
}

// meanInterval is the mean time between random faults of a kind; 0 is never.
func (r *Rates) meanInterval(k FaultKind) time.Duration {
	means := [...]time.Duration{
		r.PowerLoss, r.Freeze, r.Partition, r.DaemonKilled, r.StoreGone, r.DiskFull,
		r.StoreForeign, r.StoreFails, r.StoreStale, r.StoreSlow, r.JobsHidden, r.LoadRefused,
		r.LockdKilled, r.GuestCrashed, r.GuestPanicked, r.ImageRot,
	}
	if int(k) >= len(means) {
		return 0
	}
	return means[k]
}
