package balance

import (
	"cmp"
	"fmt"
	"slices"
)

// Held is a node that is loaded after the round, and what holds its VMs there.
type Held struct {
	Node    int
	Over    bool // the node is over its capacity
	Refused []Refusal
	Why     string
}

// Kind is what kind of reason holds a VM where it is.
type Kind uint8

// The kinds, in the order of how far a move got.
const (
	Fixed    Kind = iota // the VM may not move
	NoGain               // no move lowers the imbalance by the minimum goodness
	NoRoom               // the nodes that would be better have no room, or take no VMs
	Rules                // rules forbid the nodes that would be better and have room
	NotWorth             // the best move costs more than it brings
	Limits               // the round has as many moves as it may
)

// String is the kind as a word of JSON.
func (k Kind) String() string {
	return [...]string{"fixed", "no_gain", "no_room", "rules", "not_worth", "limits"}[k]
}

// Refusal is a VM that does not move, or the first of a group, and why.
type Refusal struct {
	VM            int
	To            int // the best destination of those that got furthest; -1 without one
	Kind          Kind
	Gain          float64
	Benefit, Cost Effort
	Reason        string
}

// Of so many nodes, and so many VMs of each, a round says what holds them back.
const (
	mostHeld    = 20
	mostRefused = 50
)

// explain lists the nodes that stay over their capacity, and if the imbalance is not tolerated those that are
// loaded above the mean by more than half of what is tolerated.
func (b *balancer) explain() {
	r, imbalance := b.round, b.loads.imbalance()
	var list []int
	load := func(i int) (sum float64) {
		for _, kind := range b.loads.resources {
			sum = max(sum, b.loads.load(i, kind))
		}
		return sum
	}
	for i := range b.c.Nodes {
		above := 0.0
		for _, kind := range b.loads.resources {
			above = max(above, b.loads.nodes[i].deviation[kind])
		}
		if !b.c.Nodes[i].Leaving && (b.loads.hot(i) || imbalance > b.Threshold && above > b.Threshold/2) {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(load(b), load(a)) })
	least := b.LeastGain(imbalance, b.loads.counted, len(b.c.VMs))
	full := b.MaxMoves > 0 && len(r.Moves) >= b.MaxMoves
	if len(list) > 0 {
		b.searching() // it knows what moves are worth
	}
	for _, i := range list[:min(len(list), mostHeld)] {
		h := Held{Node: i, Over: b.loads.hot(i)}
		for _, k := range b.layout.on[i] {
			if len(h.Refused) == mostRefused {
				break
			}
			if b.layout.units[k].fixed == moving {
				continue
			}
			h.Refused = append(h.Refused, b.refusal(k, least, full))
		}
		h.Why = b.why(&h)
		r.Held = append(r.Held, h)
	}
}

// refusal returns why a unit stays: the reason of the destination that got furthest, and of those the one that gains
// most.
func (b *balancer) refusal(k int, least float64, full bool) Refusal {
	u := &b.layout.units[k]
	best := Refusal{VM: u.vms[0], To: -1, Kind: Fixed, Cost: u.cost, Reason: u.fixed}
	if u.fixed != "" {
		return best
	}
	best.Kind = NoGain
	relief := b.demands.relief(u)
	for to := range b.c.Nodes {
		if to == u.node || b.c.Nodes[to].Leaving {
			continue
		}
		gain := b.loads.gainTo(u, to)
		if gain <= least || best.Kind == Limits && gain <= best.Gain {
			continue
		}
		if kind := b.judge(u, relief, to); kind > best.Kind || kind == best.Kind && gain > best.Gain {
			best.Kind, best.To, best.Gain = kind, to, gain
		}
	}
	if best.Kind == NoGain {
		best.Reason = fmt.Sprintf("no move of it lowers the imbalance by %.2g", least)
		return best
	}
	best.Benefit = b.demands.benefitOf(u, relief, best.To)
	best.Reason = b.against(u, &best, full)
	return best
}

// judge returns what kind of reason speaks against a move that gains enough.
func (b *balancer) judge(u *unit, relief outlook, to int) Kind {
	switch {
	case b.c.Nodes[to].Closed != "" || !b.limits.hasRoom(u, to):
		return NoRoom
	case b.limits.forbids(u, to) != "":
		return Rules
	case b.CostBenefit && b.demands.value(b.demands.benefitOf(u, relief, to)) <= b.demands.value(u.cost):
		return NotWorth
	default:
		return Limits
	}
}

// against returns what speaks against the best move of a unit.
func (b *balancer) against(u *unit, best *Refusal, full bool) string {
	n := &b.c.Nodes[best.To]
	switch {
	case best.Kind == NoRoom && n.Closed != "":
		return n.Name + ": " + n.Closed
	case best.Kind == NoRoom:
		return b.limits.lacks(u, best.To)
	case best.Kind == Rules:
		return b.limits.forbids(u, best.To)
	case best.Kind == NotWorth:
		return fmt.Sprintf("moving to %s brings %.3g s of an average node and costs %.3g s", n.Name, b.demands.value(best.Benefit), b.demands.value(u.cost))
	}
	for _, i := range []int{u.node, best.To} {
		if why := b.limits.atLimit(i); why != "" {
			return why
		}
	}
	if full {
		return fmt.Sprintf("a round has at most %d moves", b.MaxMoves)
	}
	return "the round ended before"
}

// why sums up the refusals of a node.
func (b *balancer) why(h *Held) string {
	if len(h.Refused) == 0 {
		return "all of its load are VMs that are on their way there"
	}
	var counts [Limits + 1]int
	first := map[Kind]*Refusal{}
	for i := range h.Refused {
		f := &h.Refused[i]
		counts[f.Kind]++
		if known := first[f.Kind]; known == nil || f.Kind == NotWorth && b.gap(f) < b.gap(known) {
			first[f.Kind] = f
		}
	}
	text := ""
	for kind := Limits; ; kind-- {
		if counts[kind] > 0 {
			if text != "" {
				text += "; "
			}
			text += fmt.Sprintf("%s: %s (%s)", phrase(counts[kind], kind), first[kind].Reason, b.c.VMs[first[kind].VM].Name)
		}
		if kind == Fixed {
			return text
		}
	}
}

// gap is how much more a move costs than it brings.
func (b *balancer) gap(f *Refusal) float64 {
	return b.demands.value(f.Cost) - b.demands.value(f.Benefit)
}

func phrase(n int, kind Kind) string {
	what := map[Kind]string{
		Fixed: "fixed", NoGain: "without gain", NoRoom: "without room", Rules: "refused by rules",
		NotWorth: "not worth the cost", Limits: "kept back by limits",
	}[kind]
	return fmt.Sprintf("%d %s", n, what)
}
