package db

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"vjob/ctxswitch/journal"
)

// pruneStep prunes one kind of history. A reader, which may take a while, finds what may be
// deleted and passes its ids to the writer. What may be deleted stays so in the meantime:
// results and ends are final.
type pruneStep struct {
	before time.Time
	count  func(n int) journal.Pruned
	find   func(r *snapshot, before time.Time, after int64) ([]int64, error) // after is the last id of the batch before
	remove func(t *tx, ids []int64, list string) error                       // list is the ids as JSON
}

func pruneSteps(h journal.Horizon) []pruneStep {
	return []pruneStep{
		{h.Events, func(n int) journal.Pruned { return journal.Pruned{Events: n} }, (*snapshot).oldEvents, (*tx).removeEvents},
		{h.Events, func(n int) journal.Pruned { return journal.Pruned{Alarms: n} }, (*snapshot).oldAlarms, (*tx).removeAlarms},
		{h.Plans, func(n int) journal.Pruned { return journal.Pruned{Calls: n} }, (*snapshot).oldCalls, (*tx).removeCalls},
		{h.Plans, func(n int) journal.Pruned { return journal.Pruned{Plans: n} }, (*snapshot).oldPlans, (*tx).removePlans},
		{h.Plans, func(n int) journal.Pruned { return journal.Pruned{Recommendations: n} }, (*snapshot).oldRecommendations, (*tx).removeRecommendations},
		{h.VJobs, func(n int) journal.Pruned { return journal.Pruned{VJobs: n} }, (*snapshot).oldVJobs, (*tx).removeVJobs},
		{h.Charges, func(n int) journal.Pruned { return journal.Pruned{Charges: n} }, (*snapshot).oldCharges, (*tx).removeCharges},
		{h.Energy, func(n int) journal.Pruned { return journal.Pruned{Energy: n} }, oldHours("node_hours"), removeHours("node_hours")},
		{h.Energy, func(n int) journal.Pruned { return journal.Pruned{Energy: n} }, oldHours("vjob_hours"), removeHours("vjob_hours")},
		{h.Energy, func(n int) journal.Pruned { return journal.Pruned{Usage: n} }, oldHours("usage_hours"), removeHours("usage_hours")},
		{h.Energy, func(n int) journal.Pruned { return journal.Pruned{Usage: n} }, (*snapshot).oldRuns, (*tx).removeRuns},
		{h.Audit, func(n int) journal.Pruned { return journal.Pruned{Audit: n} }, (*snapshot).oldAudit, (*tx).removeAudit},
	}
}

// Prune deletes what is older than the horizon: events first, then alarms, calls, plans, recommendations, vjobs,
// charges, energy, usage by the hour and the audit list. Each iteration yields a batch that is on the disk. A
// caller that stops early leaves the rest for the next call.
func (d *DB) Prune(ctx context.Context, h journal.Horizon) iter.Seq2[journal.Pruned, error] {
	return func(yield func(journal.Pruned, error) bool) {
		for _, s := range pruneSteps(h) {
			for after := int64(0); ; {
				ids, err := d.prune(ctx, s, after)
				if err != nil {
					yield(journal.Pruned{}, fmt.Errorf("prune: %w", err))
					return
				}
				if len(ids) == 0 {
					break
				}
				if !yield(s.count(len(ids)), nil) {
					return
				}
				after = ids[len(ids)-1]
			}
		}
	}
}

func (d *DB) prune(ctx context.Context, s pruneStep, after int64) (ids []int64, err error) {
	if s.before.IsZero() {
		return nil, ctx.Err()
	}
	err = d.snapshot(ctx, func(r *snapshot) (err error) {
		ids, err = s.find(r, s.before, after)
		return err
	})
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	return ids, d.writer.do(ctx, func(t *tx) error { return s.remove(t, ids, string(list)) })
}

// listed matches the ids in the JSON array that a statement has as its argument ?1.
const listed = "IN (SELECT value FROM json_each(?1))"

// oldEvents excludes the events of live vjobs.
func (r *snapshot) oldEvents(before time.Time, after int64) ([]int64, error) {
	return r.front("SELECT seq, at_ns, NOT EXISTS (SELECT 1 FROM vjobs WHERE id = events.vjob AND "+live+
		") FROM events WHERE seq > ? ORDER BY seq", before, after)
}

func (t *tx) removeEvents(seqs []int64, list string) error {
	return firstError(
		func() error { return t.mark("pruned_events", seqs) }, // before the rows are deleted
		func() error { return t.exec("DELETE FROM events WHERE seq "+listed, list) },
	)
}

// oldCalls excludes calls without a result and calls of open plans.
func (r *snapshot) oldCalls(before time.Time, after int64) ([]int64, error) {
	return r.front(`SELECT op, at_ns, error IS NOT NULL AND NOT EXISTS (SELECT 1 FROM plans WHERE id = intents.plan
		AND state = 'running') FROM intents WHERE op > ? ORDER BY op`, before, after)
}

func (t *tx) removeCalls(_ []int64, list string) error {
	return t.exec("DELETE FROM intents WHERE op "+listed, list)
}

// oldPlans excludes plans that still have a call, which is recent or open.
func (r *snapshot) oldPlans(before time.Time, _ int64) ([]int64, error) {
	return r.batch(`SELECT id, 1 + action_count + (SELECT count(*) FROM plan_skews WHERE plan = plans.id)
		FROM plans WHERE state <> 'running' AND ended_ns < ? AND NOT EXISTS (SELECT 1 FROM intents WHERE plan = plans.id)
		ORDER BY ended_ns, id LIMIT ?`, before)
}

func (t *tx) removePlans(_ []int64, list string) error {
	return firstError(
		func() error { return t.exec("DELETE FROM plan_actions WHERE plan "+listed, list) },
		func() error { return t.exec("DELETE FROM plan_skews WHERE plan "+listed, list) },
		func() error { return t.exec("DELETE FROM plans WHERE id "+listed, list) },
	)
}

// oldVJobs excludes vjobs of which anything could still exist: a copy, an image, or a call in
// progress.
func (r *snapshot) oldVJobs(before time.Time, _ int64) ([]int64, error) {
	return r.batch(`SELECT id, 5 + vm_count FROM vjobs INDEXED BY vjobs_ended WHERE state IN ('terminated', 'failed') AND ended_ns < ?
		AND EXISTS (SELECT 1 FROM gangs WHERE vjob = vjobs.id AND phase = 'absent' AND kept = '')
		AND NOT EXISTS (SELECT 1 FROM images WHERE vjob = vjobs.id)
		AND id NOT IN (SELECT vjob FROM intents WHERE error IS NULL)
		AND NOT EXISTS (SELECT 1 FROM dependencies WHERE needs IN (vjobs.id, vjobs.array))
		ORDER BY ended_ns, id LIMIT ?`, before)
}

// removeVJobs deletes vjobs; their usage moves to the closed accounts.
func (t *tx) removeVJobs(ids []int64, list string) error {
	err := t.exec(`INSERT INTO closed_accounts (vjob, owner, project, name, submitted_ns, ended_ns, running_ns, cpu_ns, wanted_ns, memory_mib_seconds, energy_joules)
		SELECT id, owner, project, name, submitted_ns, ended_ns, running_ns, cpu_ns, wanted_ns, memory_mib_seconds, energy_joules
		FROM vjobs JOIN accounts ON accounts.vjob = vjobs.id WHERE id `+listed, list)
	for _, table := range []string{"accounts", "idempotency_keys", "vms", "gangs"} {
		if err == nil {
			err = t.exec("DELETE FROM "+table+" WHERE vjob "+listed, list)
		}
	}
	var specs string
	return firstError(
		func() error { return err },
		func() error { return t.unshared(list, &specs) },
		func() error { return t.exec("DELETE FROM vjobs WHERE id "+listed, list) },
		func() error { return t.exec("DELETE FROM specs WHERE spec "+listed, specs) },
		func() error { return t.mark("pruned_vjobs", ids) },
	)
}

// unshared returns the specs that only the listed vjobs have.
func (t *tx) unshared(list string, specs *string) error {
	_, err := t.row(`SELECT json_group_array(DISTINCT spec) FROM vjobs WHERE id `+listed+` AND NOT EXISTS (
		SELECT 1 FROM vjobs AS other WHERE other.spec = vjobs.spec AND other.id NOT `+listed+")", []any{list}, specs)
	return err
}

// mark records the largest id that was deleted.
func (t *tx) mark(name string, ids []int64) error {
	return t.exec("UPDATE meta SET value = max(value, ?) WHERE name = ?", slices.Max(ids), name)
}

// errEnough ends a scan before its end.
var errEnough = errors.New("enough")

// front collects ids from the front of a log up to the first recent entry. A log is in order
// of time; where a clock was set back, entries stay a little longer. Rows are an id, its time
// (NULL is old), and whether it may be deleted.
func (r *snapshot) front(query string, before time.Time, after int64) (ids []int64, err error) {
	err = r.each(query, []any{after}, func(s row) error {
		var id int64
		var at time.Time
		var free bool
		if err := s.Scan(&id, instant{&at}, &free); err != nil {
			return err
		}
		switch {
		case !at.Before(before), len(ids) == pruneRows:
			return errEnough
		case free:
			ids = append(ids, id)
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return ids, err
}

// batch collects the ids of as many items as one transaction deletes. Rows are an id and how
// many rows the item has.
func (r *snapshot) batch(query string, before time.Time) (ids []int64, err error) {
	var sizes []int
	err = r.each(query, []any{before.UnixNano(), pruneRows}, func(s row) error {
		var id int64
		var size int
		err := s.Scan(&id, &size)
		ids, sizes = append(ids, id), append(sizes, size)
		return err
	})
	return ids[:pruneBatch(sizes)], err
}

// Totals lists the usage of each owner, in order of names.
func (d *DB) Totals(ctx context.Context) (list []journal.Total, err error) {
	query := `SELECT owner, total(running_ns) / 1e9, total(cpu_ns) / 1e9, total(wanted_ns) / 1e9, sum(memory_mib_seconds), sum(energy_joules) FROM (
		SELECT owner, running_ns, cpu_ns, wanted_ns, memory_mib_seconds, energy_joules FROM accounts JOIN vjobs ON vjobs.id = accounts.vjob
		UNION ALL SELECT owner, running_ns, cpu_ns, wanted_ns, memory_mib_seconds, energy_joules FROM closed_accounts) GROUP BY owner ORDER BY owner`
	err = d.snapshot(ctx, func(r *snapshot) error {
		return r.each(query, nil, func(s row) error {
			var t journal.Total
			err := s.Scan(&t.Owner, &t.RunningSec, &t.CPUSec, &t.WantedSec, &t.MemorySec, &t.Joules)
			list = append(list, t)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("sum the accounts: %w", err)
	}
	return list, nil
}
