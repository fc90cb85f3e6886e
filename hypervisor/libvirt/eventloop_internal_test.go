//go:build libvirt_dlopen && cgo

package libvirt

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// The loop runs once, from its first user to its last, and is registered once for all.
func TestLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var registered, running, turns int
		broken := errors.New("broken")
		fails := broken
		l := eventLoop{
			register: func() error {
				registered++
				return fails
			},
			turn: func() error {
				if running++; running > 1 {
					t.Error("two loops run")
				}
				time.Sleep(time.Second)
				running--
				turns++
				return nil
			},
		}
		if err := l.acquire(); !errors.Is(err, broken) {
			t.Errorf("without libvirt: %v", err)
		}
		fails = nil
		for range 2 { // a driver is opened again after the last was closed
			before := turns
			for user := range 2 {
				if err := l.acquire(); err != nil {
					t.Fatalf("user %d: %v", user, err)
				}
			}
			time.Sleep(10500 * time.Millisecond)
			l.release()
			time.Sleep(10 * time.Second)
			l.release()
			ended := turns
			if running != 0 || ended-before != 21 {
				t.Errorf("after its last user the loop runs %d times; %d turns, want 21", running, ended-before)
			}
			time.Sleep(10 * time.Second)
			if turns != ended {
				t.Errorf("%d turns after the last user has gone", turns-ended)
			}
		}
		if registered != 2 {
			t.Errorf("registered %d times, want once that fails and once", registered)
		}
	})
}

// A turn that fails is followed by a pause, any other by the next turn.
func TestLoopThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, enough := time.Now(), make(chan struct{})
		var turns []time.Duration
		l := eventLoop{register: func() error { return nil }}
		l.turn = func() error {
			turns = append(turns, time.Since(began))
			switch len(turns) {
			case 1, 2:
				return errors.New("broken")
			case 4:
				close(enough)
			case 5:
				<-l.stop
			}
			return nil
		}
		if err := l.acquire(); err != nil {
			t.Fatal(err)
		}
		<-enough
		l.release()
		if len(turns) < 4 || turns[1] != wake || turns[2] != 2*wake || turns[3] != 2*wake {
			t.Errorf("turns at %v, want a pause of %s after each that fails alone", turns, wake)
		}
	})
}
