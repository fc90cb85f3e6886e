package forecast_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue/availability"
	"vjob/queue/forecast"
	"vjob/tests/brute"
)

// of adds VMs of a size to a vjob.
func of(j forecast.Job, cpu int64) forecast.Job {
	for range j.Need.CPU / cpus(cpu).CPU {
		j.VMs = append(j.VMs, cpus(cpu))
	}
	return j
}

// under counts all processors of a vjob in a limit.
func under(j forecast.Job, c *availability.Limit) forecast.Job {
	j.Parts = []availability.LimitPart{{Of: c, Amount: int64(j.Need.CPU)}}
	return j
}

// Fragments do not count, and a quota delays a start.
func TestPlacesAndQuotas(t *testing.T) {
	quota := func() *availability.Limit {
		return availability.NewLimit(noon, []availability.LimitStep{
			{Most: 4000, Name: "quota day: at most 4 CPU"}, {From: noon.Add(2 * time.Hour), Most: 8000, Name: "quota night: at most 8 CPU"},
		})
	}
	day, other := quota(), quota()
	for _, c := range []struct {
		name string
		jobs []forecast.Job
		want []string
	}{
		{
			"four nodes of three take four VMs of two", // and six by sums
			[]forecast.Job{of(runs(job(1, 6, 40)), 2), of(runs(job(2, 2, 70)), 2), of(job(3, 2, 10), 2), of(job(4, 4, 10), 1)},
			[]string{
				"12:00 12:40 runs", "12:00 13:10 runs", "12:40 12:50 waits: it is 3; 1 ends at 12:40: then there is room",
				"12:40 12:50 waits: it is 4; 1 ends at 12:40: then there is room",
			},
		},
		{
			"the second end makes places",
			[]forecast.Job{of(runs(job(1, 6, 40)), 3), of(runs(job(2, 3, 50)), 1), of(runs(job(3, 1, 20)), 1), of(job(4, 6, 10), 3)},
			[]string{
				"12:00 12:40 runs", "12:00 12:50 runs", "12:00 12:20 runs", "12:40 12:50 waits: it is 4; 1 ends at 12:40: then there is room",
			},
		},
		{
			"in pieces",
			[]forecast.Job{of(runs(job(1, 8, 30)), 2), of(runs(job(2, 1, 15)), 1), of(job(3, 3, 10), 3)},
			[]string{
				"12:00 12:30 runs", "12:00 12:15 runs", "12:30 12:40 waits: it is 3; 1 ends at 12:30: then there are places for its VMs",
			},
		},
		{
			"a quota that grows, and one of which less is used",
			[]forecast.Job{under(runs(job(1, 3, 60)), day), under(job(2, 6, 10), day), under(job(3, 2, 10), day), under(job(4, 9, 10), other), job(5, 2, 5)},
			[]string{
				"12:00 13:00 runs",
				"14:00 14:10 waits: it is 2; from 14:00 on it is within quota night: at most 8 CPU",
				"13:00 13:10 waits: it is 3; from 13:00 on it is within quota day: at most 4 CPU",
				"- - waits: it is 4; it never comes to be within quota day: at most 4 CPU",
				"13:00 13:05 waits: it is 5; 1 ends at 13:00: then there is room",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			scene := &forecast.Scene{Now: noon, Total: cpus(12), Jobs: c.jobs}
			for range 4 {
				scene.Nodes = append(scene.Nodes, cpus(3))
			}
			for i, b := range forecast.Compute(scene).Estimates {
				if got := clock(b.Start) + " " + clock(b.End) + " " + b.Why(); got != c.want[i] {
					t.Errorf("%d:\n got %s\nwant %s", c.jobs[i].ID, got, c.want[i])
				}
			}
		})
	}
}

// At its start a vjob has places beside all earlier ones, and at no earlier end: every packing
// is tried.
func TestPlacesAgainstEveryPacking(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 6))
	for range 300 {
		const size, count = 4, 3
		scene := &forecast.Scene{Now: noon, Total: cpus(size * count)}
		for range count {
			scene.Nodes = append(scene.Nodes, cpus(size))
		}
		var running []int
		for id := cluster.VJobID(1); id < 10; id++ {
			n := 1 + rng.Int64N(size)
			j := of(job(id, n*(1+rng.Int64N(2)), 1+rng.IntN(60)), n)
			if all := append(parts(&j), running...); id < 5 && brute.Packs(all, count, size) {
				j, running = runs(j), all
			}
			scene.Jobs = append(scene.Jobs, j)
		}
		if len(running) == 0 {
			continue
		}
		bars := forecast.Compute(scene).Estimates
		for i := range scene.Jobs {
			all := parts(&scene.Jobs[i])
			for k := range scene.Jobs {
				before := scene.Jobs[k].Runs || k < i
				if before && k != i && !bars[k].Start.After(bars[i].Start) && bars[k].End.After(bars[i].Start) {
					all = append(all, parts(&scene.Jobs[k])...)
				}
			}
			if !scene.Jobs[i].Runs && !brute.Packs(all, count, size) {
				t.Fatalf("vjob %d of %+v starts at %s: there are no places for %v", i+1, scene.Jobs, bars[i].Start, all)
			}
		}
	}
}

// A vjob that would end after Until has no start.
func TestUntil(t *testing.T) {
	s := forecast.Compute(&forecast.Scene{
		Now: noon, Total: cpus(2), Until: noon.Add(time.Hour),
		Jobs: []forecast.Job{runs(job(1, 2, 30)), job(2, 2, 40), job(3, 2, 20), job(4, 1, 0), job(5, 1, 11)},
	})
	for i, want := range []string{
		"12:00 12:30 runs", "- - waits: it is 2; it cannot come to its end before 13:00",
		"12:30 12:50 waits: it is 3; 1 ends at 12:30: then there is room", "- - waits: it is 4; it cannot come to its end before 13:00",
		"- - waits: it is 5; it cannot come to its end before 13:00",
	} {
		if got := clock(s.Estimates[i].Start) + " " + clock(s.Estimates[i].End) + " " + s.Estimates[i].Why(); got != want {
			t.Errorf("%d:\n got %s\nwant %s", i+1, got, want)
		}
	}
}

func parts(j *forecast.Job) (list []int) {
	for _, vm := range j.VMs {
		list = append(list, int(vm.CPU/1000))
	}
	return list
}
