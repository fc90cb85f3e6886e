package ordering

import (
	"time"

	"vjob/cluster"
	"vjob/queue/fairshare"
	"vjob/queue/multifactor"
	"vjob/queue/quota"
)

// Order keeps the vjobs in the order of the rules, and what was used on whose behalf. It
// is told what changes, and works only on that. It belongs to one goroutine.
type Order struct {
	rules      Rules
	total      cluster.Resources // of the cluster, beside which vjobs are large or small
	sorter     *multifactor.Sorter
	hysteresis multifactor.Hysteresis
	shares     *fairshare.Tree
	ledger     quota.Ledger

	jobs           map[cluster.VJobID]*entry
	accounts       map[string]*account // of these vjobs, by path
	charged        bool                // something was used, and no factor was looked at since
	factorsChanged bool                // a factor has changed, and the line does not know
	watch          watch
}

// entry is a vjob as it is ranked.
type entry struct {
	who     quota.Who
	account *account
	need    cluster.Resources // reserved
	rank    multifactor.Job
	// Inner: it runs inside a container.
	inner bool
}

// account is an account with vjobs.
type account struct {
	path   fairshare.Path
	factor float64 // as ranks have it
	vjobs  int
}

// NewDesk is a desk without vjobs. Rules that are wrong are a mistake of the program:
// whoever made them has checked them.
func NewDesk(r Rules) *Order {
	line, err := multifactor.NewSorter(r.Rank)
	if err != nil {
		panic(err)
	}
	shares, err := fairshare.New(r.Shares)
	if err != nil {
		panic(err)
	}
	return &Order{
		rules: r, sorter: line, hysteresis: multifactor.Hysteresis{Leap: r.Leap}, shares: shares,
		jobs: map[cluster.VJobID]*entry{}, accounts: map[string]*account{},
	}
}

// SetTotal tells what the whole cluster has.
func (d *Order) SetTotal(total cluster.Resources) {
	if d.total == total {
		return
	}
	d.total = total
	for _, e := range d.jobs {
		e.rank.Size = d.size(e.need)
		d.sorter.Put(e.rank)
	}
}

// size is the part of the cluster that is needed, of what there is least of.
func (d *Order) size(need cluster.Resources) (part float64) {
	if d.total.CPU > 0 {
		part = float64(need.CPU) / float64(d.total.CPU)
	}
	if d.total.Memory > 0 {
		part = max(part, float64(need.Memory)/float64(d.total.Memory))
	}
	return part
}

// Put adds a vjob, or tells whether it runs, or is under way to.
func (d *Order) Put(j *cluster.VJob, runs bool) {
	e, known := d.jobs[j.ID]
	switch {
	case !known:
		e = d.newEntry(j)
		d.jobs[j.ID] = e
	case e.rank.Runs == runs:
		return
	}
	e.rank.Runs = runs
	d.sorter.Put(e.rank)
}

func (d *Order) newEntry(j *cluster.VJob) *entry {
	who := d.rules.Who(j)
	path := accountPath(who.User, who.Project)
	name := path.String()
	h, known := d.accounts[name]
	if !known {
		h = &account{path: path, factor: d.hysteresis.Update(name, d.shares.Factor(path))}
		d.accounts[name] = h
	}
	h.vjobs++
	need := j.Reserved()
	return &entry{who: who, account: h, need: need, inner: j.Inner != 0, rank: multifactor.Job{
		ID: j.ID, Submitted: j.Submitted, Priority: j.Priority, Deadline: j.Deadline,
		Queue: d.rules.Queues.Factor(who.Queue), FairShare: h.factor, Size: d.size(need),
	}}
}

// Drop removes a vjob; one that is not there changes nothing.
func (d *Order) Drop(id cluster.VJobID) {
	e, known := d.jobs[id]
	if !known {
		return
	}
	delete(d.jobs, id)
	d.sorter.Drop(id)
	if e.account.vjobs--; e.account.vjobs == 0 {
		delete(d.accounts, e.account.path.String())
	}
}

// Len is how many vjobs there are.
func (d *Order) Len() int { return len(d.jobs) }

// VJobs calls a function with each of them, in no order; it may drop any.
func (d *Order) VJobs(each func(cluster.VJobID)) {
	for id := range d.jobs {
		each(id)
	}
}

// Rank is the rank of a vjob at an instant, and why it has that; it reports false for one
// that is not there.
func (d *Order) Rank(id cluster.VJobID, now time.Time) (multifactor.Priority, bool) {
	return d.sorter.Priority(id, now)
}

// Suppose is the rank that a vjob would have which is not there.
func (d *Order) Suppose(j *cluster.VJob, now time.Time) multifactor.Priority {
	who := d.rules.Who(j)
	path := accountPath(who.User, who.Project)
	factor := d.shares.Factor(path)
	if h, known := d.accounts[path.String()]; known {
		factor = h.factor
	}
	return d.rules.Rank.Of(&multifactor.Job{
		ID: j.ID, Submitted: j.Submitted, Priority: j.Priority, Deadline: j.Deadline,
		Queue: d.rules.Queues.Factor(who.Queue), FairShare: factor, Size: d.size(j.Reserved()),
	}, now)
}

// Ledger is the CPU time that was used, as far as a quota asks for it. It stays the
// desk's own.
func (d *Order) Ledger() *quota.Ledger { return &d.ledger }
