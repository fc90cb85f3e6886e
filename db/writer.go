package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"vjob/cluster"
)

// batchLimit bounds how many writes share a transaction, and so how long the first of them
// waits for the others.
const batchLimit = 256

// writer carries out all writes. Its goroutine owns the connection: it takes a request, opens
// a transaction, adds the requests that wait by then, and commits once for all of them. The
// next batch gathers while the disk syncs, so no request waits for a timer.
type writer struct {
	ctx      context.Context //nolint:containedctx // of the statements: see tx
	conn     *sql.Conn
	requests chan *request // unbuffered: each request that was received is answered
	closing  chan struct{}
	once     sync.Once
	loop     sync.WaitGroup
}

// request is one write, which succeeds or fails on its own in a savepoint.
type request struct {
	ctx  context.Context //nolint:containedctx // carried to the goroutine that decides whether to begin
	work func(*tx) error
	done chan error // buffered, so that the goroutine never waits for a caller that has gone
}

func newWriter(ctx context.Context, conn *sql.Conn) *writer {
	w := &writer{ctx: context.WithoutCancel(ctx), conn: conn, requests: make(chan *request), closing: make(chan struct{})}
	w.loop.Go(w.run)
	return w
}

// close waits for the current batch and stops the goroutine.
func (w *writer) close() {
	w.once.Do(func() { close(w.closing) })
	w.loop.Wait()
}

// do runs work in a transaction and returns after the commit. If the context ends first, the
// write was not begun or its outcome is unknown.
func (w *writer) do(ctx context.Context, work func(*tx) error) error {
	r := &request{ctx: ctx, work: work, done: make(chan error, 1)}
	select {
	case <-w.closing: // checked first: select chooses at random
		return errClosed
	default:
	}
	select {
	case w.requests <- r:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.closing:
		return errClosed
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *writer) run() {
	for {
		select {
		case <-w.closing:
			return
		case r := <-w.requests:
			w.batch(r)
		}
	}
}

// outcome is the result of a request, sent after the commit of the batch.
type outcome struct {
	request *request
	err     error
}

func (w *writer) batch(first *request) {
	t := &tx{w.ctx, w.conn}
	if err := t.exec("BEGIN IMMEDIATE"); err != nil {
		first.done <- fmt.Errorf("begin: %w", err)
		return
	}
	answers := make([]outcome, 0, 16)
	var broken error
	for r := first; r != nil; r = w.next(len(answers)) {
		var err error
		err, broken = attempt(t, r)
		answers = append(answers, outcome{r, err})
		if broken != nil {
			break
		}
	}
	if broken == nil {
		if err := t.exec("COMMIT"); err != nil {
			broken = fmt.Errorf("commit: %w", err)
		}
	}
	if broken != nil {
		// This fails if SQLite has rolled back already.
		_ = t.exec("ROLLBACK")
	}
	for _, a := range answers {
		if a.err == nil {
			a.err = broken
		}
		a.request.done <- a.err
	}
}

// next takes another request that waits already, or nil.
func (w *writer) next(taken int) *request {
	if taken >= batchLimit {
		return nil
	}
	select {
	case r := <-w.requests:
		return r
	default:
		return nil
	}
}

// attempt runs one request in a savepoint, so that its failure does not affect the others.
// broken is set if that was not possible: the transaction is gone, as after a full disk.
func attempt(t *tx, r *request) (err, broken error) {
	if r.ctx.Err() != nil {
		return r.ctx.Err(), nil
	}
	if err := t.exec("SAVEPOINT request"); err != nil {
		return err, err
	}
	if err := r.work(t); err != nil {
		if gone := t.exec("ROLLBACK TO request"); gone != nil {
			return err, fmt.Errorf("a write beside this one failed, and all with it: %w (%w)", err, cluster.ErrUnavailable)
		}
		return err, t.exec("RELEASE request")
	}
	broken = t.exec("RELEASE request")
	return broken, broken
}

// tx is the transaction of a batch. Its context never ends, on purpose: the context of one
// caller, if it interrupted a statement, would roll back the whole batch.
type tx struct {
	ctx  context.Context //nolint:containedctx // as said above
	conn *sql.Conn
}

// exec runs a statement.
func (t *tx) exec(query string, args ...any) error {
	_, err := t.change(query, args...)
	return err
}

// change runs a statement and returns how many rows it touched.
func (t *tx) change(query string, args ...any) (int64, error) {
	res, err := t.conn.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, explain(err)
	}
	n, err := res.RowsAffected()
	return n, explain(err)
}

// insert runs a statement and returns the number of the new row.
func (t *tx) insert(query string, args ...any) (int64, error) {
	res, err := t.conn.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, explain(err)
	}
	id, err := res.LastInsertId()
	return id, explain(err)
}

// row reads one row into dest; found is false without a row.
func (t *tx) row(query string, args []any, dest ...any) (found bool, err error) {
	err = t.conn.QueryRowContext(t.ctx, query, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, explain(err)
}
