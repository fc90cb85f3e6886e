package forecast_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue/forecast"
)

func yields(j forecast.Job) forecast.Job {
	j = runs(j)
	j.Yields = true
	return j
}

func bestEffort(j forecast.Job) forecast.Job {
	j.BestEffort = true
	return j
}

// A vjob need not wait for the ends of later ones that are suspended for it.
func TestOthersMakeRoom(t *testing.T) {
	for _, c := range []struct {
		name string
		jobs []forecast.Job
		want []string
	}{
		{
			"those behind make room, those before do not",
			[]forecast.Job{yields(job(1, 8, 20)), job(2, 10, 30), yields(job(3, 2, 60)), yields(job(4, 2, 0))},
			[]string{
				"12:00 12:20 runs", "12:20 12:50 waits: it is 2; from 12:20 on there is room beside those before it, if others make theirs",
				"12:00 13:00 runs", "12:00 - runs",
			},
		},
		{
			"one that is best-effort does wherever it stands, and waits for all",
			[]forecast.Job{bestEffort(yields(job(1, 4, 90))), runs(job(2, 8, 20)), job(3, 12, 10), bestEffort(job(4, 4, 10))},
			[]string{
				"12:00 13:30 runs", "12:00 12:20 runs", "12:20 12:30 waits: it is 3; from 12:20 on there is room beside those before it, if others make theirs",
				"12:30 12:40 waits: it is 4; 3 ends at 12:30: then there is room",
			},
		},
		{
			"something else keeps it from starting",
			[]forecast.Job{job(1, 8, 10), yields(job(2, 8, 30))},
			[]string{"12:30 12:40 waits: it is 1; 2 ends at 12:30: then there is room", "12:00 12:30 runs"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, b := range forecast.Compute(&forecast.Scene{Now: noon, Total: cpus(12), Jobs: c.jobs}).Estimates {
				if got := clock(b.Start) + " " + clock(b.End) + " " + b.Why(); got != c.want[i] {
					t.Errorf("%d:\n got %s\nwant %s", c.jobs[i].ID, got, c.want[i])
				}
			}
		})
	}
}

// A vjob starts in the first minute from which it fits beside all running and planned vjobs, or
// beside earlier and non-preemptible ones.
func TestPreemptionAgainstMinutes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	const total, horizon = 12, 600
	sooner := 0
	for range 500 {
		scene := &forecast.Scene{Now: noon, Total: cpus(total)}
		var all, firm [horizon]int64 // free
		for m := range all {
			all[m], firm[m] = total, total
		}
		take := func(free *[horizon]int64, from, minutes int, n int64) {
			for m := from; m < min(horizon, from+minutes); m++ {
				free[m] -= min(n, free[m])
			}
		}
		left, some := int64(total), false
		for id := range cluster.VJobID(3 + rng.IntN(8)) {
			j := job(id+1, 1+rng.Int64N(total), 1+rng.IntN(40))
			if n := int64(j.Need.CPU / 1000); n <= left && rng.IntN(2) == 0 {
				left -= n
				j = runs(j)
				if rng.IntN(2) == 0 {
					j = yields(j)
					some = true
				}
			}
			scene.Jobs = append(scene.Jobs, j)
		}
		for _, j := range scene.Jobs {
			if j.Runs {
				n, minutes := int64(j.Need.CPU/1000), int(j.Left/time.Minute)
				take(&all, 0, minutes, n)
				if !j.Yields {
					take(&firm, 0, minutes, n)
				}
			}
		}
		for i, b := range forecast.Compute(scene).Estimates {
			j := &scene.Jobs[i]
			n, minutes := int64(j.Need.CPU/1000), int(j.Left/time.Minute)
			if j.Runs && j.Yields {
				take(&firm, 0, minutes, n)
			}
			if j.Runs {
				continue
			}
			first := func(free *[horizon]int64, from int) int {
				for at := from; ; at++ {
					fits := true
					for m := at; m < at+minutes; m++ {
						fits = fits && free[m] >= n
					}
					if fits {
						return at
					}
				}
			}
			want := first(&all, 0)
			if some {
				if way := first(&firm, 0); way > 0 && way < want {
					want = way
					sooner++
				}
			}
			switch got := int(b.Start.Sub(noon) / time.Minute); {
			case b.Start.IsZero() && want == 0: // nothing ends, and else it would run
				continue
			case want == 0: // it is not before something ends: else it would run
				want = got
			case got != want:
				t.Fatalf("vjob %d of %+v: foretold after %d minutes, want %d", j.ID, scene.Jobs, got, want)
			}
			take(&all, want, minutes, n)
			take(&firm, want, minutes, n)
		}
	}
	if sooner < 10 {
		t.Errorf("only %d start sooner for it", sooner)
	}
}
