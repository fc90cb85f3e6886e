package simulated

import (
	"time"

	"vjob/hypervisor"
)

// Chances that belong to the semantics, not to the rates.
const (
	tornUnsealed   = 0.5 // an image that was not sealed is torn by a loss of power
	doneBeforeKill = 0.5 // a small call had its effect when the daemon was killed
)

// hintRepeatedWithin bounds the delay of a repeated hint.
const hintRepeatedWithin = 10 * time.Second

// Rates says how often random faults happen. The zero value is a cluster without.
type Rates struct {
	// Mean time between faults of a kind, anywhere in the cluster; 0 is never.
	PowerLoss, Freeze, Partition, DaemonKilled, StoreGone, DiskFull,
	StoreForeign, StoreFails, StoreStale, StoreSlow, JobsHidden, LoadRefused,
	LockdKilled, GuestCrashed, GuestPanicked, ImageRot time.Duration
	// Lasting is the mean length of lasting faults; 0 is 30 s.
	Lasting time.Duration

	// Probabilities for each call that they fit.
	CallFails, CallLost, CallSilent, CallSlow,
	SaveFull, SaveFullLeft, MigrateCut, MigrateSplit, CallLate, BootStuck float64

	// HalfLeft is the probability that a daemon that is killed leaves a copy which is
	// not whole.
	HalfLeft float64
	// Misfit is the probability for each image and each node but the one that saved it
	// that the node never loads it: its machine type is too old.
	Misfit float64

	// Probabilities for each hint.
	HintLost, HintRepeated float64
}

// Harsh are rates that let something go wrong in most context switches. For
// simulations that look for mistakes, not for a model of any real cluster.
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

// rate is one kind of fault with its probability per call.
type rate struct {
	kind   FaultKind
	chance float64
}

// calls lists the faults of calls, in order.
func (r *Rates) calls() []rate {
	if *r == (Rates{}) {
		return nil
	}
	return []rate{
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

// between is the mean time between random faults of a kind; 0 is never.
func (r *Rates) between(k FaultKind) time.Duration {
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

// happens throws a coin; no chance at all throws none, so that faults that are
// off change nothing of what follows.
func (c *Cluster) happens(chance float64) bool {
	return chance > 0 && c.chance.Float64() < chance
}

// within is a duration between 0 and a limit.
func (c *Cluster) within(limit time.Duration) time.Duration {
	return time.Duration(c.chance.Int64N(int64(limit)))
}

// stalest is how old a cached directory can be.
const stalest = 2 * time.Minute

// lasting is how long a random fault lasts.
func (c *Cluster) lasting(k FaultKind, mean time.Duration) time.Duration {
	d := c.exponential(mean) + 1
	if k == StoreStale {
		return min(d, stalest)
	}
	return d
}

// exponential is a duration with a mean.
func (c *Cluster) exponential(mean time.Duration) time.Duration {
	return time.Duration(c.chance.ExpFloat64() * float64(mean))
}

// planFaults puts the first random fault of each kind on the agenda.
func (c *Cluster) planFaults() {
	for k := range FaultKind(faultKinds) {
		c.planFault(k)
	}
}

func (c *Cluster) planFault(k FaultKind) {
	if mean := c.cfg.Faults.between(k); mean > 0 && !c.healed {
		c.plan(c.exponential(mean), event{Kind: evFault, Fault: k})
	}
}

// strike lets a random fault of a kind happen somewhere, and plans the next one.
func (c *Cluster) strike(k FaultKind) {
	if c.healed {
		return
	}
	c.planFault(k)
	switch {
	case k < lastingKinds || k == LockdKilled:
		mean := c.cfg.Faults.Lasting
		if mean == 0 {
			mean = 30 * time.Second
		}
		h := c.order[c.chance.IntN(len(c.order))]
		c.troubleNode(h, Fault{Kind: k, Node: h.ID, For: c.lasting(k, mean)})
	case k == ImageRot:
		if list := c.durable(); len(list) > 0 {
			c.rot(list[c.chance.IntN(len(list))])
		}
	default:
		c.strikeGuest(k)
	}
}

// durable lists the images that are sealed: only these rot by chance.
func (c *Cluster) durable() []*image {
	var list []*image
	for _, i := range c.sortedImages() {
		if i.Durable {
			list = append(list, i)
		}
	}
	return list
}

// strikeGuest kills a random guest.
func (c *Cluster) strikeGuest(k FaultKind) {
	var list []*machine
	for _, h := range c.order {
		for _, m := range h.sorted() {
			if m.State != hypervisor.CopyDead && m.Job != hypervisor.JobIncoming {
				list = append(list, m)
			}
		}
	}
	if len(list) == 0 {
		return
	}
	m := list[c.chance.IntN(len(list))]
	// Cannot fail: the copy was seen just now.
	_ = c.killGuest(Fault{Kind: k, VM: m.VM, Node: m.Node})
}
