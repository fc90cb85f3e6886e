package forecast_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue/forecast"
)

// fenced are vjobs of one VM each with the nodes that they may use.
type fenced struct {
	nodes, size int
	cpu         map[cluster.VJobID]int
	may         map[cluster.VJobID]uint
}

// fits tries every placement.
func (f *fenced) fits(ids []cluster.VJobID) bool {
	free := slices.Repeat([]int{f.size}, f.nodes)
	var place func(i int) bool
	place = func(i int) bool {
		if i == len(ids) {
			return true
		}
		for n := range free {
			if f.may[ids[i]]&(1<<n) != 0 && free[n] >= f.cpu[ids[i]] {
				free[n] -= f.cpu[ids[i]]
				if place(i + 1) {
					return true
				}
				free[n] += f.cpu[ids[i]]
			}
		}
		return false
	}
	return place(0)
}

func (f *fenced) places() func(id cluster.VJobID) bool {
	var taken []cluster.VJobID
	return func(id cluster.VJobID) bool {
		if all := append(slices.Clone(taken), id); f.fits(all) {
			taken = all
			return true
		}
		return false
	}
}

// A vjob with rules starts at the first end after which an exhaustive search places it by the rules;
// never, if it cannot be placed on the empty cluster.
func TestRulesCount(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	later, never := 0, 0
	for range 2000 {
		f := &fenced{nodes: 3, size: 4, cpu: map[cluster.VJobID]int{}, may: map[cluster.VJobID]uint{}}
		s := forecast.Scene{Now: noon, Places: f.places}
		for range f.nodes {
			s.Nodes, s.Total = append(s.Nodes, cpus(int64(f.size))), s.Total.Plus(cpus(int64(f.size)))
		}
		draw := func(id cluster.VJobID) forecast.Job {
			f.cpu[id], f.may[id] = 1+rng.IntN(f.size), uint(rng.IntN(1<<f.nodes))
			return job(id, int64(f.cpu[id]), 10*(1+rng.IntN(6)))
		}
		var running []cluster.VJobID
		for id := cluster.VJobID(1); id <= 6; id++ {
			j := draw(id)
			if f.fits(append(slices.Clone(running), id)) {
				running = append(running, id)
				s.Jobs = append(s.Jobs, runs(j))
			}
		}
		waits := draw(9)
		waits.Ruled = true
		want := first(f, &s, running, waits)
		if want.Equal(noon) { // it would not wait
			continue
		}
		s.Jobs = append(s.Jobs, waits)
		bar := forecast.Compute(&s).Estimates[len(s.Jobs)-1]
		if !bar.Start.Equal(want) {
			t.Fatalf("%+v\nof %+v\nstarts at %s, want %s: %s", waits, s.Jobs, bar.Start, want, bar.Why())
		}
		if !want.IsZero() {
			later++
			continue
		}
		never++
		if !strings.Contains(bar.Why(), "the rules leave it no places") {
			t.Fatalf("why: %s", bar.Why())
		}
	}
	if later < 100 || never < 100 {
		t.Errorf("only %d start later, and %d never", later, never)
	}
}

// first returns when a vjob can be placed beside those that have not ended; zero: never.
func first(f *fenced, s *forecast.Scene, running []cluster.VJobID, j forecast.Job) time.Time {
	instants := []time.Time{noon}
	for i := range s.Jobs {
		instants = append(instants, noon.Add(s.Jobs[i].Left))
	}
	slices.SortFunc(instants, time.Time.Compare)
	for _, at := range instants {
		there := []cluster.VJobID{j.ID}
		for i, id := range running {
			if at.Before(noon.Add(s.Jobs[i].Left)) {
				there = append(there, id)
			}
		}
		if f.fits(there) {
			return at
		}
	}
	return time.Time{}
}
