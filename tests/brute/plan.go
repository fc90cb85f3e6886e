package brute

import (
	"slices"
	"strings"

	"vjob/repack"
)

// Answer is what an exhaustive search for plans tells.
type Answer struct {
	Plan *repack.Plan // the cheapest one below the limit; nil: none
	Cost int64        // objective and penalties of the plan
	Done bool         // everything was tried, so what is not found does not exist
}

// NoLimit is the limit of a search for any plan.
const NoLimit = int64(1) << 60

// Cheapest returns the cheapest plan in the sum of completion times that costs less than a limit. It
// looks at every state to which plans lead, the most promising first, but at no more than some. It
// knows nothing of a solver: what rules mean and what a plan costs, package repack says on partial
// plans. Every action takes some time, and there is no network. What a gang does together takes no longer
// than each VM alone, so none of it waits for a transfer slot.
//
// A plan has the actions that the planner knows: VMs that end running may migrate and, if they are
// sleepable, be suspended and resumed, as often as it takes; all others do only what their state asks
// for. What comes to a node fits beside what is there; to a node that is over its capacity at first it
// may come as long as that does not rise.
func Cheapest(in *repack.Instance, limit int64, states int) Answer {
	in, err := in.Amended()
	if err != nil {
		return Answer{Done: true}
	}
	s := newSearch(in, limit, states)
	return s.run()
}

// Reachable looks for any plan, one action after the other. Rules that look at times are not for it,
// see [Timeless].
func Reachable(in *repack.Instance, states int) Answer {
	in, err := in.Amended()
	if err != nil {
		return Answer{Done: true}
	}
	s := newSearch(in, NoLimit, states)
	s.oneByOne = true
	return s.run()
}

// timed are the rules that look at more than what is where.
var timed = []string{"deadline", "noDelay", "precedence", "seq", "serialize", "sync", "syncEnd", "maxOnline"}

// Timeless reports whether times do not matter: to hard rules, gangs, limits of transfers, or nodes that are
// over their capacity and come down.
func Timeless(in *repack.Instance) bool {
	return !hasRule(in, timed...) && len(in.Gangs)+len(in.Overloaded()) == 0 && !in.LimitsTransfers()
}

func hasRule(in *repack.Instance, names ...string) bool {
	return slices.ContainsFunc(in.Rules, func(r repack.Posted) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(r.String(), "> "), "(")
		return slices.Contains(names, name)
	})
}

// rooted returns the VMs that a hard rule keeps from migrating: they show a breach if they do.
func rooted(in *repack.Instance) []bool {
	list := make([]bool, len(in.VMs))
	for vm := range in.VMs {
		v := &in.VMs[vm]
		if v.State != repack.Running {
			continue
		}
		list[vm] = v.Stays
		for n := range in.Nodes {
			for _, r := range in.Rules {
				if n == v.Host || r.Penalty > 0 || !strings.Contains(r.String(), "root(") {
					continue
				}
				t, _ := repack.Trace(in, &repack.Plan{Actions: []repack.Action{
					{Kind: repack.Migrate, VM: vm, From: v.Host, To: n, End: v.Takes.Migrate},
				}})
				list[vm] = list[vm] || len(r.Check(t)) > 0
			}
		}
	}
	return list
}

// barred returns the nodes on which each VM may not end, as a hard rule would be broken even if no
// other VM ran.
func barred(in *repack.Instance) [][]bool {
	alone := *in
	alone.VMs = slices.Clone(in.VMs)
	for vm := range alone.VMs {
		v := &alone.VMs[vm]
		v.State, v.Want, v.Host = repack.Ready, repack.Ready, repack.Nowhere
	}
	count := func(t *repack.Timeline, r repack.Posted) (breaches int) {
		for _, b := range r.Check(t) {
			if b.At == repack.Forever {
				breaches++
			}
		}
		return breaches
	}
	empty, _ := repack.Trace(&alone, &repack.Plan{})
	list := make([][]bool, len(in.VMs))
	for vm := range list {
		list[vm] = make([]bool, len(in.Nodes))
		for n := range in.Nodes {
			list[vm][n] = in.Nodes[n].Want == repack.Offline
			before := alone.VMs[vm]
			v := &alone.VMs[vm]
			v.State, v.Want, v.Host, v.Now = repack.Running, repack.Running, n, in.VMs[vm].Next
			t, _ := repack.Trace(&alone, &repack.Plan{})
			for _, r := range in.Rules {
				if r.Penalty == 0 && count(empty, r) == 0 && count(t, r) > 0 {
					list[vm][n] = true
				}
			}
			alone.VMs[vm] = before
		}
	}
	return list
}
