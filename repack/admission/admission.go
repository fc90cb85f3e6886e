// Package admission tests whether one gang after the other finds places on the nodes, for
// queues: it asks for places only, not for the way there.
//
// A [Test] knows every rule of the instance, by the same guards as package solve, and finds
// less than that does later; so what it takes can as a rule be placed.
package admission

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
)

// Test is a placement in the making that grows gang by gang: it tells a queue
// whether one more gang finds places beside those taken before. It knows every rule
// that the instance has, by the same guards as [Solve], and finds less than Solve
// does later; so what it takes can as a rule be placed. What it does not look at is
// the way there: a plan may still fail for want of a pivot.
//
// A trial is deterministic, and not safe for concurrent use.
type Test struct{ search *search }

// search is a placement in the making, and what the search for places keeps besides.
type search struct {
	*placement.State
	placedVMs      int // VMs taken
	placedItems    []item
	excludedGroup  *nodeGroup // nodes that some of those who look for places shall leave out now
	groupsTried    int        // groups tried since somebody was taken
	exclusionClass []int      // of each VM
	weight         [][]int64  // likewise; nil: no rule weighs them
	leastStrain    bool       // places are chosen by what they strain, and not by the room that is left
	resourceWorth  []float64  // what a unit of each resource is worth: much of what is scarce
	noFit          []noFit    // what was looked for in vain since something was taken
	ruleIndex      *ruleIndex // nil until a reason needs them
	options        Options
	effort         int // how many more places may be looked for by moving others
	share          int // how many of them for this gang
}

// Options say how hard a [Test] tries.
type Options struct {
	// Effort bounds the work of moving those who were taken before to make room for
	// others, over the life of the trial: so many times a place is looked for. 0 is
	// [DefaultEffort], less is none.
	Effort int
	// Asked is what all who may ever ask for places need in sum, by dimension: what is
	// scarce is weighed by it. Nil: the VMs of the instance.
	Asked []int64
}

// DefaultEffort keeps a pass over 1,000 gangs of 10 VMs on 1,000 nodes under 100 ms.
const DefaultEffort = 4096

// New begins with nobody placed but the VMs that stay: they count where they
// run. VMs may be taken if they are wanted running, and are nowhere until they are.
// Nodes that take nothing any more are said by rules: where all others are banned,
// those who run there may remain if nothing better is left.
//
// The error is an instance that is not one, or contradicts itself.
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
	t := &search{State: placement.New(m), exclusionClass: exclusionClasses(m), weight: weights(m), options: o, effort: o.Effort}
	if t.effort == 0 {
		t.effort = DefaultEffort
	}
	for _, vm := range t.Wanted {
		if v := &t.In.VMs[vm]; v.Stays && v.State == repack.Running {
			t.Move(vm, v.Host)
		}
	}
	t.Free = placement.NewFreeIndex(t.State)
	for d, average := range t.Average {
		t.resourceWorth = append(t.resourceWorth, float64(t.Scarcity[d])/float64(max(1, average)))
	}
	return &Test{t}
}

// need is what a VM asks for.
func (t *search) need(vm int) []int64 { return t.Next[vm*t.Dims : (vm+1)*t.Dims] }

// At is the node on which a VM has its place; Nowhere if it was not taken.
func (test *Test) At(vm int) int { return test.search.NodeOf[vm] }

// Take adds VMs, as a rule those of one vjob, if all of them find places beside all
// taken before: where they are, where they fit best, or within the effort by moving
// others. If not, nothing changes, and the refusal says why. VMs that have a place
// already need no other.
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
		if !t.rearrange(items) {
			t.RollBack(0)
			t.rememberRefusal(vms, why.VM)
			return false, why
		}
	}
	t.groupsTried = 0
	t.placedItems, t.placedVMs, t.noFit = append(t.placedItems, items...), t.placedVMs+len(vms), t.noFit[:0]
	return true, Refusal{}
}
