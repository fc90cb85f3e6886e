package forecast_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue/forecast"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func cpus(n int64) cluster.Resources { return cluster.Resources{CPU: cluster.MilliCPU(n * 1000)} }

// job has processors, and a walltime in minutes; 0 for no walltime.
func job(id cluster.VJobID, n int64, minutes int) forecast.Job {
	return forecast.Job{ID: id, Need: cpus(n), Left: time.Duration(minutes) * time.Minute, Ends: minutes > 0, Reason: fmt.Sprintf("waits: it is %d", id)}
}

func runs(j forecast.Job) forecast.Job {
	j.Runs, j.Reason = true, "runs"
	return j
}

// A reason names some of many vjobs, and counts the others.
func TestManyWithoutWalltime(t *testing.T) {
	var jobs []forecast.Job
	for id := range cluster.VJobID(8) {
		jobs = append(jobs, runs(job(id+1, 1, 0)))
	}
	bar := forecast.Compute(&forecast.Scene{Now: noon, Total: cpus(8), Jobs: append(jobs, job(9, 1, 10))}).Estimates[8]
	why, discreet := "waits: it is 9; when there will be room cannot be known: 1, 2, 3 and 5 more have no walltime", "waits: it is 9; when there will be room cannot be known: 8 other vjobs have no walltime"
	if bar.Why() != why || bar.Discreet() != discreet || len(bar.Named()) != 3 {
		t.Errorf("%q, %q, which names %v", bar.Why(), bar.Discreet(), bar.Named())
	}
}

// A discreet reason has the same sense and no numbers.
func TestDiscreet(t *testing.T) {
	jobs := []forecast.Job{runs(job(1, 4, 40)), runs(job(2, 4, 70)), job(3, 8, 10), job(4, 4, 10)}
	bars := forecast.Compute(&forecast.Scene{Now: noon, Total: cpus(8), Jobs: jobs}).Estimates
	for i, want := range map[int]string{
		2: "waits: it is 3; 2 other vjobs end at 12:40 and 13:10: then there is room",
		3: "waits: it is 4; another vjob ends at 12:40: then there is room",
	} {
		if bars[i].Discreet() != want || len(bars[i].Named()) != 4-i {
			t.Errorf("%q, which names %v, want %q", bars[i].Discreet(), bars[i].Named(), want)
		}
	}
	if bars[0].Named() != nil {
		t.Errorf("%+v names others", bars[0])
	}
	leaves := job(1, 8, 40)
	leaves.Reason, leaves.Discreet, leaves.Named = "makes room for 7", "makes room for another", []cluster.VJobID{7}
	bar := forecast.Compute(&forecast.Scene{Now: noon, Total: cpus(8), Jobs: []forecast.Job{runs(job(2, 4, 70)), leaves}}).Estimates[1]
	if bar.Why() != "makes room for 7; 2 ends at 13:10: then there is room" || bar.Discreet() != "makes room for another; another vjob ends at 13:10: then there is room" ||
		!slices.Equal(bar.Named(), []cluster.VJobID{7, 2}) {
		t.Errorf("%+v", bar)
	}
}

func TestWhy(t *testing.T) {
	reserved := job(5, 8, 60)
	reserved.Reserved, reserved.Reason = noon.Add(2*time.Hour), "waits for its reservation"
	held := job(6, 1, 1)
	held.Stuck, held.Reason = true, "is held"
	late := job(2, 8, 60)
	late.NotBefore, late.Reason = noon.Add(2*time.Hour), "waits for a lower price"
	for _, c := range []struct {
		name   string
		strict bool
		jobs   []forecast.Job
		want   []string
	}{
		{
			"two have to end, the third need not", false,
			[]forecast.Job{runs(job(1, 4, 40)), runs(job(2, 3, 70)), runs(job(3, 1, 20)), job(4, 8, 10)},
			[]string{"12:00 12:40 runs", "12:00 13:10 runs", "12:00 12:20 runs", "13:10 13:20 waits: it is 4; 1 and 2 end at 12:40 and 13:10: then there is room"},
		},
		{
			"a line, and a reservation in it", false,
			[]forecast.Job{runs(job(1, 8, 30)), job(2, 8, 60), job(3, 8, 60), job(4, 2, 30), reserved, held},
			[]string{
				"12:00 12:30 runs",
				"12:30 13:30 waits: it is 2; 1 ends at 12:30: then there is room",
				"15:00 16:00 waits: it is 3; 5 ends at 15:00: then there is room",
				"12:30 13:00 waits: it is 4; 1 ends at 12:30: then there is room",
				"14:00 15:00 waits for its reservation",
				"- - is held",
			},
		},
		{
			"strictly in order", true,
			[]forecast.Job{runs(job(1, 8, 30)), job(2, 10, 60), job(3, 2, 10)},
			[]string{
				"12:00 12:30 runs",
				"12:30 13:30 waits: it is 2; 1 ends at 12:30: then there is room",
				"13:30 13:40 waits: it is 3; 2 ends at 13:30: then there is room",
			},
		},
		{
			"a later start delays no other", true,
			[]forecast.Job{runs(job(1, 8, 30)), late, job(3, 2, 10), job(4, 10, 5)},
			[]string{"12:00 12:30 runs", "14:00 15:00 waits for a lower price", "12:30 12:40 waits: it is 3; 1 ends at 12:30: then there is room", "12:40 12:45 waits: it is 4; 1 and 3 end at 12:30 and 12:40: then there is room"},
		},
		{
			"what has no end", false,
			[]forecast.Job{runs(job(1, 8, 0)), runs(job(2, 1, 5)), job(3, 10, 5), job(4, 2, 5)},
			[]string{
				"12:00 - runs", "12:00 12:05 runs",
				"- - waits: it is 3; when there will be room cannot be known: 1 has no walltime",
				"12:05 12:10 waits: it is 4; 2 ends at 12:05: then there is room",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.jobs {
				c.jobs[i].Strict = c.strict
			}
			s := forecast.Compute(&forecast.Scene{Now: noon, Total: cpus(10), Nodes: nodes(5), Jobs: c.jobs})
			for i, b := range s.Estimates {
				if got := clock(b.Start) + " " + clock(b.End) + " " + b.Why(); got != c.want[i] {
					t.Errorf("%d:\n got %s\nwant %s", c.jobs[i].ID, got, c.want[i])
				}
			}
		})
	}
}

func nodes(n int) (list []cluster.Resources) {
	for range n {
		list = append(list, cluster.Resources{CPU: 2000, Memory: 100})
	}
	return list
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format("15:04")
}

func TestUse(t *testing.T) {
	s := forecast.Compute(&forecast.Scene{Now: noon, Total: cpus(10), Nodes: nodes(5), Jobs: []forecast.Job{runs(job(1, 3, 30)), job(2, 8, 60), runs(job(3, 4, 30))}})
	want := []forecast.Use{{noon, cpus(7), 4}, {noon.Add(30 * time.Minute), cpus(8), 4}, {noon.Add(90 * time.Minute), cpus(0), 0}}
	if fmt.Sprint(s.Use) != fmt.Sprint(want) {
		t.Errorf("\n got %v\nwant %v", s.Use, want)
	}
}

// Compared with a count second by second: no vjob could start earlier beside all earlier ones,
// and the use is right.
func TestAgainstACount(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	for range 400 {
		const horizon = 900
		var free [horizon]int64
		for i := range free {
			free[i] = 10
		}
		fits := func(at, length int, need int64) bool {
			for s := at; s < at+length; s++ {
				if free[s] < need {
					return false
				}
			}
			return true
		}
		take := func(at, length int, need int64) {
			for s := at; s < at+length; s++ {
				free[s] -= need
			}
		}
		scene, strict := &forecast.Scene{Now: noon, Total: cpus(10), Nodes: nodes(5)}, rng.IntN(3) // 0: none, 1: all, 2: some
		var want []int
		add := func(at, length int, need int64) *forecast.Job {
			take(at, length, need)
			want = append(want, at)
			scene.Jobs = append(scene.Jobs, forecast.Job{ID: cluster.VJobID(len(want)), Need: cpus(need), Left: time.Duration(length) * time.Second, Ends: true})
			return &scene.Jobs[len(scene.Jobs)-1]
		}
		first := horizon
		for range 1 + rng.IntN(5) {
			if need, length := 1+rng.Int64N(3), 1+rng.IntN(30); fits(0, length, need) {
				add(0, length, need).Runs = true
				first = min(first, length)
			}
		}
		for range rng.IntN(3) {
			if at, need, length := 1+rng.IntN(60), 1+rng.Int64N(8), 1+rng.IntN(30); fits(at, length, need) {
				add(at, length, need).Reserved = noon.Add(time.Duration(at) * time.Second)
				first = min(first, at+length)
			}
		}
		before := 0
		for range 1 + rng.IntN(15) {
			need, length, at := 1+rng.Int64N(10), 1+rng.IntN(30), first
			ordered := strict == 1 || strict == 2 && rng.IntN(2) == 0
			if ordered {
				at = max(at, before)
			}
			for !fits(at, length, need) {
				at++
			}
			add(at, length, need).Strict = ordered
			if ordered {
				before = at
			}
		}
		s := forecast.Compute(scene)
		for i, b := range s.Estimates {
			if got := int(b.Start.Sub(noon) / time.Second); got != want[i] || b.End.Sub(b.Start) != scene.Jobs[i].Left {
				t.Fatalf("job %d of %+v starts after %ds and ends after %s, want %ds", i+1, scene.Jobs, got, b.End.Sub(noon), want[i])
			}
		}
		for _, u := range s.Use {
			if at := int(u.At.Sub(noon) / time.Second); int64(u.Used.CPU) != 1000*(10-free[at]) {
				t.Fatalf("after %ds %s are in use, want %d", at, u.Used.CPU, 10-free[at])
			}
		}
	}
}

func BenchmarkForecast(b *testing.B) {
	for _, waiting := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 4))
			s := &forecast.Scene{Now: noon, Total: cpus(4000), Nodes: nodes(2000)}
			for i := range waiting {
				j := job(cluster.VJobID(i), 1+rng.Int64N(64), 1+rng.IntN(1440))
				j.Runs = i < 100
				s.Jobs = append(s.Jobs, j)
			}
			for b.Loop() {
				forecast.Compute(s)
			}
		})
	}
}

// A vjob that waits for one without a walltime has no known start, also if others are suspended for that one.
func TestEndlessThatYields(t *testing.T) {
	runner := runs(job(1, 8, 0))
	runner.Yields = true
	for _, jobs := range [][]forecast.Job{{runner, job(2, 8, 10)}, {runner, job(2, 8, 0), job(3, 8, 10)}} {
		for _, bar := range forecast.Compute(&forecast.Scene{Now: noon, Total: cpus(8), Jobs: jobs}).Estimates[1:] {
			if !bar.Start.IsZero() || !strings.Contains(bar.Why(), "when there will be room cannot be known: 1 has no walltime") {
				t.Errorf("%d vjobs: %+v", len(jobs), bar)
			}
		}
	}
}
