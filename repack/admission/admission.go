// Package admission tests whether one gang after the other finds places on the nodes, for
// queues: it looks for places only, and not for a plan.
//
// A [Test] checks every rule of the instance, by the same guards as package solve, and searches less
// than that package. So the planner can usually place what the test takes.
package admission

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
)

// Test is a placement that grows gang by gang, see [Test.Take]. A plan to it may still fail,
// for instance for want of a pivot.
//
// A Test is deterministic, and not safe for concurrent use.
type Test struct{ search *search }

// search is the placement of a test, and what the search for places keeps besides.
type search struct {
	itemBuilder
	placedVMs      int // number of VMs taken
	placedItems    []item
	excludedGroup  *nodeGroup // nodes that some VMs must leave out now
	groupsTried    int        // since the last VMs were taken
	exclusionClass []int      // by VM
	weight         [][]int64  // by VM; nil if no rule weighs them
	leastStrain    bool       // places are chosen by least strain, and not by the room left
	resourceWorth  []float64  // by dimension: more for scarce resources
	noFit          []noFit    // failed searches since the last VMs were taken
	ruleIndex      *ruleIndex // nil until a refusal needs it
	options        Options
	effort         int // how many more places may be searched by moving other VMs
	share          int // the part of effort for this gang
}

// Options say how hard a [Test] tries.
type Options struct {
	// Effort bounds the work of moving VMs to make room for others, over the life of the test,
	// in searches for a place. 0 is [DefaultEffort], negative forbids moves.
	Effort int
	// Asked is the demand of all VMs that may ever ask for places, by dimension; it weighs
	// what is scarce. Nil means the VMs of the instance.
	Asked []int64
}

// DefaultEffort keeps a pass over 1,000 gangs of 10 VMs on 1,000 nodes under 100 ms.
const DefaultEffort = 4096

// New returns a test in which only the VMs that stay are placed, where they run. Other VMs
// that are wanted running have no place until they are taken. To close a node, ban all other
// VMs from it: the VMs that run there may remain if nothing better is left.
//
// The error is an instance that is not valid, or contradicts itself.
func New(in *repack.Instance, o Options) (*Test, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	amended, err := in.Amended()
	if err != nil {
		return nil, err
	}
	return Of(problem.New(amended, repack.Completion), o), nil
}

// Of is [New] for a prepared problem.
func Of(m *problem.Problem, o Options) *Test {
	if o.Asked != nil {
		m.SetScarcity(o.Asked)
	}
	t := &search{itemBuilder: itemBuilder{placement.New(m)}, exclusionClass: exclusionClasses(m), weight: weights(m), options: o, effort: o.Effort}
	if t.effort == 0 {
		t.effort = DefaultEffort
	}
	for _, vm := range t.Wanted {
		if stays(t.Problem, vm) {
			t.Move(vm, t.In.VMs[vm].Host)
		}
	}
	t.Free, t.placedItems = placement.NewFreeIndex(t.State), make([]item, 0, len(t.Wanted))
	for d, average := range t.Average {
		t.resourceWorth = append(t.resourceWorth, float64(t.Scarcity[d])/float64(max(1, average)))
	}
	return &Test{t}
}

// At returns the node of a VM; Nowhere if it was not taken.
func (test *Test) At(vm int) int { return test.search.NodeOf[vm] }

// Take adds VMs, usually those of one vjob, if all of them find places beside those taken
// before: where they are, where they fit best, or within the effort by moving others.
// Otherwise nothing changes, and the refusal says why. VMs that already have a place keep it.
func (test *Test) Take(vms []int) (ok bool, why Refusal) {
	t := test.search
	vms = slices.DeleteFunc(slices.Clone(vms), func(vm int) bool { return t.NodeOf[vm] != repack.Nowhere })
	t.Record()
	defer func() { t.Recording = false }()
	if why, refused := t.immediateRefusal(vms); refused {
		return false, why
	}
	items := t.items(vms)
	if failed := t.seatAll(items, 0); failed >= 0 {
		why = t.reason(items[failed])
		if !(rearranger{t}).rearrange(items) {
			t.RollBack(0)
			t.rememberRefusal(vms, why.VM)
			return false, why
		}
	}
	t.groupsTried = 0
	t.placedItems, t.placedVMs, t.noFit = append(t.placedItems, items...), t.placedVMs+len(vms), t.noFit[:0]
	return true, Refusal{}
}
