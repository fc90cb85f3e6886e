package predictor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/internal/predictor"
)

var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// watch shows a demand a need every few seconds and counts how often it changes its mind.
func watch(d *predictor.Predictor, from time.Time, every time.Duration, needs ...cluster.MilliCPU) (end time.Time, changes int) {
	for i, cpu := range needs {
		end = from.Add(time.Duration(i) * every)
		if d.Add(end, cpu) {
			changes++
		}
	}
	return end, changes
}

func repeat(n int, pattern ...cluster.MilliCPU) (list []cluster.MilliCPU) {
	for range n {
		list = append(list, pattern...)
	}
	return list
}

func TestSteadyNeedIsExpected(t *testing.T) {
	for _, cpu := range []cluster.MilliCPU{0, 100, 250, 1000, 3999} {
		var d predictor.Predictor
		if _, seen := d.Expected(); seen {
			t.Error("something was seen before anything was")
		}
		_, changes := watch(&d, start, 5*time.Second, repeat(500, cpu)...)
		want := (cpu + predictor.Step - 1) / predictor.Step * predictor.Step
		if got, seen := d.Expected(); got != want || !seen || changes != 1 {
			t.Errorf("%d: expected %d after %d changes, want %d after 1", cpu, got, changes, want)
		}
	}
}

// A VM that computes for ten seconds out of thirty keeps the room for it, and the
// scheduler is not told each time.
func TestBurstsKeepTheirRoom(t *testing.T) {
	var d predictor.Predictor
	end, _ := watch(&d, start, 10*time.Second, repeat(60, 1000, 0, 0)...)
	_, changes := watch(&d, end.Add(10*time.Second), 10*time.Second, repeat(60, 1000, 0, 0)...)
	if got, _ := d.Expected(); got < 1000 || got > 1500 || changes > 0 {
		t.Errorf("expected %d, %d changes", got, changes)
	}
}

func TestGoesUpAtOnceAndComesDownSlowly(t *testing.T) {
	var d predictor.Predictor
	end, _ := watch(&d, start, 5*time.Second, repeat(100, 100)...)
	d.Add(end.Add(5*time.Second), 2000)
	if got, _ := d.Expected(); got != 2000 {
		t.Errorf("expected %d at once, want 2000", got)
	}
	end, _ = watch(&d, end.Add(10*time.Second), 5*time.Second, repeat(120, 2000)...) // ten minutes
	d.Add(end.Add(5*time.Second), 0)
	if got, _ := d.Expected(); got < 2000 {
		t.Errorf("expected %d right after it came to rest, want 2000", got)
	}
	end, _ = watch(&d, end.Add(10*time.Second), 5*time.Second, repeat(12, 0)...)
	if got, _ := d.Expected(); got < 1500 {
		t.Errorf("expected %d a minute after, want 1500 at least", got)
	}
	watch(&d, end, 5*time.Second, repeat(360, 0)...) // half an hour
	if got, _ := d.Expected(); got != 0 {
		t.Errorf("expected %d half an hour after, want nothing", got)
	}
}

// Whatever is seen, at whatever times: never less than now, never more than the most
// that was seen and two deviations, which are the range at most.
func TestBounds(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		var d predictor.Predictor
		at, low, high := start, cluster.MilliCPU(math.MaxInt32), cluster.MilliCPU(0)
		for range 200 {
			cpu := cluster.MilliCPU(rng.IntN(8000))
			low, high = min(low, cpu), max(high, cpu)
			at = at.Add(time.Duration(rng.IntN(100_000)) * time.Millisecond)
			d.Add(at, cpu)
			got, _ := d.Expected()
			if got < cpu || got > high+(high-low)+2*predictor.Step || got%predictor.Step != 0 {
				t.Fatalf("expected %d, seen %d to %d, now %d", got, low, high, cpu)
			}
		}
	}
}

// How often it is looked at changes little: as much as the prediction lags behind.
func TestLooksDoNotMatter(t *testing.T) {
	often, seldom := predictor.Predictor{}, predictor.Predictor{}
	for s := range 3600 {
		cpu := cluster.MilliCPU(0)
		if s/60%3 == 0 {
			cpu = 2000
		}
		at := start.Add(time.Duration(s) * time.Second)
		often.Add(at, cpu)
		if s%30 == 0 {
			seldom.Add(at, cpu)
		}
	}
	a, _ := often.Expected()
	b, _ := seldom.Expected()
	if diff := a - b; diff < -400 || diff > 400 {
		t.Errorf("looked at each second %d, each half minute %d", a, b)
	}
}

func ExamplePredictor() {
	var d predictor.Predictor
	for minute := range 20 {
		d.Add(start.Add(time.Duration(minute)*time.Minute), cluster.MilliCPU(1000*(minute%2)))
	}
	d.Add(start.Add(20*time.Minute), 0)
	cpu, _ := d.Expected()
	fmt.Printf("it needs nothing now, and is expected to need %s CPU\n", cpu)
	// Output: it needs nothing now, and is expected to need 1.6 CPU
}
