package scheduler

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// desk answers what-ifs in turns. Those that have come while others were answered are answered together: they share the
// facts and the decision on the cluster as it is, which is half of the work.
type desk struct {
	turn  chan struct{} // holds a token while a batch is answered
	spare spare         // for answers

	mu      sync.Mutex
	waiting []*inquiry
}

// inquiry is a what-if and its answer.
type inquiry struct {
	WhatIf
	ctx      context.Context //nolint:containedctx // of the caller, which may leave
	answer   func() (WhatIfResult, error)
	answered chan struct{} // closed once the rest is set
	result   WhatIfResult
	err      error
	panicked any
}

func newDesk(s spare) *desk { return &desk{turn: make(chan struct{}, 1), spare: s} }

// ask returns the answer to a what-if from facts that are taken after the call. Prepare sets the answer, or the error, of
// each inquiry of a batch; the answers are then given side by side.
func (d *desk) ask(ctx context.Context, s WhatIf, prepare func(ctx context.Context, batch []*inquiry) error) (WhatIfResult, error) {
	q := &inquiry{WhatIf: s, ctx: ctx, answered: make(chan struct{})}
	d.mu.Lock()
	d.waiting = append(d.waiting, q)
	d.mu.Unlock()
	turn := d.turn
	for {
		select {
		case turn <- struct{}{}:
			turn = nil // it is taken once
			go func() {
				defer func() { <-d.turn }()
				d.answer(context.WithoutCancel(ctx), prepare)
			}()
		case <-q.answered:
			if q.panicked != nil {
				panic(q.panicked)
			}
			return q.result, q.err
		case <-ctx.Done():
			return WhatIfResult{}, ctx.Err()
		}
	}
}

// answer answers those that wait, except for callers that have left. A panic is passed on to the callers.
func (d *desk) answer(ctx context.Context, prepare func(ctx context.Context, batch []*inquiry) error) {
	batch := d.take()
	if len(batch) == 0 {
		return
	}
	var fault error
	panicked := caught(func() { fault = prepare(ctx, batch) })
	var all sync.WaitGroup
	defer all.Wait()
	for _, q := range batch {
		q.err, q.panicked = cmp.Or(fault, q.err), panicked
		give := d.spare.take()
		all.Go(func() {
			defer give()
			defer close(q.answered)
			if q.err == nil && q.panicked == nil {
				q.panicked = caught(func() { q.result, q.err = q.answer() })
			}
		})
	}
}

// caught runs a function, and returns with what it panics, and where; nil if it does not.
func caught(f func()) (panicked any) {
	defer func() {
		if r := recover(); r != nil {
			panicked = fmt.Sprintf("%v\n%s", r, debug.Stack())
		}
	}()
	f()
	return nil
}

// take returns those that wait, in the order in which they came.
func (d *desk) take() (batch []*inquiry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.waiting {
		if q.ctx.Err() == nil {
			batch = append(batch, q)
		}
	}
	d.waiting = nil
	return batch
}
