package simstore_test

import (
	"errors"
	"fmt"
	"testing"

	"vjob/ctxswitch/journal"
	"vjob/tests/simstore"
	"vjob/tests/storetest"
)

func TestFailNext(t *testing.T) {
	for _, c := range []struct {
		name    string
		fail    error
		written int
	}{
		{"not written", errors.New("disk broken"), 0},
		{"written, reply lost", fmt.Errorf("%w (injected)", simstore.ErrWritten), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := simstore.Open(t)
			s.FailNext = func() error { return c.fail }
			if _, _, err := s.Submit(t.Context(), storetest.Submission("x", 1)); !errors.Is(err, c.fail) {
				t.Errorf("submit: %v", err)
			}
			alarm := journal.Step{Events: []journal.Event{{Kind: journal.EventAlarm}}}
			if err := s.Commit(t.Context(), alarm); !errors.Is(err, c.fail) {
				t.Errorf("commit: %v", err)
			}
			if _, err := s.Load(t.Context()); !errors.Is(err, c.fail) {
				t.Errorf("load: %v", err)
			}
			if n := len(s.Events(0)); n != 2*c.written {
				t.Errorf("%d events were written, want %d", n, 2*c.written)
			}
			if s.Epoch() != int64(c.written) {
				t.Errorf("epoch %d", s.Epoch())
			}
		})
	}
}
