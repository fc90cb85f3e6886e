package db

import (
	"context"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// Load begins a new epoch, durably, and returns the state from which the scheduler starts.
func (d *DB) Load(ctx context.Context) (journal.Loaded, error) {
	var l journal.Loaded
	err := d.writer.do(ctx, func(t *tx) error {
		if err := t.exec("UPDATE meta SET value = value + 1 WHERE name = 'epoch'"); err != nil {
			return err
		}
		_, err := t.row("SELECT value FROM meta WHERE name = 'epoch'", nil, &l.Epoch)
		return err
	})
	if err != nil {
		return journal.Loaded{}, fmt.Errorf("begin an epoch: %w", err)
	}
	if err := d.snapshot(ctx, func(r *snapshot) error { return r.load(&l) }); err != nil {
		return journal.Loaded{}, fmt.Errorf("load: %w", err)
	}
	return l, nil
}

func (r *snapshot) load(l *journal.Loaded) error {
	const next = "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = ?"
	return firstError(
		func() error { return r.one(next, []any{"intents"}, &l.NextOp) },
		func() error { return r.one(next, []any{"plans"}, &l.NextPlan) },
		into(&l.Nodes, r.nodes), into(&l.Power, r.power), into(&l.Rules, r.rules), into(&l.Budgets, r.budgets),
		into(&l.Prices, r.prices), into(&l.Pools, r.pools), into(&l.Drawn, r.drawn),
		func() error { return r.loadRecommendations(l) },
		func() error { return r.loadAlarms(l) },
		func() error { return r.loadVJobs(l) },
		into(&l.Meters, r.meters), into(&l.Ended, r.left), into(&l.Charges, r.charges), into(&l.Capacity, r.capacities),
		into(&l.Open, r.open), into(&l.Learned, r.observations),
		func() error { return r.loadDependencies(l) },
		func() error { return r.loadPlans(l) },
	)
}

// into is a read of a value.
func into[T any](to *T, read func() (T, error)) func() error {
	return func() (err error) {
		*to, err = read()
		return err
	}
}

// loadVJobs loads the vjobs that have not ended, with their gangs and accounts.
func (r *snapshot) loadVJobs(l *journal.Loaded) error {
	n := 0
	if err := r.one("SELECT count(*) FROM vjobs WHERE "+live, nil, &n); err != nil {
		return err
	}
	l.Ran, l.Crowded = map[cluster.VJobID]time.Duration{}, map[cluster.VJobID]time.Duration{}
	l.VJobs, l.Gangs = make([]*cluster.VJob, 0, n), make([]gang.Record, 0, n)
	return r.eachWhole("WHERE vjobs."+live, nil, func(kept journal.Kept) {
		l.VJobs = append(l.VJobs, kept.VJob)
		l.Gangs = append(l.Gangs, kept.Gang)
		l.Account(kept.ID, kept.Account)
	})
}

// loadPlans loads the numbers of the plans that were running.
func (r *snapshot) loadPlans(l *journal.Loaded) error {
	return r.each("SELECT id FROM plans WHERE state = 'running' ORDER BY id", nil, func(s row) error {
		var id journal.PlanID
		err := s.Scan(&id)
		l.Plans = append(l.Plans, id)
		return err
	})
}

// left lists the gangs of ended vjobs that still have images.
func (r *snapshot) left() (list []gang.Record, err error) {
	ended, err := r.whole("WHERE NOT (vjobs." + live + ") AND vjobs.id IN (SELECT vjob FROM gangs WHERE kept <> '')")
	for i := range ended {
		list = append(list, ended[i].Gang)
	}
	return list, err
}

// open lists the intents without a result.
func (r *snapshot) open() (list []journal.Intent, err error) {
	err = r.each(`SELECT op, plan, epoch, at_ns, verb, vjob, rank, node, to_node, image, checksum, attempt,
		stamp_incarnation, stamp_epoch FROM intents WHERE error IS NULL ORDER BY op`, nil, func(s row) error {
		var i journal.Intent
		c := &i.Call
		var verb, image string
		err := s.Scan(&c.Op, number[journal.PlanID]{&i.Plan}, &i.Epoch, instant{&i.At}, &verb, &c.VM.VJob, &c.VM.Rank,
			&c.Node, &c.To, &image, &c.Checksum, &c.Attempt, &c.Stamp.Incarnation, &c.Stamp.Epoch)
		if err != nil {
			return err
		}
		if err := c.Verb.UnmarshalText([]byte(verb)); err != nil {
			return err
		}
		if image != "" {
			c.Image, err = hypervisor.ParseImageID(image)
		}
		list = append(list, i)
		return err
	})
	return list, err
}
