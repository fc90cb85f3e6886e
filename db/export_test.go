package db

import (
	"context"
	"io/fs"

	"vjob/ctxswitch/journal"
)

// OpenWith opens with other migrations than the built-in ones.
func OpenWith(path string, migrations fs.FS) (*DB, error) { return open(path, migrations) }

// NewEnough is the check of the version of SQLite.
var NewEnough = newEnough

// Builtin is the migrations of this program.
var Builtin = builtin

// Exec runs SQL of a test through the writer.
func (d *DB) Exec(ctx context.Context, query string, args ...any) error {
	return d.writer.do(ctx, func(t *tx) error { return t.exec(query, args...) })
}

// Query reads one value.
func (d *DB) Query(ctx context.Context, query string, dest any) error {
	return d.snapshot(ctx, func(r *snapshot) error { return r.one(query, nil, dest) })
}

// PagePlan is how SQLite reads a page of a list of vjobs.
func (d *DB) PagePlan(ctx context.Context, f journal.Filter) (steps []string, err error) {
	where, args := conditions(&f)
	if f.Fold {
		where, args = foldCondition(where, args)
	}
	tail, args := page(&f, where, args)
	err = d.snapshot(ctx, func(r *snapshot) error {
		return r.each("EXPLAIN QUERY PLAN SELECT "+rowColumns+rowTables+tail, args, func(s row) error {
			var id, parent, unused int
			var step string
			err := s.Scan(&id, &parent, &unused, &step)
			steps = append(steps, step)
			return err
		})
	})
	return steps, err
}

// Pragma runs a statement on the writer's connection outside any transaction.
func (d *DB) Pragma(ctx context.Context, query string) error {
	_, err := d.writer.conn.ExecContext(ctx, query)
	return err
}

// Panic makes a write that panics.
func (d *DB) Panic(ctx context.Context) error {
	return d.writer.do(ctx, func(*tx) error { panic("in a write") })
}

// Hold keeps the writer busy until release is closed. It returns once the writer is busy.
func (d *DB) Hold(release <-chan struct{}) (done <-chan error) {
	begun, answer := make(chan struct{}), make(chan error, 1)
	go func() {
		answer <- d.writer.do(context.Background(), func(*tx) error {
			close(begun)
			<-release
			return nil
		})
	}()
	<-begun
	return answer
}
