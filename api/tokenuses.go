package api

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// tokenUseStore stores when tokens were last used.
type tokenUseStore interface {
	NoteUse(ctx context.Context, used map[int64]time.Time) error
}

// tokenUses collects when tokens were last used, and stores it now and then. It is safe for concurrent use.
type tokenUses struct {
	store tokenUseStore
	log   *slog.Logger

	mu   sync.Mutex
	last map[int64]time.Time // what is not stored yet
}

func (u *tokenUses) note(token int64, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = map[int64]time.Time{}
	}
	u.last[token] = at
}

func (u *tokenUses) take() map[int64]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.last
	u.last = nil
	return taken
}

// useInterval is the pause between two writes.
const useInterval = time.Minute

// run stores the uses until the context ends, and then the last ones.
func (u *tokenUses) run(ctx context.Context) {
	tick := time.NewTicker(useInterval)
	defer tick.Stop()
	for done := false; !done; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			done = true
		}
		used := u.take()
		if len(used) == 0 {
			continue
		}
		if err := u.store.NoteUse(context.WithoutCancel(ctx), used); err != nil {
			u.log.LogAttrs(ctx, slog.LevelWarn, "cannot record the use of tokens", slog.Any("error", err))
		}
	}
}
