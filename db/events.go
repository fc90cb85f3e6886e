package db

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Events lists events, oldest first.
func (d *DB) Events(ctx context.Context, f journal.EventFilter) (list []journal.Event, err error) {
	terms, args := []string{"seq > ?"}, []any{f.After}
	if f.VJob != 0 {
		terms, args = append(terms, "vjob = ?"), append(args, int64(f.VJob))
	}
	if f.Array != 0 {
		of := &condition{}
		of.array(&journal.Filter{Array: f.Array, Indexes: f.Indexes})
		terms, args = append(terms, "vjob IN (SELECT id FROM vjobs WHERE "+strings.Join(of.terms, " AND ")+")"), append(args, of.args...)
	}
	if f.Plan != 0 {
		terms, args = append(terms, "plan = ?"), append(args, int64(f.Plan))
	}
	if len(f.Kinds) > 0 {
		terms = append(terms, "kind IN (?"+strings.Repeat(", ?", len(f.Kinds)-1)+")")
		for _, kind := range f.Kinds {
			args = append(args, string(kind))
		}
	}
	if f.Owner != "" {
		terms, args = append(terms, "(SELECT owner FROM vjobs WHERE id = events.vjob) = ?"), append(args, f.Owner)
	}
	tail := "WHERE " + strings.Join(terms, " AND ") + " ORDER BY seq"
	if f.Latest {
		tail += " DESC"
	}
	if f.Limit > 0 {
		tail += " LIMIT ?"
		args = append(args, f.Limit)
	}
	err = d.snapshot(ctx, func(r *snapshot) error {
		owner := "''"
		if f.WithOwner {
			owner = "coalesce((SELECT owner FROM vjobs WHERE id = events.vjob), '')"
		}
		return r.eventsWith(owner, tail, args, func(e journal.Event) { list = append(list, e) })
	})
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	if f.Latest {
		slices.Reverse(list)
	}
	return list, nil
}

// events visits events; tail follows the name of the table.
func (r *snapshot) events(tail string, args []any, visit func(journal.Event)) error {
	return r.eventsWith("''", tail, args, visit)
}

// eventsWith visits events with an expression for their owners.
func (r *snapshot) eventsWith(owner, tail string, args []any, visit func(journal.Event)) error {
	if tail == "" {
		tail = "ORDER BY seq"
	}
	query := "SELECT seq, at_ns, kind, vjob, vm, node, plan, state, text, cause, " + owner + " FROM events " + tail
	return r.each(query, args, func(s row) error {
		var e journal.Event
		err := s.Scan(&e.Seq, instant{&e.At}, &e.Kind, number[cluster.VJobID]{&e.VJob}, &e.VM, &e.Node, number[journal.PlanID]{&e.Plan}, &e.State, &e.Text, &cause{c: &e.Cause}, &e.Owner)
		visit(e)
		return err
	})
}
