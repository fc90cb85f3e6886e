// Package pattern decides what nodes hold if many VMs are alike. A pattern is how many VMs of each kind one node
// holds. How many nodes hold which pattern is a linear program, and its optimum is nearly always integral: the cutting
// stock problem with several kinds of stock (Gilmore, Gomory: A linear programming approach to the cutting-stock problem,
// Operations Research 9, 1961). What its dual prices prove is checked in integers, so rounding errors never prove anything.
//
// [New] lists the patterns, [Problem.Relax] solves the linear program (simplex.go), and [Problem.Fill] finds whole numbers
// of nodes by diving (dive.go).
package pattern

import (
	"slices"
)

// Kind is a set of VMs that need the same.
type Kind struct {
	Need  []int64 // by dimension, some above 0
	Count int64
	Bulk  int64 // how much of a node one takes, in any unit; at least 1
}

// Class is a set of nodes that are alike.
type Class struct {
	Room  []int64 // by dimension
	Count int64
	// Worth is, by kind, what the first, the second … VM of that kind on the node is worth, not increasing. VMs for which it has
	// no value are worth nothing.
	Worth [][]int64
}

// Problem is a problem with its patterns.
type Problem struct {
	Kinds   []Kind
	Classes []Class
	columns []column // class by class
}

// column is a pattern for the nodes of a class.
type column struct {
	class int
	vms   []int64 // VMs of each kind
	worth int64
}

// Bounds of the effort. More classes make each step of the simplex slower.
const (
	MaxKinds   = 24
	MaxClasses = 160
	maxSteps   = 20_000 // of the enumeration of patterns
	maxColumns = 10_000
)

// New returns a problem, the kinds in the order in which patterns are filled. It is not ok if that has too many classes or
// patterns, or no kinds.
func New(kinds []Kind, classes []Class) (p *Problem, ok bool) {
	if len(kinds) == 0 || len(kinds) > MaxKinds || len(classes) > MaxClasses {
		return nil, false
	}
	p = &Problem{Kinds: kinds, Classes: classes}
	type filled struct {
		room []int64
		ways [][]int64
	}
	var known []filled
	left := maxSteps
	for c := range classes {
		room := classes[c].Room
		at := slices.IndexFunc(known, func(f filled) bool { return slices.Equal(f.room, room) })
		if at < 0 {
			e := enumeration{kinds: kinds, room: slices.Clone(room), way: make([]int64, len(kinds)), left: left}
			e.fill(0)
			if left = e.left; left <= 0 {
				return nil, false
			}
			at, known = len(known), append(known, filled{room, e.ways})
		}
		for _, way := range known[at].ways {
			p.columns = append(p.columns, column{c, way, classes[c].worth(way)})
		}
		if len(p.columns) > maxColumns {
			return nil, false
		}
	}
	return p, true
}

// worth returns what the VMs of a pattern are worth.
func (c *Class) worth(way []int64) (sum int64) {
	for k, list := range c.Worth {
		for _, w := range list[:min(int64(len(list)), way[k])] {
			sum += w
		}
	}
	return sum
}

// enumeration lists the patterns of one node to which no VM can be added.
type enumeration struct {
	kinds []Kind
	room  []int64
	way   []int64
	ways  [][]int64
	left  int // steps
}

// fill adds VMs of a kind and of those after it.
func (e *enumeration) fill(k int) {
	if e.left--; e.left <= 0 {
		return
	}
	if k == len(e.kinds) {
		if !e.takesMore() {
			e.ways = append(e.ways, slices.Clone(e.way))
		}
		return
	}
	most := e.kinds[k].fits(e.room)
	take(e.room, e.kinds[k].Need, most)
	for e.way[k] = most; ; e.way[k]-- {
		e.fill(k + 1)
		if e.way[k] == 0 || e.left <= 0 {
			break
		}
		take(e.room, e.kinds[k].Need, -1)
	}
	take(e.room, e.kinds[k].Need, -e.way[k])
	e.way[k] = 0
}

// takesMore reports whether one more VM fits.
func (e *enumeration) takesMore() bool {
	for k := range e.kinds {
		if e.kinds[k].Count > e.way[k] && e.kinds[k].fits(e.room) > 0 {
			return true
		}
	}
	return false
}

// fits returns how many VMs of the kind fit into the room.
func (k *Kind) fits(room []int64) int64 {
	most := k.Count
	for d, need := range k.Need {
		if room[d] < 0 {
			return 0
		}
		if need > 0 {
			most = min(most, room[d]/need)
		}
	}
	return most
}

func take(room, need []int64, n int64) {
	for d := range room {
		room[d] -= n * need[d]
	}
}
