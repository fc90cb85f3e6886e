package db

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// writeArray copies the first vjob of an array to all others, which differ in their numbers,
// names and parameters. It needs one statement for each table, not for each vjob.
func (n *newVJob) writeArray(t *tx) error {
	// ?1 is the first vjob, ?2 the parameters of all; their keys count from 0.
	const others = ` JOIN (SELECT key, value FROM json_each(?2)) AS p ON p.key > 0 WHERE %s = ?1 ORDER BY p.key`
	name := cluster.ArrayName(n.first().Name)
	return firstError(
		func() error {
			return t.exec(`INSERT INTO vjobs (id, owner, name, submitted_ns, priority, walltime_ns, state, held, cause, version,
					vm_count, cpu_milli, memory_mib, spec, queue, project, pool, moves, output, array, array_index, parameter)
				SELECT id + p.key, owner, iif(name = '', '', ?3 || '[' || (p.key + 1) || ']'), submitted_ns, priority, walltime_ns,
					state, held, cause, version, vm_count, cpu_milli, memory_mib, spec, queue, project, pool, moves, output, array, p.key + 1, p.value
				FROM vjobs`+fmt.Sprintf(others, "id"), int64(n.id), n.parameters, name)
		},
		func() error {
			return t.exec(`INSERT INTO gangs (vjob, phase, continuation, since_ns, incarnation, generation, restores, losses, cause, skew_ns)
				SELECT vjob + p.key, phase, continuation, since_ns, incarnation, generation, restores, losses, cause, skew_ns
				FROM gangs`+fmt.Sprintf(others, "vjob"), int64(n.id), n.parameters)
		},
		func() error {
			return t.exec(`INSERT INTO dependencies (vjob, needs, whole) SELECT vjob + p.key, needs, whole
				FROM dependencies`+fmt.Sprintf(others, "vjob"), int64(n.id), n.parameters)
		},
		func() error {
			return t.exec(`INSERT INTO events (at_ns, kind, vjob, vm, node, plan, state, text)
				SELECT at_ns, kind, vjob + p.key, vm, node, plan, state, text
				FROM events`+fmt.Sprintf(others, "kind = 'submitted' AND vjob"), int64(n.id), n.parameters)
		},
	)
}

// foldCondition restricts a WHERE clause to the first matching vjob of each array.
func foldCondition(where string, args []any) (string, []any) {
	in, and := " WHERE array <> 0", " WHERE "
	if where != "" {
		in, and = where+" AND array <> 0", where+" AND "
	}
	where = and + "(array = 0 OR id IN (SELECT min(id) FROM vjobs" + in + " GROUP BY array))"
	return where, append(slices.Clip(args), args...)
}

// countFolded counts the vjobs of the arrays that the rows represent.
func (r *snapshot) countFolded(rows []journal.Row) error {
	folds := map[cluster.VJobID]*journal.Fold{}
	arrays := []int64{}
	for i := range rows {
		if id := rows[i].Array; id != 0 {
			rows[i].Fold = &journal.Fold{States: map[cluster.State]int{}}
			folds[id], arrays = rows[i].Fold, append(arrays, int64(id))
		}
	}
	list, err := json.Marshal(arrays)
	if err != nil || len(arrays) == 0 {
		return err
	}
	return r.each(`SELECT array, state, count(*), min(array_index), max(array_index) FROM vjobs
		WHERE array <> 0 AND array `+listed+" GROUP BY array, state", []any{string(list)}, func(s row) error {
		var id cluster.VJobID
		var state string
		var n, first, last int
		if err := s.Scan(&id, &state, &n, &first, &last); err != nil {
			return err
		}
		at, err := cluster.ParseState(state)
		f := folds[id]
		f.States[at], f.Last = n, max(f.Last, last)
		f.First = min(cmp.Or(f.First, first), first)
		return err
	})
}
