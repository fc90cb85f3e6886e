package api_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vjob/api"
)

// A directory that does not answer holds up the callers that it is asked for, and no
// others.
func TestSlowDirectory(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	var lookups atomic.Int32
	now := epoch
	names := api.NewLogins(func(uid uint32) string {
		lookups.Add(1)
		if uid != 7 {
			return "quick"
		}
		close(asked)
		<-answer
		return "slow"
	}, func() time.Time { return now })
	var waiting sync.WaitGroup
	for range 50 {
		waiting.Go(func() {
			if name := names(7); name != "slow" {
				t.Errorf("the name is %q", name)
			}
		})
	}
	<-asked
	if name := names(8); name != "quick" {
		t.Errorf("the name is %q", name)
	}
	close(answer)
	waiting.Wait()
	if n := lookups.Load(); n != 2 {
		t.Errorf("%d lookups for two users", n)
	}
	now = now.Add(time.Minute)
	names(8)
	if n := lookups.Load(); n != 3 {
		t.Errorf("%d lookups after a minute, want one more", n)
	}
	for uid := range uint32(5000) {
		names(100 + uid)
	}
	lookups.Store(0)
	for uid := range uint32(5000) {
		names(100 + uid)
	}
	if n := lookups.Load(); n < 4000 {
		t.Errorf("%d lookups: the cache has no bound", n)
	}
}
