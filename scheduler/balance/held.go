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
func (st *state) explain(r *Round) {
	imbalance := st.imbalance()
	var list []int
	load := func(i int) (sum float64) {
		for _, kind := range st.resources {
			sum = max(sum, st.load(i, kind))
		}
		return sum
	}
	for i := range st.nodes {
		above := 0.0
		for _, kind := range st.resources {
			above = max(above, st.nodes[i].deviation[kind])
		}
		if !st.c.Nodes[i].Leaving && (st.hot(i) || imbalance > st.Threshold && above > st.Threshold/2) {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(load(b), load(a)) })
	least := st.LeastGain(imbalance, st.counted, len(st.c.VMs))
	full := st.MaxMoves > 0 && len(r.Moves) >= st.MaxMoves
	for _, i := range list[:min(len(list), mostHeld)] {
		h := Held{Node: i, Over: st.hot(i)}
		for _, k := range st.nodes[i].units {
			if len(h.Refused) == mostRefused {
				break
			}
			if st.units[k].fixed == moving {
				continue
			}
			h.Refused = append(h.Refused, st.refusal(k, least, full))
		}
		h.Why = st.why(&h)
		r.Held = append(r.Held, h)
	}
}

// refusal returns why a unit stays: the reason of the destination that got furthest, and of those the one that gains
// most.
func (st *state) refusal(k int, least float64, full bool) Refusal {
	u := &st.units[k]
	best := Refusal{VM: u.vms[0], To: -1, Kind: Fixed, Cost: u.cost, Reason: u.fixed}
	if u.fixed != "" {
		return best
	}
	best.Kind, best.Reason = NoGain, fmt.Sprintf("no move of it lowers the imbalance by %.2g", least)
	for to := range st.nodes {
		if to == u.node || st.c.Nodes[to].Leaving {
			continue
		}
		gain := st.gain(&u.size, &st.nodes[u.node].corner, &st.nodes[to].corner)
		if gain <= least {
			continue
		}
		kind, reason := st.judge(u, to, full)
		if kind > best.Kind || kind == best.Kind && gain > best.Gain {
			best.Kind, best.To, best.Gain, best.Reason = kind, to, gain, reason
			best.Benefit = st.benefit(u, to)
		}
	}
	return best
}

// judge returns what speaks against a move that gains enough.
func (st *state) judge(u *unit, to int, full bool) (Kind, string) {
	n := &st.c.Nodes[to]
	if n.Closed != "" {
		return NoRoom, n.Name + ": " + n.Closed
	}
	if why := st.lacks(u, to); why != "" {
		return NoRoom, why
	}
	if why := st.forbids(u, to); why != "" {
		return Rules, why
	}
	if benefit, cost := st.value(st.benefit(u, to)), st.value(u.cost); st.CostBenefit && benefit <= cost {
		return NotWorth, fmt.Sprintf("moving to %s brings %.3g s of an average node and costs %.3g s", n.Name, benefit, cost)
	}
	for _, i := range []int{u.node, to} {
		if why := st.atLimit(i); why != "" {
			return Limits, why
		}
	}
	if full {
		return Limits, fmt.Sprintf("a round has at most %d moves", st.MaxMoves)
	}
	return Limits, "the round ended before"
}

// why sums up the refusals of a node.
func (st *state) why(h *Held) string {
	if len(h.Refused) == 0 {
		return "all of its load are VMs that are on their way there"
	}
	var counts [Limits + 1]int
	first := map[Kind]*Refusal{}
	for i := range h.Refused {
		f := &h.Refused[i]
		counts[f.Kind]++
		if b := first[f.Kind]; b == nil || f.Kind == NotWorth && st.gap(f) < st.gap(b) {
			first[f.Kind] = f
		}
	}
	text := ""
	for kind := Limits; ; kind-- {
		if counts[kind] > 0 {
			if text != "" {
				text += "; "
			}
			text += fmt.Sprintf("%s: %s (%s)", phrase(counts[kind], kind), first[kind].Reason, st.c.VMs[first[kind].VM].Name)
		}
		if kind == Fixed {
			return text
		}
	}
}

// gap is how much more a move costs than it brings.
func (st *state) gap(f *Refusal) float64 { return st.value(f.Cost) - st.value(f.Benefit) }

func phrase(n int, kind Kind) string {
	what := map[Kind]string{
		Fixed: "fixed", NoGain: "without gain", NoRoom: "without room", Rules: "refused by rules",
		NotWorth: "not worth the cost", Limits: "kept back by limits",
	}[kind]
	return fmt.Sprintf("%d %s", n, what)
}
