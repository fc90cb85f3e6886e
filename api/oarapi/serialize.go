package oarapi

import (
	"context"
	"sync"

	"vjob/api"
)

// submissionQueues lets the submissions of each user through one after another. The zero value is ready.
type submissionQueues struct {
	mu sync.Mutex
	of map[string]*submissionQueue // by user, as long as submissions are under way
}

// submissionQueue is the submissions of one user.
type submissionQueue struct {
	taken chan struct{} // holds a token while a submission is under way
	users int           // submissions under way or waiting; owned by turns
}

// take waits for the turn of a user. The caller gives it back by end.
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
	if own.users--; own.users == 0 {
		delete(t.of, user)
	}
}

// serialized does the work of a submission: it counts what the user has, follows the rules and
// stores. If a rule depends on the count, submissions of one user take turns, and each is
// carried through even if its client leaves: the next one counts it, or it was refused.
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
