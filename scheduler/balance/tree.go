package balance

import (
	"cmp"
	"math"
	"slices"
)

// tree has the nodes that take VMs in nested boxes. The corner of a box bounds the gain of a move to any node in it,
// so that the best destination is found by looking into few boxes.
type tree struct {
	loads  *loads
	limits *limits
	order  []int // nodes, box by box
	boxes  []box // each before those in it
}

// box is a range of the order.
type box struct {
	from, to int // in the order
	right    int // index of the second half, the first half is the next box; 0 if it is not divided
	first    int // the least index of its nodes
	corner
}

// leafSize is up to how many nodes a box is not divided.
const leafSize = 6

func newTree(st *state) tree {
	t := tree{loads: &st.loads, limits: &st.limits}
	for i := range st.c.Nodes {
		if st.c.Nodes[i].Closed == "" && !st.c.Nodes[i].Leaving {
			t.order = append(t.order, i)
		}
	}
	if len(t.order) > 0 {
		t.divide(0, len(t.order))
	}
	t.refresh()
	return t
}

// divide makes the boxes of a range. It halves the range by the capacities if they differ, else by the load that
// differs most.
func (t *tree) divide(from, to int) {
	at := len(t.boxes)
	t.boxes = append(t.boxes, box{from: from, to: to})
	if to-from <= leafSize {
		return
	}
	part := t.order[from:to]
	by := t.widest(part)
	slices.SortFunc(part, func(a, b int) int { return cmp.Or(cmp.Compare(by(a), by(b)), cmp.Compare(a, b)) })
	half := (from + to) / 2
	t.divide(from, half)
	t.boxes[at].right = len(t.boxes)
	t.divide(half, to)
}

// widest returns the value by which nodes differ most.
func (t *tree) widest(part []int) func(i int) float64 {
	var best func(i int) float64
	most := -1.0
	for _, r := range t.loads.resources {
		for _, by := range []func(i int) float64{
			func(i int) float64 { return 100 * t.loads.nodes[i].corner.inverse[r] * t.loads.average[r] },
			func(i int) float64 { return t.loads.nodes[i].corner.pull[r] * t.loads.average[r] },
		} {
			low, high := by(part[0]), by(part[0])
			for _, i := range part {
				low, high = min(low, by(i)), max(high, by(i))
			}
			if high-low > most {
				best, most = by, high-low
			}
		}
	}
	return best
}

// refresh computes the corners of all boxes.
func (t *tree) refresh() {
	for k := len(t.boxes) - 1; k >= 0; k-- {
		b := &t.boxes[k]
		if b.right > 0 {
			left, right := &t.boxes[k+1], &t.boxes[b.right]
			b.corner, b.first = left.corner, min(left.first, right.first)
			b.lower(&right.corner)
			continue
		}
		b.corner, b.first = nowhere, t.order[b.from]
		for _, i := range t.order[b.from:b.to] {
			if !t.limits.full(i) {
				b.lower(&t.loads.nodes[i].corner)
			}
			b.first = min(b.first, i)
		}
	}
}

// nowhere is the corner of no node: no move to it gains anything.
var nowhere = func() (c corner) {
	for r := range c.pull {
		c.pull[r], c.inverse[r] = math.Inf(1), math.Inf(1)
	}
	return c
}()

// lower sets each value to the less of two.
func (c *corner) lower(o *corner) {
	for r := range c.pull {
		c.pull[r], c.inverse[r] = min(c.pull[r], o.pull[r]), min(c.inverse[r], o.inverse[r])
	}
}
