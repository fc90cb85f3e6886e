package sim

import (
	"context"
	"math/rand/v2"
	"time"

	"vjob/ctxswitch/journal"
)

// pruner deletes old history in a run. It has its own random numbers, so that a run is the same
// without it.
type pruner struct {
	rng  *rand.Rand
	next time.Time
	busy bool // its writes succeed: faults are drawn from the random numbers of the run
	sum  journal.Pruned
}

func newPruner(seed uint64) pruner { return pruner{rng: rand.New(rand.NewPCG(seed, 0x91ce))} }

// prune deletes history that is older than the options keep, from time to time and not always
// all of it, and checks the rest.
func (r *run) prune() {
	p, keep, now := &r.pruner, r.opts.Keep, r.shell.Now()
	if keep <= 0 || now.Before(p.next) {
		return
	}
	p.next = now.Add(time.Duration(p.rng.IntN(180)) * time.Second)
	p.busy = true
	defer func() { p.busy = false }()
	before := r.totals()
	horizon := journal.Retention{Events: keep, Plans: keep, VJobs: keep}.Horizon(now)
	for done, err := range r.store.Prune(context.Background(), horizon) {
		if err != nil {
			r.check.violate(17, "prune: %v", err)
		}
		p.sum = p.sum.Plus(done)
		if p.rng.IntN(4) == 0 {
			break
		}
	}
	r.checkLog()
	if after := r.totals(); after != before {
		r.check.violate(17, "the vjobs have used %+v, and after a prune %+v", before, after)
	}
}

// totals is what the vjobs of the run have used; they have one owner.
func (r *run) totals() journal.Total {
	for _, t := range r.store.Totals() {
		return t
	}
	return journal.Total{}
}

// checkLog checks I17 over the whole log.
func (r *run) checkLog() {
	if err := r.store.Check(); err != nil {
		r.check.violate(17, "%v", err)
	}
}
