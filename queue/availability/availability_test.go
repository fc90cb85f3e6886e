package availability_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue/availability"
)

var start = time.Date(2026, 11, 21, 18, 0, 0, 0, time.UTC)

func size(cpus, mib int64) cluster.Resources {
	return cluster.Resources{CPU: cluster.MilliCPU(cpus * 1000), Memory: cluster.MiB(mib)}
}

func at(t *testing.T, o *availability.Profile, need cluster.Resources, length time.Duration, later bool) time.Duration {
	t.Helper()
	when, ok := o.Earliest(need, length, length > 0, later)
	if !ok {
		return -1
	}
	return when.Sub(start)
}

// Ten processors: four taken for an hour, four for two hours, one for good.
func TestEarliest(t *testing.T) {
	o := availability.New(start, size(10, 100), size(1, 10))
	o.Occupy(size(4, 10), time.Hour, true)
	o.Occupy(size(4, 80), 2*time.Hour, true)
	for _, c := range []struct {
		cpu, mem int64
		length   time.Duration // 0: for good
		later    bool
		want     time.Duration // -1: never
	}{
		{1, 0, time.Minute, false, 0},
		{1, 0, time.Minute, true, time.Hour},
		{2, 0, time.Minute, false, time.Hour},
		{6, 0, time.Minute, false, 2 * time.Hour},
		{1, 1, 0, false, time.Hour}, // memory, after the first has gone
		{1, 11, time.Minute, false, 2 * time.Hour},
		{9, 90, 0, false, 2 * time.Hour},
		{10, 0, 0, false, -1},
		{11, 0, time.Second, false, -1},
		{0, 101, time.Second, false, -1},
	} {
		if got := at(t, o, size(c.cpu, c.mem), c.length, c.later); got != c.want {
			t.Errorf("%d CPU, %d MiB for %s: after %s, want %s", c.cpu, c.mem, c.length, got, c.want)
		}
	}
	if free := o.Free(start.Add(90 * time.Minute)); free != size(5, 10) {
		t.Errorf("%s are free after 90 minutes", free)
	}
}

// Reservations take CPU and memory beside what was taken before.
func TestReserve(t *testing.T) {
	o := availability.New(start, size(4, 4), cluster.Resources{})
	o.Occupy(size(3, 1), time.Hour, true)
	when, ok := o.Earliest(size(2, 2), 30*time.Minute, true, false)
	if !ok || when.Sub(start) != time.Hour {
		t.Fatalf("%s, %t", when, ok)
	}
	o.Reserve(when, size(2, 2), 30*time.Minute, true)
	if got := at(t, o, size(3, 1), time.Minute, false); got != 90*time.Minute {
		t.Errorf("three processors after %s", got)
	}
	if got := at(t, o, size(1, 3), time.Hour, false); got != 0 {
		t.Errorf("room beside it after %s", got)
	}
	if got := at(t, o, size(1, 3), time.Hour+time.Second, false); got != 90*time.Minute {
		t.Errorf("room that would last into it after %s", got)
	}
}

// Taking more than there is and distant instants are no errors.
func TestOverload(t *testing.T) {
	o := availability.New(start, size(2, 2), size(9, 9))
	o.Occupy(size(9, 9), time.Hour, true)
	if got := at(t, o, size(1, 1), time.Second, false); got != -1 {
		t.Errorf("there is room after %s", got)
	}
	o = availability.New(start, size(2, 2), cluster.Resources{})
	o.Occupy(size(2, 2), 1<<62, true)
	if when, ok := o.Earliest(size(1, 1), 0, false, false); !ok || when.Before(start.Add(100*365*24*time.Hour)) {
		t.Errorf("%s, %t", when, ok)
	}
}

// Compared with a search second by second.
func TestEarliestAgainstASearch(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 300 {
		const horizon = 60
		o := availability.New(start, size(8, 8), cluster.Resources{})
		var free [2][horizon]int64
		for s := range horizon {
			free[0][s], free[1][s] = 8, 8
		}
		take := func(from, to int, need cluster.Resources) {
			for s := from; s < min(to, horizon); s++ {
				free[0][s] -= int64(need.CPU) / 1000
				free[1][s] -= int64(need.Memory)
			}
		}
		for range 3 {
			need, length := size(rng.Int64N(3), rng.Int64N(3)), 1+rng.IntN(20)
			o.Occupy(need, time.Duration(length)*time.Second, true)
			take(0, length, need)
		}
		for range 6 {
			need, length := size(rng.Int64N(9), rng.Int64N(9)), 1+rng.IntN(10)
			want := 0
			for ok := false; !ok; want++ {
				ok = true
				for s := want; s < min(want+length, horizon); s++ {
					ok = ok && free[0][s] >= int64(need.CPU)/1000 && free[1][s] >= int64(need.Memory)
				}
			}
			want--
			when, ok := o.Earliest(need, time.Duration(length)*time.Second, true, false)
			if !ok || when.Sub(start) != time.Duration(want)*time.Second && want < horizon-length {
				t.Fatalf("%s for %ds: %s, %t; want %ds", need, length, when.Sub(start), ok, want)
			}
			o.Reserve(when, need, time.Duration(length)*time.Second, true)
			take(int(when.Sub(start)/time.Second), int(when.Sub(start)/time.Second)+length, need)
		}
	}
}

// Bookings take what there is, and Least finds shortages: compared with a count second by second.
func TestBookAgainstACount(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	for range 300 {
		const horizon = 80
		o := availability.New(start, size(8, 8), cluster.Resources{})
		var cpu, memory [horizon]int64
		for s := range horizon {
			cpu[s], memory[s] = 8, 8
		}
		take := func(from, to int, need cluster.Resources) {
			for s := from; s < to; s++ {
				cpu[s], memory[s] = max(0, cpu[s]-int64(need.CPU)/1000), max(0, memory[s]-int64(need.Memory))
			}
		}
		for range 8 {
			need, from, length := size(rng.Int64N(7), rng.Int64N(7)), rng.IntN(40), 1+rng.IntN(20)
			if rng.IntN(3) == 0 {
				o.Occupy(need, time.Duration(length)*time.Second, true)
				take(0, length, need)
				continue
			}
			o.Book(start.Add(time.Duration(from)*time.Second), need, time.Duration(length)*time.Second)
			take(from, from+length, need)
		}
		for range 8 {
			need, from, length := size(rng.Int64N(9), rng.Int64N(9)), rng.IntN(50), 1+rng.IntN(20)
			want := -1
			for s := from; s < from+length && want < 0; s++ {
				if cpu[s] < int64(need.CPU)/1000 || memory[s] < int64(need.Memory) {
					want = s
				}
			}
			when, free, short := o.FirstShortage(start.Add(time.Duration(from)*time.Second), time.Duration(length)*time.Second, need)
			switch {
			case short != (want >= 0):
				t.Fatalf("%s from %d for %d: %t, want %d", need, from, length, short, want)
			case short && (when.Sub(start) != time.Duration(want)*time.Second || free != size(cpu[want], memory[want])):
				t.Fatalf("%s from %d for %d: at %s %s are free; want %d, %d and %d", need, from, length, when, free, want, cpu[want], memory[want])
			}
			if when, ok := o.From(start.Add(time.Duration(from)*time.Second), need, time.Duration(length)*time.Second, true); ok {
				if _, _, short := o.FirstShortage(when, time.Duration(length)*time.Second, need); short || when.Before(start.Add(time.Duration(from)*time.Second)) {
					t.Fatalf("%s from %d for %d: there is no room at %s", need, from, length, when)
				}
			}
		}
	}
}
