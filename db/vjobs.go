package db

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// live is the condition of the partial indexes; SQLite uses them only for queries with exactly
// this text.
const live = "state NOT IN ('terminated', 'failed')"

// VJobs lists vjobs without their VMs, rules and payloads. The total counts all vjobs that match the filter, regardless
// of its limit; behind a cursor it is 0.
func (d *DB) VJobs(ctx context.Context, f journal.Filter) (rows []journal.Row, total int, err error) {
	where, args := conditions(&f)
	if f.Fold {
		where, args = foldCondition(where, args)
	}
	err = d.snapshot(ctx, func(r *snapshot) error {
		if f.Cursor == 0 {
			if err := r.one("SELECT count(*) FROM vjobs"+where, args, &total); err != nil {
				return err
			}
			rows = make([]journal.Row, 0, min(total, cmp.Or(f.Limit, total)))
		} else {
			rows = make([]journal.Row, 0, f.Limit) // most pages are full
		}
		tail, args := page(&f, where, args)
		if f.Known != nil {
			rows, err = r.besideKnown(&f, rows, tail, args)
		} else {
			rows, err = r.rows(f.Terms, rows, tail, args)
		}
		if err == nil && f.Fold {
			err = r.countFolded(rows)
		}
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list vjobs: %w", err)
	}
	return rows, total, nil
}

// rows appends rows, with the terms of their vjobs or without.
func (r *snapshot) rows(terms bool, rows []journal.Row, tail string, args []any) ([]journal.Row, error) {
	if terms {
		return r.withTerms(rows, tail, args)
	}
	reader := newRowReader()
	err := r.each("SELECT "+rowColumns+rowTables+tail, args, func(s row) error {
		row, err := reader.read(s)
		rows = append(rows, row)
		return err
	})
	return rows, err
}

// besideKnown appends rows, and reads of vjobs that are known no more than their version.
func (r *snapshot) besideKnown(f *journal.Filter, rows []journal.Row, tail string, args []any) ([]journal.Row, error) {
	places := map[cluster.VJobID]int{} // of those that have to be read
	var id cluster.VJobID
	var version int
	err := r.each("SELECT id, version FROM vjobs"+tail, args, func(s row) error {
		if err := s.Scan(number[cluster.VJobID]{&id}, number[int]{&version}); err != nil {
			return err
		}
		var row journal.Row
		if job := f.Known(id); job != nil && job.Version == version {
			row = journal.Row{VJob: job, Size: len(job.VMs), Reserved: job.Reserved(), Account: journal.Usage{VJob: id}}
		} else {
			places[id] = len(rows)
		}
		rows = append(rows, row)
		return nil
	})
	if err != nil || len(places) == 0 {
		return rows, err
	}
	list, err := json.Marshal(slices.Sorted(maps.Keys(places)))
	if err != nil {
		return rows, err
	}
	read, err := r.rows(f.Terms, make([]journal.Row, 0, len(places)), " WHERE id "+listed, []any{string(list)})
	for i := range read {
		rows[places[read[i].ID]] = read[i]
	}
	return rows, err
}

// page returns the end of a query for the rows of a page.
func page(f *journal.Filter, where string, args []any) (string, []any) {
	place, operator, order := "id", " > ?", ""
	if f.Fold {
		place = "iif(array = 0, id, array)" // as in the index vjobs_place
	}
	if f.Newest {
		operator, order = " < ?", " DESC"
	}
	if f.Cursor != 0 {
		and := " WHERE "
		if where != "" {
			and = where + " AND "
		}
		where, args = and+place+operator, append(slices.Clip(args), int64(f.Cursor))
	}
	return where + " ORDER BY " + place + order + " LIMIT ?", append(slices.Clip(args), cmp.Or(f.Limit, -1))
}

// VJob returns a vjob with its VMs, gang and account.
func (d *DB) VJob(ctx context.Context, id cluster.VJobID) (journal.Kept, error) {
	var kept journal.Kept
	err := d.snapshot(ctx, func(r *snapshot) error {
		list, err := r.whole("WHERE vjobs.id = ?", int64(id))
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return cluster.ErrNotFound
		}
		kept = *list[0]
		return nil
	})
	if err != nil {
		return journal.Kept{}, fmt.Errorf("vjob %s: %w", id, err)
	}
	return kept, nil
}

// Notified lists those of some vjobs that have addresses to notify, in order, with their terms.
func (d *DB) Notified(ctx context.Context, ids []cluster.VJobID) (rows []journal.Row, err error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	err = d.snapshot(ctx, func(r *snapshot) (err error) {
		rows, err = r.withTerms(rows, ` WHERE id IN (SELECT value FROM json_each(?))
			AND specs.json ->> '$.terms.notify' IS NOT NULL ORDER BY id`, []any{string(list)})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list vjobs with addresses: %w", err)
	}
	return rows, nil
}

// withTerms reads rows with the terms of their vjobs.
func (r *snapshot) withTerms(rows []journal.Row, tail string, args []any) ([]journal.Row, error) {
	var last []byte // the terms before: those of many vjobs are equal
	var terms *cluster.Terms
	var raw sql.RawBytes
	reader := newRowReader(&raw)
	query := "SELECT " + rowColumns + ", coalesce(json -> '$.terms', '{}')" + rowTables + " JOIN specs ON specs.spec = vjobs.spec" + tail
	err := r.each(query, args, func(s row) error {
		row, err := reader.read(s)
		if err != nil {
			return err
		}
		if terms == nil || !bytes.Equal(raw, last) {
			last = append(last[:0], raw...)
			if terms, err = decodeTerms(raw); err != nil {
				return err
			}
		}
		terms = reader.terms.in(terms)
		row.Terms = terms
		rows = append(rows, row)
		return nil
	})
	return rows, err
}
