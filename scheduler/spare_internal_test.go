package scheduler

import (
	"testing"
	"testing/synctest"
	"time"
)

// Work beside the loop waits until a processor is spare, a decision only for a while.
func TestSpare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSpare()
		var give []func()
		for range cap(s) {
			give = append(give, s.take())
		}
		taken := false
		go func() {
			defer s.take()()
			taken = true
		}()
		began := time.Now()
		s.takeSoon()()
		if waited := time.Since(began); waited != decisionWait || taken {
			t.Errorf("a decision waited %s, other work has a processor: %t", waited, taken)
		}
		give[0]()
		synctest.Wait()
		began = time.Now()
		s.takeSoon()()
		if waited := time.Since(began); waited > 0 || !taken {
			t.Errorf("once one is spare a decision waited %s, other work has had it: %t", waited, taken)
		}
	})
}
