package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"

	"vjob/cluster"
)

// batchLimit bounds how many writes share a transaction, and so how long the first of them
// waits for the others.
const batchLimit = 256

// writer carries out all writes, one batch after the other, on the one connection that writes. The
// first request that waits leads a batch: its caller opens a transaction, adds the requests that
// wait by then, commits once for all of them, and passes the lead on to the first that has come
// meanwhile. So no request waits for a timer, and a single one needs no other goroutine.
type writer struct {
	ctx  context.Context //nolint:containedctx // of the statements: see tx
	conn *sql.Conn

	mu      sync.Mutex
	waiting []*request
	led     bool // a batch is under way, or the caller of the first that waits is about to begin one
	closed  bool
	idle    *sync.Cond // signals that led has become false
}

// request is one write, which succeeds or fails on its own.
type request struct {
	ctx   context.Context //nolint:containedctx // carried to the goroutine that decides whether to begin
	work  func(*tx) error
	leads bool      // its caller has to lead the next batch
	woken chan bool // gets leads, or false once err is set; buffered, since the caller may have gone
	err   error
}

func newWriter(ctx context.Context, conn *sql.Conn) *writer {
	w := &writer{ctx: context.WithoutCancel(ctx), conn: conn}
	w.idle = sync.NewCond(&w.mu)
	return w
}

// close waits for the current batch. Requests that wait, and later ones, fail.
func (w *writer) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for w.led {
		w.idle.Wait()
	}
}

// do runs work in a transaction and returns after the commit. If the context ends first, the
// write was not begun or its outcome is unknown.
func (w *writer) do(ctx context.Context, work func(*tx) error) error {
	r := &request{ctx: ctx, work: work, woken: make(chan bool, 1)}
	lead, err := w.enter(r)
	if err != nil {
		return err
	}
	if !lead {
		select {
		case lead = <-r.woken:
		case <-ctx.Done():
			if lead = w.leave(r); !lead {
				return ctx.Err()
			}
		}
	}
	if lead {
		w.lead(r)
	}
	return r.err
}

// enter adds a request. It reports whether the caller has to lead: no batch is under way.
func (w *writer) enter(r *request) (lead bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false, errClosed
	}
	w.waiting = append(w.waiting, r)
	r.leads, w.led = !w.led, true
	return r.leads, nil
}

// leave takes back a request after the end of its context, unless it is part of a batch already. It reports whether
// the caller has to lead all the same.
func (w *writer) leave(r *request) (lead bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.waiting, r); i >= 0 && !r.leads {
		w.waiting = slices.Delete(w.waiting, i, i+1)
	}
	return r.leads
}

// next takes the first request that waits, or nil.
func (w *writer) next() *request {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		return nil
	}
	r := w.waiting[0]
	w.waiting = w.waiting[1:]
	return r
}

// passOn has the first request that waits lead the next batch.
func (w *writer) passOn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		for _, r := range w.waiting {
			r.err = errClosed
			r.woken <- false
		}
		w.waiting = nil
	}
	if len(w.waiting) == 0 {
		w.led = false
		w.idle.Broadcast()
		return
	}
	w.waiting[0].leads = true
	w.waiting[0].woken <- true
}

// lead carries out a batch that begins with the request of the caller.
func (w *writer) lead(first *request) {
	t, b := &tx{w.ctx, w.conn}, batch{err: errPanic}
	defer func() {
		if b.err != nil {
			// This fails if SQLite has rolled back already.
			_ = t.exec("ROLLBACK")
		}
		w.passOn()
		for _, r := range b.requests {
			if r.err == nil {
				r.err = b.err
			}
			if r != first {
				r.woken <- false
			}
		}
	}()
	b.err = b.write(t, w.next)
}

// errPanic is the outcome of a batch in which a request panicked.
var errPanic = fmt.Errorf("a write panicked, and all beside it failed: %w", cluster.ErrUnavailable)

// batch is the requests that share a transaction.
type batch struct {
	requests []*request
	err      error // of the transaction: nothing was written
}

// write carries out the requests that wait, and commits.
func (b *batch) write(t *tx, next func() *request) error {
	first := next()
	b.requests = append(b.requests, first)
	if err := t.exec("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	// The first one needs no savepoint: if it fails, nothing else is in the transaction.
	if first.err = first.write(t); first.err != nil {
		return first.err
	}
	for len(b.requests) < batchLimit {
		r := next()
		if r == nil {
			break
		}
		b.requests = append(b.requests, r)
		if err := r.attempt(t); err != nil {
			return err
		}
	}
	if err := t.exec("COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// write carries out the request.
func (r *request) write(t *tx) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	return r.work(t)
}

// attempt carries out the request in a savepoint, so that its failure does not affect the others. It fails
// if that was not possible: the transaction is gone, as after a full disk.
func (r *request) attempt(t *tx) error {
	if err := t.exec("SAVEPOINT request"); err != nil {
		return err
	}
	if r.err = r.write(t); r.err != nil {
		if err := t.exec("ROLLBACK TO request"); err != nil {
			return fmt.Errorf("a write beside this one failed, and all with it: %w (%w)", r.err, cluster.ErrUnavailable)
		}
	}
	return t.exec("RELEASE request")
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
