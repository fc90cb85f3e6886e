package oarapi

import (
	"context"
	"sync"
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
