package scheduler

import (
	"testing"
	"testing/synctest"
)

// Decisions take processors at once, more than there are if need be; other work waits until one is left over.
func TestSpare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, taken := newSpare(), false
		for range s.free + 1 {
			s.seize()
		}
		go func() {
			s.take()
			taken = true
		}()
		for given := range 3 {
			synctest.Wait()
			if want := given == 2; taken != want {
				t.Errorf("after %d were given back it has one: %t", given, taken)
			}
			s.give()
		}
	})
}
