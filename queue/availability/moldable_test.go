package availability_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue/availability"
)

func shape(cpus int64, minutes int) availability.Shape {
	return availability.Shape{Need: cluster.Resources{CPU: cluster.MilliCPU(cpus * 1000)}, Length: time.Duration(minutes) * time.Minute}
}

// Eight of ten processors are taken for an hour.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name   string
		shapes []availability.Shape
		want   int // -1: none
		start  time.Duration
	}{
		{"small at once, and done before", []availability.Shape{shape(8, 60), shape(2, 100)}, 1, 0},
		{"large later, and done before", []availability.Shape{shape(2, 200), shape(8, 60)}, 1, time.Hour},
		{"equals: the first", []availability.Shape{shape(8, 60), shape(2, 120)}, 0, time.Hour},
		{"one is too large", []availability.Shape{shape(11, 1), shape(2, 500)}, 1, 0},
		{"all are too large", []availability.Shape{shape(11, 1), shape(12, 1)}, -1, 0},
	} {
		o := availability.New(noon, cluster.Resources{CPU: 10_000}, cluster.Resources{})
		o.Occupy(cluster.Resources{CPU: 8000}, time.Hour, true)
		got, start, ok := availability.ChooseShape(o, c.shapes, 0)
		if ok != (c.want >= 0) || ok && (got != c.want || start.Sub(noon) != c.start) {
			t.Errorf("%s: shape %d at %s, %t", c.name, got, start, ok)
		}
	}
}

// No other shape ends earlier, and no earlier one in the list at the same instant.
func TestNoneEndsBefore(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 5))
	for range 500 {
		o := availability.New(noon, cluster.Resources{CPU: 10_000}, cluster.Resources{})
		for range 4 {
			o.Book(noon.Add(time.Duration(rng.IntN(60))*time.Minute), shape(1+rng.Int64N(8), 0).Need, time.Duration(1+rng.IntN(60))*time.Minute)
		}
		var shapes []availability.Shape
		for range 1 + rng.IntN(4) {
			shapes = append(shapes, shape(1+rng.Int64N(12), 1+rng.IntN(100)))
		}
		gap := time.Duration(rng.IntN(3)) * time.Minute
		best, start, ok := availability.ChooseShape(o, shapes, gap)
		for i, s := range shapes {
			at, known := o.Earliest(s.Need, s.Length+gap, true, false)
			switch {
			case known && !ok:
				t.Fatalf("%v: shape %d can start, and none is chosen", shapes, i)
			case known && (at.Add(s.Length).Before(start.Add(shapes[best].Length)) || i < best && !at.Add(s.Length).After(start.Add(shapes[best].Length))):
				t.Fatalf("%v: %d is chosen, and %d ends at %s", shapes, best, i, at.Add(s.Length))
			}
		}
	}
}
