package ordering

import (
	"time"

	"github.com/tidwall/btree"

	"vjob/cluster"
	"vjob/queue/fairshare"
	"vjob/queue/multifactor"
	"vjob/queue/quota"
)

// Order keeps vjobs in the order of the settings, and the use that counts for it. Changes are incremental.
// It belongs to one goroutine.
type Order struct {
	settings   Settings
	total      cluster.Resources // of the cluster
	sorter     *multifactor.Sorter
	hysteresis multifactor.Hysteresis
	shares     *fairshare.Tree
	ledger     quota.Ledger

	jobs           map[cluster.VJobID]*rankedJob
	accounts       map[string]*activeAccount  // of these vjobs, by path
	factors        btree.Map[string, float64] // of the accounts, for [Ranks]
	charged        bool                       // use has changed since the last updateFactors
	factorsChanged bool                       // a factor differs from the one in the sorter
	watch          watch
}

// rankedJob is a vjob beside its factors, which the sorter has.
type rankedJob struct {
	who     quota.Association
	account *activeAccount
	need    cluster.Resources // reserved
	// Inner: it runs inside a container.
	inner bool
}

// activeAccount is an account with vjobs.
type activeAccount struct {
	path   fairshare.Path
	factor float64 // as ranks have it
	vjobs  int
}

// NewOrder returns an order without vjobs. It panics if the settings are invalid: callers check them.
func NewOrder(r Settings) *Order {
	line, err := multifactor.NewSorter(r.Rank)
	if err != nil {
		panic(err)
	}
	shares, err := fairshare.New(r.Shares)
	if err != nil {
		panic(err)
	}
	return &Order{
		settings: r, sorter: line, hysteresis: multifactor.Hysteresis{Leap: r.Leap}, shares: shares,
		jobs: map[cluster.VJobID]*rankedJob{}, accounts: map[string]*activeAccount{},
	}
}

// SetTotal sets the resources of the whole cluster.
func (d *Order) SetTotal(total cluster.Resources) {
	if d.total == total {
		return
	}
	d.total = total
	for id, e := range d.jobs {
		rank, _ := d.sorter.Factors(id)
		rank.Size = sizeOf(e.need, d.total)
		d.sorter.Put(rank)
	}
}

// Grow makes room for n more vjobs.
func (d *Order) Grow(n int) {
	d.sorter.Grow(n)
	if len(d.jobs) == 0 {
		d.jobs = make(map[cluster.VJobID]*rankedJob, n)
	}
}

// Put adds a vjob, or updates whether it runs or is under way to.
func (d *Order) Put(j *cluster.VJob, runs bool) {
	rank, known := d.sorter.Factors(j.ID)
	switch {
	case !known:
		rank = d.enter(j)
		d.watch.joined(j.ID)
	case rank.Runs == runs:
		return
	}
	rank.Runs = runs
	d.sorter.Put(rank)
}

// enter keeps what is ranked by of a vjob, and returns its factors.
func (d *Order) enter(j *cluster.VJob) multifactor.Factors {
	who := d.settings.Association(j)
	path := accountPath(who.User, who.Project)
	name := path.String()
	h, known := d.accounts[name]
	if !known {
		h = &activeAccount{path: path, factor: d.hysteresis.Update(name, d.shares.Factor(path))}
		d.accounts[name] = h
		d.factors.Set(name, h.factor)
	}
	h.vjobs++
	need := j.Reserved()
	d.jobs[j.ID] = &rankedJob{who: who, account: h, need: need, inner: j.Inner != 0}
	return multifactor.Factors{
		ID: j.ID, Submitted: j.Submitted, Priority: j.Priority, Deadline: j.Deadline,
		Queue: d.settings.Queues.Factor(who.Queue), FairShare: h.factor, Size: sizeOf(need, d.total),
	}
}

// Drop removes a vjob; an unknown one is ignored.
func (d *Order) Drop(id cluster.VJobID) {
	e, known := d.jobs[id]
	if !known {
		return
	}
	delete(d.jobs, id)
	d.sorter.Drop(id)
	if e.account.vjobs--; e.account.vjobs == 0 {
		delete(d.accounts, e.account.path.String())
		d.factors.Delete(e.account.path.String())
	}
}

// Len returns the number of vjobs.
func (d *Order) Len() int { return len(d.jobs) }

// VJobs calls a function with each of them, in any order; it may drop vjobs.
func (d *Order) VJobs(each func(cluster.VJobID)) {
	for id := range d.jobs {
		each(id)
	}
}

// Rank returns the priority of a vjob at an instant and its parts; false if it is unknown.
func (d *Order) Rank(id cluster.VJobID, now time.Time) (multifactor.Priority, bool) {
	return d.sorter.Priority(id, now)
}

// Before reports whether one of two known vjobs comes before the other at an instant.
func (d *Order) Before(a, b cluster.VJobID, now time.Time) bool {
	x, _ := d.sorter.Priority(a, now)
	y, _ := d.sorter.Priority(b, now)
	return x.Compare(&y) < 0
}

// WhatIf returns the priority that an unknown vjob would have.
func (d *Order) WhatIf(j *cluster.VJob, now time.Time) multifactor.Priority {
	who := d.settings.Association(j)
	path := accountPath(who.User, who.Project)
	factor := d.shares.Factor(path)
	if h, known := d.accounts[path.String()]; known {
		factor = h.factor
	}
	return d.settings.Rank.Priority(&multifactor.Factors{
		ID: j.ID, Submitted: j.Submitted, Priority: j.Priority, Deadline: j.Deadline,
		Queue: d.settings.Queues.Factor(who.Queue), FairShare: factor, Size: sizeOf(j.Reserved(), d.total),
	}, now)
}

// Ledger returns the CPU time that was used, for quotas. Callers must not change it.
func (d *Order) Ledger() *quota.Ledger { return &d.ledger }
