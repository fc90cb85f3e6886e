package db

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"vjob/cluster"
)

// snapshot is a read transaction: all its queries see the database at one instant. Keep it
// short: an open one prevents the WAL from being truncated.
type snapshot struct {
	ctx context.Context //nolint:containedctx // lives for one call of snapshot
	tx  queryer
}

// queryer is a transaction, or the connection on which it is open.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// row is a row that can be read.
type row interface{ Scan(dest ...any) error }

// snapshot runs work on one consistent view.
func (d *DB) snapshot(ctx context.Context, work func(*snapshot) error) error {
	if d.read == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		return d.writer.do(context.WithoutCancel(ctx), func(t *tx) error { return readError(ctx, work(&snapshot{t.ctx, t.conn})) })
	}
	tx, err := d.read.BeginTx(ctx, nil)
	if err != nil {
		return readError(ctx, err)
	}
	err = work(&snapshot{ctx, tx})
	if end := tx.Rollback(); err == nil && !errors.Is(end, sql.ErrTxDone) {
		err = end
	}
	return readError(ctx, err)
}

// readError translates an error of a read. An error of a closed pool becomes errClosed.
func readError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case err.Error() == "sql: database is closed": // database/sql does not export it
		return errClosed
	}
	return explain(err)
}

// each calls visit for every row.
func (r *snapshot) each(query string, args []any, visit func(row) error) error {
	rows, err := r.tx.QueryContext(r.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		if err := visit(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// one reads one row; without a row it returns sql.ErrNoRows.
func (r *snapshot) one(query string, args []any, dest ...any) error {
	return r.tx.QueryRowContext(r.ctx, query, args...).Scan(dest...)
}

// nanos is an instant as it is stored: NULL for the zero time.
func nanos(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixNano()
}

// instant reads what nanos wrote.
type instant struct{ t *time.Time }

// Scan implements sql.Scanner.
func (i instant) Scan(v any) error {
	*i.t = time.Time{}
	if ns, ok := v.(int64); ok {
		*i.t = time.Unix(0, ns).UTC()
	}
	return nil
}

// exitStatus is one that [cluster.ExitStatus.String] wrote.
type exitStatus struct{ to *cluster.ExitStatus }

// Scan implements sql.Scanner.
func (e exitStatus) Scan(v any) (err error) {
	text, _ := v.(string)
	*e.to, err = cluster.ParseExitStatus(text)
	return err
}

// number is 0 for NULL.
type number[T ~int | ~int64] struct{ n *T }

// Scan implements sql.Scanner.
func (n number[T]) Scan(v any) error {
	i, _ := v.(int64)
	*n.n = T(i)
	return nil
}

// orNull is NULL for 0.
func orNull[T ~int64](n T) any {
	if n == 0 {
		return nil
	}
	return int64(n)
}
