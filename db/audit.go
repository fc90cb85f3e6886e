package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"vjob/ctxswitch/journal"
)

// audit appends to the audit list.
func (t *tx) audit(a *journal.Audit) error {
	return t.exec("INSERT INTO audit (at_ns, by_name, from_where, action, object, text) VALUES (?, ?, ?, ?, ?, ?)",
		a.At.UnixNano(), a.By, a.From, string(a.Action), a.Object, a.Text)
}

// audited appends to the audit list and to the events.
func (t *tx) audited(a *journal.Audit) error {
	if err := t.audit(a); err != nil {
		return err
	}
	e := a.Event()
	return t.event(&e)
}

// WriteAudit appends an entry about something that is not itself written to the database.
func (d *DB) WriteAudit(ctx context.Context, a journal.Audit) error {
	if err := d.writer.do(ctx, func(t *tx) error { return t.audited(&a) }); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}

// Audit lists the entries of the filter, the latest first.
func (d *DB) Audit(ctx context.Context, f journal.AuditFilter) (list []journal.Audit, err error) {
	terms, args := []string{"1"}, []any{}
	if f.Before != 0 {
		terms, args = append(terms, "id < ?"), append(args, f.Before)
	}
	if f.Action != "" {
		terms, args = append(terms, "action = ?"), append(args, string(f.Action))
	}
	if f.By != "" {
		terms, args = append(terms, "by_name = ?"), append(args, f.By)
	}
	query := "SELECT id, at_ns, by_name, from_where, action, object, text FROM audit WHERE " + strings.Join(terms, " AND ") + " ORDER BY id DESC"
	if f.Limit > 0 {
		query, args = query+" LIMIT ?", append(args, f.Limit)
	}
	err = d.snapshot(ctx, func(r *snapshot) error {
		return r.each(query, args, func(s row) error {
			var a journal.Audit
			err := s.Scan(&a.ID, instant{&a.At}, &a.By, &a.From, &a.Action, &a.Object, &a.Text)
			list = append(list, a)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list the audit: %w", err)
	}
	return list, nil
}

func (r *snapshot) oldAudit(before time.Time, after int64) ([]int64, error) {
	return r.front("SELECT id, at_ns, 1 FROM audit WHERE id > ? ORDER BY id", before, after)
}

func (t *tx) removeAudit(ids []int64, list string) error {
	return firstError(
		func() error { return t.mark("pruned_audit", ids) }, // before the rows are deleted
		func() error { return t.exec("DELETE FROM audit WHERE id "+listed, list) },
	)
}
