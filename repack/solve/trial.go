package solve

import (
	"slices"

	"vjob/repack"
)

// Trial is a placement in the making that grows gang by gang: it tells a queue
// whether one more gang finds places beside those taken before. It knows every rule
// that the instance has, by the same guards as [Solve], and finds less than Solve
// does later; so what it takes can as a rule be placed. What it does not look at is
// the way there: a plan may still fail for want of a pivot.
//
// A trial is deterministic, and not safe for concurrent use.
type Trial struct {
	*state
	hosted   int // VMs taken
	taken    []item
	outgrown *group    // nodes that some of those who look for places shall leave out now
	roamed   int       // groups tried since somebody was taken
	circle   []int     // of each VM
	weight   [][]int64 // likewise; nil: no rule weighs them
	frugal   bool      // places are chosen by what they strain, and not by the room that is left
	dear     []float64 // what a unit of each resource is worth: much of what is scarce
	vain     []vain    // what was looked for in vain since something was taken
	bars     *bars     // nil until a reason needs them
	options  TrialOptions
	effort   int // how many more places may be looked for by moving others
	share    int // how many of them for this gang
}

// TrialOptions say how hard a [Trial] tries.
type TrialOptions struct {
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

// NewTrial begins with nobody placed but the VMs that stay: they count where they
// run. VMs may be taken if they are wanted running, and are nowhere until they are.
// Nodes that take nothing any more are said by rules: where all others are banned,
// those who run there may remain if nothing better is left.
//
// The error is an instance that is not one, or contradicts itself.
func NewTrial(in *repack.Instance, o TrialOptions) (*Trial, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	amended, err := in.Amended()
	if err != nil {
		return nil, err
	}
	return newTrial(newModel(amended, Completion), o), nil
}

func newTrial(m *model, o TrialOptions) *Trial {
	if o.Asked != nil {
		m.weigh(o.Asked)
	}
	t := &Trial{state: newState(m), circle: circles(m), weight: weights(m), options: o, effort: o.Effort}
	if t.effort == 0 {
		t.effort = DefaultEffort
	}
	for _, vm := range t.hot {
		if v := &t.in.VMs[vm]; v.Stays && v.State == repack.Running {
			t.move(vm, v.Host)
		}
	}
	t.openings = newOpenings(t.state)
	for d, average := range t.average {
		t.dear = append(t.dear, float64(t.scarcity[d])/float64(max(1, average)))
	}
	return t
}

// need is what a VM asks for.
func (t *Trial) need(vm int) []int64 { return t.next[vm*t.dims : (vm+1)*t.dims] }

// At is the node on which a VM has its place; Nowhere if it was not taken.
func (t *Trial) At(vm int) int { return t.at[vm] }

// Take adds VMs, as a rule those of one vjob, if all of them find places beside all
// taken before: where they are, where they fit best, or within the effort by moving
// others. If not, nothing changes, and the refusal says why. VMs that have a place
// already need no other.
func (t *Trial) Take(vms []int) (ok bool, why Refusal) {
	vms = slices.DeleteFunc(slices.Clone(vms), func(vm int) bool { return t.at[vm] != repack.Nowhere })
	t.note()
	defer func() { t.noted = false }()
	if why, refused := t.outright(vms); refused {
		return false, why
	}
	items := t.items(vms)
	if failed := t.seatAll(items, 0); failed >= 0 {
		why = t.reason(items[failed])
		if !t.rearrange(items) {
			t.back(0)
			t.despair(vms, why.VM)
			return false, why
		}
	}
	t.roamed = 0
	t.taken, t.hosted, t.vain = append(t.taken, items...), t.hosted+len(vms), t.vain[:0]
	return true, Refusal{}
}
