package scheduler

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// What-ifs that come while others are answered share the next turn, those of callers that have left have none, and a panic
// reaches only its caller.
func TestDesk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, began, refused := newDesk(newSpare()), time.Now(), errors.New("refused")
		var turns []int                                              // the inquiries of each
		prepare := func(_ context.Context, batch []*inquiry) error { //nolint:unparam // as the desk asks for it
			turns = append(turns, len(batch))
			for _, q := range batch {
				q.answer = func() (WhatIfResult, error) {
					time.Sleep(time.Second)
					if q.Alternatives == 3 {
						panic("the third")
					}
					return WhatIfResult{Nodes: q.Alternatives}, nil
				}
				if q.Alternatives == 4 {
					q.err = refused
				}
			}
			return nil
		}
		left, leave := context.WithCancel(t.Context())
		callers := slices.Repeat([]context.Context{t.Context()}, 6)
		callers[5] = left
		var all sync.WaitGroup
		for i := range callers {
			time.Sleep(time.Millisecond)
			all.Go(func() {
				defer func() {
					if r := recover(); (r != nil) != (i == 3) || r != nil && !strings.HasPrefix(r.(string), "the third\n") {
						t.Errorf("what-if %d: panic %v", i, r)
					}
				}()
				f, err := d.ask(callers[i], WhatIf{Alternatives: i}, prepare)
				switch i {
				case 4:
					if !errors.Is(err, refused) {
						t.Errorf("what-if 4: %v", err)
					}
				case 5:
					if !errors.Is(err, context.Canceled) {
						t.Errorf("what-if 5: %v", err)
					}
				default:
					if err != nil || f.Nodes != i {
						t.Errorf("what-if %d: %d, %v", i, f.Nodes, err)
					}
				}
			})
		}
		time.Sleep(time.Millisecond)
		leave()
		all.Wait()
		if len(turns) != 2 || turns[0] != 1 || turns[1] != 4 {
			t.Errorf("turns of %v what-ifs, want 1 and 4", turns)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("all took %v", took)
		}
	})
}

// The error of a turn is that of each what-if in it.
func TestDeskRefuses(t *testing.T) {
	d := newDesk(newSpare())
	for range 2 {
		_, err := d.ask(t.Context(), WhatIf{}, func(context.Context, []*inquiry) error { return errStopping })
		if !errors.Is(err, errStopping) {
			t.Errorf("%v", err)
		}
	}
}
