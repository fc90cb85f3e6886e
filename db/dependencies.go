package db

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// writeDependencies writes the dependencies of a new vjob. They must exist and have the same
// owner.
func (n *newVJob) writeDependencies(t *tx) error {
	s := n.submission
	for i, d := range s.After {
		query := "SELECT id FROM vjobs WHERE id = ? AND owner = ? AND id < ?"
		if d.Array {
			query = "SELECT id FROM vjobs WHERE array <> 0 AND array = ? AND owner = ? AND id < ? LIMIT 1"
		}
		var id cluster.VJobID
		found, err := t.row(query, []any{int64(d.On), s.Owner, int64(n.id)}, &id)
		if err == nil && !found {
			err = missingDependency(i, d)
		}
		if err == nil && d.Each {
			err = n.checkEach(t, i, d)
		}
		if err == nil {
			err = t.exec("INSERT OR IGNORE INTO dependencies (vjob, needs, whole) VALUES (?, ?, ?)", int64(n.id), int64(d.On), d.Array)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkEach rejects a dependency of the vjobs of an array on those of another array unless they have the same number.
func (n *newVJob) checkEach(t *tx, i int, d cluster.Dependency) error {
	var vjobs int
	if _, err := t.row("SELECT count(DISTINCT array_index) FROM vjobs WHERE array <> 0 AND array = ?", []any{int64(d.On)}, &vjobs); err != nil {
		return err
	}
	if own := len(n.submission.Array); own != vjobs {
		return unequalArrays(i, d, own, vjobs)
	}
	return nil
}

// removeDependencies removes all dependencies of a vjob.
func (t *tx) removeDependencies(id *cluster.VJobID) error {
	return t.exec("DELETE FROM dependencies WHERE vjob = ?", int64(*id))
}

// writeAttempt writes a copy of a failed vjob. Vjobs that depend on the failed one depend on
// the copy as well.
func (t *tx) writeAttempt(a *journal.Attempt) error {
	id, err := t.insert(`INSERT INTO vjobs (owner, name, submitted_ns, priority, walltime_ns, state, held, cause, version,
			vm_count, cpu_milli, memory_mib, spec, queue, project, pool, moves, output, array, array_index, parameter, replaces, attempts)
		SELECT owner, name, ?, priority, walltime_ns, ?, 0, ?, 0,
			vm_count, cpu_milli, memory_mib, spec, queue, project, pool, moves, min(output, 1), array, array_index, parameter, id, attempts + 1
		FROM vjobs WHERE id = ? AND state = ?`,
		nanos(a.At), cluster.Waiting.String(), a.Text, int64(a.Of), cluster.Failed.String())
	if err != nil {
		return err
	}
	e := attemptEvent(a, cluster.VJobID(id))
	return firstError(
		func() error {
			return t.exec(`INSERT INTO gangs (vjob, phase, continuation, since_ns, incarnation, generation, restores, losses, cause, skew_ns)
				VALUES (?, 'absent', '', ?, 0, 0, 0, 0, '', 0)`, id, nanos(a.At))
		},
		func() error {
			return t.exec(`INSERT INTO vms (vjob, rank, cpu_milli, memory_mib, payload)
				SELECT ?, rank, cpu_milli, memory_mib, payload FROM vms WHERE vjob = ? ORDER BY rank`, id, int64(a.Of))
		},
		func() error {
			return t.exec(`INSERT OR IGNORE INTO dependencies (vjob, needs, whole)
				SELECT vjob, ?, 0 FROM dependencies WHERE needs = ? AND NOT whole`, id, int64(a.Of))
		},
		func() error { return t.event(&e) },
	)
}

// Attempts returns the vjobs that replaced the given failed ones, in order.
func (d *DB) Attempts(ctx context.Context, of []cluster.VJobID) (jobs []*cluster.VJob, err error) {
	list, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	err = d.snapshot(ctx, func(r *snapshot) error {
		kept, err := r.whole("WHERE vjobs.replaces <> 0 AND vjobs.replaces "+listed, string(list))
		for i := range kept {
			jobs = append(jobs, kept[i].VJob)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("attempts: %w", err)
	}
	return jobs, nil
}

// Past returns the outcomes of the given vjobs that have ended, and of the attempts that
// replaced them.
func (d *DB) Past(ctx context.Context, on []cluster.Dependency) (list []journal.EndedVJob, err error) {
	if len(on) == 0 {
		return nil, nil
	}
	type needed struct {
		ID    int64 `json:"id"`
		Whole bool  `json:"whole"`
	}
	all := make([]needed, len(on))
	for i, d := range on {
		all[i] = needed{int64(d.On), d.Array}
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	err = d.snapshot(ctx, func(r *snapshot) error {
		list, err = r.outcomes("SELECT value ->> 'id' AS needs, value ->> 'whole' AS whole FROM json_each(?)", string(raw))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("past: %w", err)
	}
	return list, nil
}

// outcomes returns the outcomes of the vjobs that a query with columns needs and whole selects.
func (r *snapshot) outcomes(query string, args ...any) (list []journal.EndedVJob, err error) {
	err = r.each(`WITH RECURSIVE needed AS (`+query+`), of (id) AS (
			SELECT needs FROM needed WHERE NOT whole
			UNION SELECT vjobs.id FROM needed JOIN vjobs ON array <> 0 AND array = needs WHERE whole
			UNION SELECT vjobs.id FROM of JOIN vjobs ON replaces <> 0 AND replaces = of.id
		) SELECT id, array, outcome, exit_status, started_ns IS NOT NULL, (SELECT id FROM vjobs AS next WHERE next.replaces <> 0 AND next.replaces = vjobs.id)
		FROM of JOIN vjobs USING (id) WHERE state IN ('terminated', 'failed') ORDER BY id`, args, func(s row) error {
		var p journal.EndedVJob
		var outcome string
		err := s.Scan(&p.ID, &p.Array, &outcome, exitStatus{&p.Exit}, &p.Started, number[cluster.VJobID]{&p.Next})
		if err == nil {
			p.Outcome, err = cluster.ParseOutcome(outcome)
		}
		p.Again = p.Next != 0
		list = append(list, p)
		return err
	})
	return list, err
}

// loadDependencies loads which vjobs have dependencies, and the outcomes of these.
func (r *snapshot) loadDependencies(l *journal.Loaded) error {
	err := r.each("SELECT DISTINCT vjob FROM dependencies ORDER BY vjob", nil, func(s row) error {
		var id cluster.VJobID
		err := s.Scan(&id)
		l.Waits = append(l.Waits, id)
		return err
	})
	past, err2 := r.outcomes("SELECT needs, whole FROM dependencies")
	l.Past = past
	return cmp.Or(err, err2)
}
