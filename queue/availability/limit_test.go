package availability_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"vjob/queue/availability"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func after(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func TestLimitEarliest(t *testing.T) {
	c := availability.NewLimit(noon, []availability.LimitStep{{Most: 4, Name: "day"}, {From: after(3600), Most: 10, Name: "night"}})
	c.Take(noon, 30*time.Minute, true, 3)
	for _, w := range []struct {
		amount int64
		want   int // seconds; -1: never
	}{{1, 0}, {2, 1800}, {4, 1800}, {5, 3600}, {10, 3600}, {11, -1}} {
		start, ok := c.Earliest(noon, time.Hour, true, w.amount)
		if ok != (w.want >= 0) || ok && !start.Equal(after(w.want)) {
			t.Errorf("%d: %s, %t, want %d", w.amount, start, ok, w.want)
		}
	}
	if s := c.At(after(3599)); s.Name != "day" || c.Used(after(1799)) != 3 || c.Used(after(1800)) != 0 {
		t.Errorf("%+v, %d, %d", s, c.Used(after(1799)), c.Used(after(1800)))
	}
}

// A period without limit allows starts, but not beyond it.
func TestUnlimited(t *testing.T) {
	c := availability.NewLimit(noon, []availability.LimitStep{{Most: 1}, {From: after(60), Most: availability.Unlimited}, {From: after(120), Most: 1}})
	c.Take(noon, 0, false, 1)
	for from, want := range map[int]int{0: 60, 61: 61} {
		if start, ok := c.Earliest(after(from), time.Hour, true, 5); !ok || !start.Equal(after(want)) {
			t.Errorf("from %d: %s, %t, want %d", from, start, ok, want)
		}
	}
	if start, ok := c.Earliest(noon, 0, false, 1); !ok || !start.Equal(after(60)) {
		t.Errorf("for good: %s, %t", start, ok)
	}
	if start, ok := c.Earliest(after(120), time.Hour, true, 5); ok {
		t.Errorf("when it is limited again: %s", start)
	}
}

// Compared with a search second by second.
func TestLimitAgainstASearch(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 400 {
		const horizon = 200
		steps := []availability.LimitStep{{From: noon, Most: 1 + rng.Int64N(6)}}
		for at := 0; len(steps) < 4; {
			at += 1 + rng.IntN(30)
			steps = append(steps, availability.LimitStep{From: after(at), Most: rng.Int64N(8)})
		}
		c := availability.NewLimit(noon, steps)
		top := int64(0)
		for _, s := range steps {
			top = max(top, s.Most)
		}
		var used [4 * horizon]int64
		for range 12 {
			amount, length, from := rng.Int64N(9), 1+rng.IntN(40), rng.IntN(40)
			want := -1
			for at := from; at < 2*horizon && want < 0; at++ {
				ok := used[at]+amount <= c.At(after(at)).Most
				for s := at; s < at+length; s++ {
					ok = ok && used[s]+amount <= top
				}
				if ok {
					want = at
				}
			}
			start, ok := c.Earliest(after(from), time.Duration(length)*time.Second, true, amount)
			if ok != (want >= 0) || ok && !start.Equal(after(want)) {
				t.Fatalf("%d for %ds from %d under %v: %s, %t, want %d", amount, length, from, steps, start, ok, want)
			}
			if !ok || rng.IntN(3) == 0 {
				start, want = after(from), from // whatever the limit
			}
			c.Take(start, time.Duration(length)*time.Second, true, amount)
			for s := want; s < want+length; s++ {
				used[s] += amount
			}
		}
	}
}
