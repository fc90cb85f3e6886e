package scheduler

import (
	"context"
	"errors"
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// inbox passes events to the goroutine of the loop, and answers requests once their changes are committed. Only its
// channels are used by other goroutines.
type inbox struct {
	events  chan func(*Core) error
	changes chan changeRequest // of the settings
	quit    chan struct{}
	granted []chan error // requests that wait for the next commit
	stale   bool         // an event failed: the core must be loaded anew
}

func newInbox() *inbox {
	return &inbox{events: make(chan func(*Core) error, 1024), changes: make(chan changeRequest), quit: make(chan struct{})}
}

// errStale: the store may hold what the core does not know.
var errStale = errors.New("the store may hold more than is known")

// errStopping: the loop has ended, or ends.
var errStopping = fmt.Errorf("the scheduler is stopping: %w", cluster.ErrUnavailable)

// post hands an event to the loop; after its end events are dropped.
func (b *inbox) post(event func(*Core) error) {
	select {
	case b.events <- event:
	case <-b.quit:
	}
}

// takeMore handles the events that are waiting, so that a burst of them costs one commit.
func (b *inbox) takeMore(core *Core) {
	for range cap(b.events) {
		select {
		case event := <-b.events:
			b.stale = event(core) != nil || b.stale
		default:
			return
		}
	}
}

// ask runs a request in the loop and waits for its answer. A granted request is answered after its
// changes have been committed.
func (b *inbox) ask(ctx context.Context, request func(*Core) error) error {
	answer := make(chan error, 1)
	event := func(c *Core) error {
		if refusal := request(c); refusal != nil {
			answer <- refusal
		} else {
			b.granted = append(b.granted, answer)
		}
		return nil
	}
	select {
	case b.events <- event:
	case <-b.quit:
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-answer:
		return err
	case <-b.quit:
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answer answers the granted requests with the result of the commit.
func (b *inbox) answer(err error) {
	if err != nil {
		err = fmt.Errorf("commit: %w: %w", cluster.ErrUnavailable, err)
	}
	for _, a := range b.granted {
		a <- err
	}
	b.granted = b.granted[:0]
}

// audited runs a change and records its audit entry in the same step.
func (b *inbox) audited(ctx context.Context, act journal.Audit, change func(*Core) error) error {
	return b.ask(ctx, func(c *Core) error {
		if err := change(c); err != nil {
			return err
		}
		c.out.Audit = append(c.out.Audit, act)
		return nil
	})
}
