// Package tiny generates random repacking problems that are small enough to be solved exhaustively:
// three to six nodes and four to nine VMs.
package tiny

import (
	"math/rand/v2"
	"slices"

	"vjob/repack"
	"vjob/repack/rule"
)

// Family is what a problem has most of.
type Family uint8

// The families. Mixed problems have rules of all kinds, VMs in all states and nodes that go off or
// come on. Those of Swaps have little free room, and most VMs must change places. Soft is Mixed with
// soft rules, Gangs is Mixed with gangs and nodes that carry few transfers at once,
// Crowded is Mixed with nodes that are over their capacity at first.
const (
	Mixed Family = iota
	Swaps
	Soft
	Gangs
	Crowded
)

// String is the name of the family.
func (f Family) String() string { return [...]string{"mixed", "swaps", "soft", "gangs", "crowded"}[f] }

// Families are all families, in order.
func Families() []Family { return []Family{Mixed, Swaps, Soft, Gangs, Crowded} }

// Options say which problem to generate. The same options give the same problem.
type Options struct {
	Family Family
	Seed   uint64
	Nodes  int // at most, at least 3
	VMs    int // at most, at least 4
}

// New generates a problem. It may have no solution.
func New(o Options) *repack.Instance {
	g := &generator{Rand: rand.New(rand.NewPCG(o.Seed, uint64(o.Family))), in: &repack.Instance{Name: o.Family.String()}}
	g.in.Dims = []string{"cpu", "mem"}[:1+g.IntN(2)]
	g.in.NodeOff, g.in.NodeOn = g.ticks(2), g.ticks(2)
	nodes, vms := 3+g.IntN(o.Nodes-2), 4+g.IntN(o.VMs-3)
	for range nodes {
		n := repack.Node{}
		for range g.in.Dims {
			n.Capacity = append(n.Capacity, int64(6+g.IntN(5)))
		}
		g.in.Nodes = append(g.in.Nodes, n)
		g.free = append(g.free, slices.Clone(n.Capacity))
	}
	if o.Family == Swaps {
		g.swaps(vms)
		return g.in
	}
	for n := range g.in.Nodes {
		if g.one(5) {
			g.in.Nodes[n].State, g.in.Nodes[n].Want = repack.NodeState(g.IntN(2)), repack.NodeState(g.IntN(3))
		}
	}
	if o.Family == Crowded {
		g.crowd = 3
	}
	for range vms {
		g.mixed()
	}
	if o.Family == Gangs {
		g.gangs()
		g.transfers()
	}
	for range g.IntN(4) {
		r := repack.Posted{Rule: g.rule(len(rule.Catalogue()))}
		if o.Family == Soft && g.one(2) {
			r.Penalty = int64(1 + g.IntN(6))
		}
		g.in.Rules = append(g.in.Rules, r)
	}
	return g.in
}

type generator struct {
	*rand.Rand
	in   *repack.Instance
	free [][]int64 // of each node at first

	crowd int64 // by how much a node may be over its capacity
}

// one is true once in so many times.
func (g *generator) one(in int) bool { return g.IntN(in) == 0 }

// ticks is a time from 1 on.
func (g *generator) ticks(most int) repack.Ticks { return repack.Ticks(1 + g.IntN(most)) }

// vm returns a VM of a size that is nowhere yet.
func (g *generator) vm() repack.VM {
	v := repack.VM{Want: repack.Running, Host: repack.Nowhere, Weight: 1, Sleepable: g.one(4)}
	for range g.in.Dims {
		v.Now = append(v.Now, int64(g.IntN(6)))
	}
	v.Next = slices.Clone(v.Now)
	v.Takes = repack.Durations{
		Boot: g.ticks(3), Shutdown: g.ticks(3), Suspend: g.ticks(4), ResumeLocal: g.ticks(4), Migrate: g.ticks(6),
	}
	v.Takes.ResumeRemote = v.Takes.ResumeLocal + g.ticks(3)
	if g.one(6) {
		v.Weight = int64(g.IntN(4))
	}
	return v
}

// runOn makes a VM run on a node at first, if the node is on and has room.
func (g *generator) runOn(v *repack.VM, n int) bool {
	if g.in.Nodes[n].State != repack.Online {
		return false
	}
	for d, need := range v.Now {
		if need > g.free[n][d]+g.crowd {
			return false
		}
	}
	for d, need := range v.Now {
		g.free[n][d] -= need
	}
	v.State, v.Host = repack.Running, n
	return true
}

// mixed adds a VM in any state, which may grow or shrink, if it runs.
func (g *generator) mixed() {
	v := g.vm()
	switch {
	case g.one(6):
	case g.one(8):
		v.State, v.Host = repack.Sleeping, g.IntN(len(g.in.Nodes))
	default:
		for range 4 {
			if g.runOn(&v, g.IntN(len(g.in.Nodes))) {
				break
			}
		}
	}
	if v.State == repack.Running && g.one(5) {
		v.Want = []repack.VMState{repack.Ready, repack.Sleeping, repack.Killed}[g.IntN(3)]
	}
	if g.one(2) {
		d := g.IntN(len(v.Next))
		v.Next[d] = max(0, v.Next[d]-2+int64(g.IntN(6)))
	}
	v.Stays = v.State == v.Want && g.one(16)
	g.in.VMs = append(g.in.VMs, v)
}

// swaps fills the nodes with VMs and exchanges some of them; each is confined to where it ends, and
// sometimes to one node more.
func (g *generator) swaps(vms int) {
	for range vms {
		v := g.vm()
		for d := range v.Now {
			v.Now[d] = int64(2 + g.IntN(5))
		}
		v.Next = slices.Clone(v.Now)
		for try := 0; v.State != repack.Running && try < 12; try++ {
			g.runOn(&v, g.IntN(len(g.in.Nodes)))
		}
		g.in.VMs = append(g.in.VMs, v)
	}
	to := g.exchanged()
	for vm, n := range to {
		if n == repack.Nowhere || g.one(5) {
			continue
		}
		nodes := []int{n}
		if other := g.IntN(len(g.in.Nodes)); other != n && g.one(4) {
			nodes = append(nodes, other)
		}
		g.in.Rules = append(g.in.Rules, repack.Posted{Rule: g.fence(vm, nodes)})
	}
	if g.one(3) {
		g.in.Rules = append(g.in.Rules, repack.Posted{Rule: g.rule(len(rule.Catalogue()))})
	}
}

// exchanged is where the VMs end after some of them have changed places, so that all fit.
func (g *generator) exchanged() []int {
	to := make([]int, len(g.in.VMs))
	for vm := range to {
		to[vm] = g.in.VMs[vm].Host
	}
	for range 12 {
		cycle := g.Perm(len(to))[:2+g.IntN(2)]
		if slices.ContainsFunc(cycle, func(vm int) bool { return to[vm] == repack.Nowhere }) {
			continue
		}
		next := slices.Clone(to)
		for i, vm := range cycle {
			next[vm] = to[cycle[(i+1)%len(cycle)]]
		}
		if g.fits(next) {
			to = next
		}
	}
	return to
}

// fits reports whether the VMs fit where they end.
func (g *generator) fits(to []int) bool {
	for n := range g.in.Nodes {
		for d, free := range g.in.Nodes[n].Capacity {
			for vm, at := range to {
				if at == n {
					free -= g.in.VMs[vm].Next[d]
				}
			}
			if free < 0 {
				return false
			}
		}
	}
	return true
}

func (g *generator) fence(vm int, nodes []int) repack.Rule {
	k, err := rule.Find("fence")
	if err != nil {
		panic(err)
	}
	slices.Sort(nodes)
	r, err := k.New(rule.Args{Instance: g.in, Values: map[string]any{"vms": []int{vm}, "nodes": nodes}})
	if err != nil {
		panic(err)
	}
	return r
}

// rule is one of the first kinds of the catalogue.
func (g *generator) rule(kinds int) repack.Rule {
	for {
		k := rule.Catalogue()[g.IntN(kinds)]
		a := rule.Args{Instance: g.in, Continuous: k.Modes&rule.Continuous != 0 && g.one(2), Values: map[string]any{}}
		for _, p := range k.Params {
			a.Values[p.Name] = g.argument(p.Type)
		}
		if r, err := k.New(a); err == nil {
			return r
		}
	}
}

func (g *generator) argument(t rule.Type) any {
	switch t {
	case rule.VMs:
		return g.some(len(g.in.VMs), 4)
	case rule.Nodes:
		return g.some(len(g.in.Nodes), 3)
	case rule.VMSets:
		return g.parts(len(g.in.VMs))
	case rule.NodeSets:
		return g.parts(len(g.in.Nodes))
	case rule.VM:
		return g.IntN(len(g.in.VMs))
	case rule.Number:
		return int64(g.IntN(5))
	case rule.Amount:
		return int64(g.IntN(20))
	case rule.Ratio:
		return []float64{0.5, 0.8, 1.25, 2}[g.IntN(4)]
	case rule.Resource:
		return g.in.Dims[g.IntN(len(g.in.Dims))]
	default:
		return g.ticks(20)
	}
}

// some are a few numbers below a bound, in order.
func (g *generator) some(below, most int) []int {
	list := g.Perm(below)[:1+g.IntN(min(below, most))]
	slices.Sort(list)
	return list
}

// parts are two sets or three that do not overlap.
func (g *generator) parts(below int) (sets [][]int) {
	list := g.Perm(below)
	for len(sets) < 2+g.IntN(2) && len(list) > 0 {
		k := 1 + g.IntN(max(1, len(list)/2))
		sets = append(sets, slices.Sorted(slices.Values(list[:k])))
		list = list[k:]
	}
	return sets
}
