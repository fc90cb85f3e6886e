package availability

import (
	"math/bits"

	"vjob/cluster"
)

// noFitCache remembers before which instants so much never fits. Since capacity is only taken, whatever
// needs as much for as long, or more, does not fit before either: in a long queue of similar vjobs most
// searches end at once.
//
// It is a table over classes of CPU, memory and length, four to a doubling, with prefix maxima
// (Fenwick 1994), so that a class includes smaller ones.
type noFitCache struct {
	unit  [dimensions]int  // in bits: smaller differences do not count
	start []*[classes]Time // by classes of CPU and memory; nil: zeros
}

const (
	dimensions = 3
	classBits  = 6
	classes    = 1 << classBits // in each dimension
	classWidth = classes/4 + 1  // in bits: the first amount beyond them
	lengthUnit = 5              // half a minute; the longest class is 48 days
)

// amounts are the CPU, memory and seconds of a request.
type amounts [dimensions]int64

func newNoFitCache(total cluster.Resources) *noFitCache {
	unit := func(most int64) int { return max(0, bits.Len64(uint64(most))-classWidth) }
	return &noFitCache{
		unit:  [dimensions]int{unit(int64(total.CPU)), unit(int64(total.Memory)), lengthUnit},
		start: make([]*[classes]Time, classes*classes),
	}
}

// class returns the last class that begins at no more than so many units.
func class(units int64) int {
	if units < 4 {
		return int(max(0, units))
	}
	octave := bits.Len64(uint64(units)) - 3
	return min(classes-1, octave*4+int(units>>octave))
}

// begins returns the least number of units of a class.
func begins(class int) int64 {
	if class < 4 {
		return int64(class)
	}
	return int64(4+class%4) << (class/4 - 1)
}

// earliest returns an instant before which the request certainly does not fit.
func (m *noFitCache) earliest(a amounts) (start Time) {
	var c [dimensions]int
	for d := range c {
		c[d] = class(a[d]>>m.unit[d]) + 1
	}
	for i := c[0]; i > 0; i &= i - 1 {
		for j := c[1]; j > 0; j &= j - 1 {
			row := m.start[cell(i, j)]
			for k := c[2]; row != nil && k > 0; k &= k - 1 {
				start = max(start, row[k-1])
			}
		}
	}
	return start
}

// add records that a request does not fit before an instant.
func (m *noFitCache) add(a amounts, start Time) {
	var c [dimensions]int
	for d := range c {
		units := (a[d]-1)>>m.unit[d] + 1 // rounded up: valid for the whole class
		if c[d] = class(units) + 1; begins(c[d]-1) < units {
			c[d]++
		}
	}
	for i := c[0]; i <= classes; i += i & -i {
		for j := c[1]; j <= classes; j += j & -j {
			row := m.start[cell(i, j)]
			if row == nil {
				row = &[classes]Time{}
				m.start[cell(i, j)] = row
			}
			for k := c[2]; k <= classes; k += k & -k {
				row[k-1] = max(row[k-1], start)
			}
		}
	}
}

// cell returns the index of two classes, which count from 1.
func cell(i, j int) int { return (i-1)<<classBits + j - 1 }
