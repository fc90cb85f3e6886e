package ctxswitch

import (
	"fmt"
	"math/rand/v2"

	"vjob/cluster"
	"vjob/queue"
)

// Greedy is the planner that answers at once. VMs stay where they are if they
// can; the others get the node that they fill best. When that fails, everything
// is packed anew in several orders. The plan to the first target found is built
// action by action, see [Plan]. It is a value without state.
type Greedy struct {
	// Attempts is how many packings are tried; 0 is [DefaultAttempts].
	Attempts int
}

// DefaultAttempts is one packing that leaves VMs alone, one in order of priority,
// four that pack everything anew, and some whose order the seed gives.
const DefaultAttempts = 12

var _ Planner = Greedy{}

// Plan returns a plan to the first target that a packing finds and that can be
// reached. The error is a *[NoPlan].
func (g Greedy) Plan(p Problem) (Plan, error) {
	s, err := newSurvey(p)
	if err != nil {
		return Plan{}, err
	}
	base := s.layout()
	members := s.members(base)
	base.scarce = scarcest(members, base.capacity())
	items := gather(base, members)
	attempts := g.Attempts
	if attempts == 0 {
		attempts = DefaultAttempts
	}
	var why *NoPlan
	for i := range attempts {
		target := base.clone()
		if failed := target.attempt(i, items, p.Seed); failed != nil {
			// The packing in order of priority knows best whose wish is one too many.
			if why == nil || i == byPriority {
				why = target.refusal(failed, attempts)
			}
			continue
		}
		plan, stuck := s.plan(target)
		if stuck == nil {
			return plan, nil
		}
		if why == nil {
			why = stuck
		}
	}
	return Plan{}, why
}

// byPriority is the number of the attempt that places vjob after vjob.
const byPriority = 1

// attempt places all items in the i-th way and returns the one that failed.
func (l *layout) attempt(i int, items []*item, seed uint64) (failed *item) {
	switch i {
	case 0:
		return l.disturbLittle(items)
	case byPriority:
		return l.squeeze(sorted(items, foremost(l.scarce)))
	case 2, 4:
		return l.seatAll(sorted(items, hardest(l.scarce)), i == 2)
	case 3, 5:
		return l.seatAll(sorted(items, widest(l.capacity())), i == 3)
	default:
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		return l.seatAll(shuffled(items, rng), i%2 == 0)
	}
}

// disturbLittle leaves what can stay, the dearest to move first, and only then
// looks for room for the others.
func (l *layout) disturbLittle(items []*item) (failed *item) {
	var others []*item
	for _, it := range sorted(items, dearest) {
		if it.whole && l.admits(it, it.home) {
			l.put(it, it.home)
		} else {
			others = append(others, it)
		}
	}
	return l.squeeze(sorted(others, hardest(l.scarce)))
}

// refusal says in words and numbers why the item has no place.
func (l *layout) refusal(it *item, attempts int) *NoPlan {
	what := fmt.Sprintf("VM %s (%s)", it.vms[0], it.need)
	if len(it.vms) > 1 {
		what = fmt.Sprintf("its %d gathered VMs (%s)", len(it.vms), it.need)
	}
	return &NoPlan{VJob: it.vms[0].VJob, Reason: fmt.Sprintf("vjob %s: no place for %s in %d packings: %s",
		it.vms[0].VJob, what, attempts, l.shortage(it, it.need))}
}

// shortage says why the item has no place when the vjob needs so much in sum.
func (l *layout) shortage(it *item, sum cluster.Resources) queue.Shortage {
	var short queue.Shortage
	missing := sum.Minus(l.total())
	short.Missing = cluster.Resources{CPU: max(0, missing.CPU), Memory: max(0, missing.Memory)}
	if !short.Missing.IsZero() || it == nil {
		return short
	}
	for n := range l.nodes {
		if l.nodes[n].Hosts() && fits(it.need, l.free[n]) {
			if r := l.forbids(it, n); r != nil {
				short.Rule = r.String()
				return short
			}
		}
	}
	return short
}
