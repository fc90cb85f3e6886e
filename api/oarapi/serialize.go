package oarapi

import (
	"context"
	"sync"

	"vjob/api"
)

// submissionQueues serializes the submissions of each user. The zero value is ready.
type submissionQueues struct {
	mu sync.Mutex
	of map[string]*submissionQueue // by user, while submissions are in progress
}

// submissionQueue is the submissions of one user.
type submissionQueue struct {
	taken chan struct{} // holds a token while a submission is in progress
	users int           // submissions in progress or waiting; guarded by mu
}

// take waits for the turn of a user. The caller must call end.
func (t *submissionQueues) take(ctx context.Context, user string) (end func(), err error) {
	t.mu.Lock()
	own, known := t.of[user]
	if !known {
		own = &submissionQueue{taken: make(chan struct{}, 1)}
		if t.of == nil {
			t.of = map[string]*submissionQueue{}
		}
		t.of[user] = own
	}
	own.users++
	t.mu.Unlock()
	select {
	case own.taken <- struct{}{}:
		return func() { <-own.taken; t.leave(user, own) }, nil
	case <-ctx.Done():
		t.leave(user, own)
		return nil, ctx.Err()
	}
}

func (t *submissionQueues) leave(user string, own *submissionQueue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own.users--
	if own.users == 0 {
		delete(t.of, user)
	}
}

// serialized runs the work of a submission: count the user's jobs, apply the rules, store. If a rule
// depends on the count, submissions of a user run one after another. Each completes even if its client
// disconnects, so that the next one sees a definite count.
func (d *Dialect) serialized(ctx context.Context, who api.Subject, work func(context.Context) error) error {
	if reservations, jobs := d.Site.Policy.Counts(); !reservations && !jobs {
		return work(ctx)
	}
	end, err := d.turns.take(ctx, who.Name)
	if err != nil {
		return err
	}
	defer end()
	return work(context.WithoutCancel(ctx))
}
