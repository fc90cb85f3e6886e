package solve_test

import (
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"vjob/repack"
	"vjob/repack/rule"
)

// dice make random problems: those of a seed, or those of a property, which makes
// the ones that fail smaller.
type dice interface {
	// n is a number from 0 on and below most.
	n(most int) int
}

type seeded struct{ *rand.Rand }

func (s seeded) n(most int) int { return s.IntN(most) }

// seed throws the same dice for the same number.
func seed(n uint64) dice { return seeded{rand.New(rand.NewPCG(n, 0))} }

type drawn struct{ *rapid.T }

func (d drawn) n(most int) int { return rapid.IntRange(0, most-1).Draw(d.T, "n") }

// once is true once in so many times.
func once(d dice, in int) bool { return d.n(in) == in-1 }

// scope says what random problems may have.
type scope struct {
	nodes, vms int // at most, both at least 1
	rules      int // at most
	only       string
	soft       bool // rules may be soft
	gangs      bool
	power      bool // nodes may be off, go off or come on
	plain      bool // no VM sleeps, stays or is weighted
	instant    bool // some actions take no time
	network    bool // transfers share links
	transfers  bool // nodes carry few transfers at once
}

// problem makes a random problem. It may have no solution.
func problem(d dice, s scope) *repack.Instance {
	in := &repack.Instance{Dims: []string{"cpu", "mem", "disk"}[:1+d.n(3)], NodeOff: repack.Ticks(d.n(3)), NodeOn: repack.Ticks(1 + d.n(2))}
	for range 1 + d.n(s.nodes) {
		in.Nodes = append(in.Nodes, node(d, len(in.Dims), s))
	}
	free := make([][]int64, len(in.Nodes))
	for n := range free {
		free[n] = slices.Clone(in.Nodes[n].Capacity)
	}
	for range 1 + d.n(s.vms) {
		in.VMs = append(in.VMs, vm(d, in, free, s))
	}
	if s.gangs {
		gangs(d, in)
	}
	if s.network {
		network(d, in)
	}
	if s.transfers {
		for n := range in.Nodes {
			in.Nodes[n].Transfers = d.n(4)
			for range min(in.Nodes[n].Transfers, d.n(8)-5) {
				in.Nodes[n].Busy = append(in.Nodes[n].Busy, repack.Ticks(d.n(9)))
			}
		}
	}
	for range d.n(s.rules + 1) {
		in.Rules = append(in.Rules, randomRule(d, in, s))
	}
	return in
}

func node(d dice, dims int, s scope) repack.Node {
	n := repack.Node{Rack: d.n(2)}
	for range dims {
		n.Capacity = append(n.Capacity, int64(4+d.n(7)))
	}
	if s.power && once(d, 3) {
		n.State, n.Want = repack.NodeState(d.n(2)), repack.NodeState(d.n(3))
	}
	return n
}

// vm makes a VM that has room where it runs, but once in a while.
func vm(d dice, in *repack.Instance, free [][]int64, s scope) repack.VM {
	v := repack.VM{State: repack.Running, Want: repack.Running, Weight: 1}
	if once(d, 4) {
		v.State = []repack.VMState{repack.Ready, repack.Sleeping}[d.n(2)]
	}
	switch d.n(12) {
	case 0:
		v.Want = repack.Ready
	case 1:
		v.Want = repack.Sleeping
	case 2:
		v.Want = repack.Killed
	default:
	}
	v.Host = d.n(len(in.Nodes))
	for range in.Dims {
		now := int64(d.n(6))
		next := now
		if once(d, 2) {
			next = max(0, now-2+int64(d.n(5)))
		}
		v.Now, v.Next = append(v.Now, now), append(v.Next, next)
	}
	lacks := func(k int) bool { return v.Now[k] > free[v.Host][k] }
	switch {
	case v.State == repack.Sleeping:
	case v.State == repack.Ready, in.Nodes[v.Host].State != repack.Online, slices.ContainsFunc(dims(in), lacks) && !once(d, 12):
		v.State, v.Host = repack.Ready, repack.Nowhere
	default:
		for k, need := range v.Now {
			free[v.Host][k] -= need
		}
	}
	takes(d, &v, s)
	return v
}

func dims(in *repack.Instance) (list []int) {
	for k := range in.Dims {
		list = append(list, k)
	}
	return list
}

func takes(d dice, v *repack.VM, s scope) {
	long := func() repack.Ticks {
		if s.instant && once(d, 3) {
			return 0
		}
		return repack.Ticks(1 + d.n(3))
	}
	v.Takes = repack.Durations{
		Boot: long(), Shutdown: long(), Suspend: long(), ResumeLocal: long(), ResumeRemote: long(), Migrate: long(),
	}
	v.Takes.ResumeRemote += v.Takes.ResumeLocal
	if s.plain {
		return
	}
	if once(d, 4) {
		v.Weight = int64(d.n(4))
	}
	v.Stays = v.State == v.Want && once(d, 12)
	v.Sleepable = once(d, 4)
}

// gangs puts VMs that do the same into gangs.
func gangs(d dice, in *repack.Instance) {
	var gang []int
	paused, sleepable := once(d, 2), once(d, 2)
	for vm := range in.VMs {
		v := &in.VMs[vm]
		if once(d, 2) || v.Stays {
			continue
		}
		if len(gang) > 0 {
			first := in.VMs[gang[0]]
			if v.State != first.State || v.Want != first.Want {
				continue
			}
		}
		v.Paused, v.Sleepable = paused, sleepable
		gang = append(gang, vm)
	}
	if len(gang) > 0 {
		in.Gangs = append(in.Gangs, gang)
	}
}

// network joins the nodes by narrow links, some without a limit, and has VMs to copy.
// Some write faster than a link sends.
func network(d dice, in *repack.Instance) {
	in.Network = &repack.Network{}
	width := func() int64 { return int64(max(0, d.n(9)-2)) }
	for range in.Nodes {
		in.Network.NIC = append(in.Network.NIC, width())
	}
	for range d.n(3) {
		in.Network.Uplink = append(in.Network.Uplink, width())
	}
	for vm := range in.VMs {
		v := &in.VMs[vm]
		v.Memory = int64(d.n(13))
		if once(d, 3) {
			v.Dirty = int64(d.n(4))
		}
	}
}

// randomRule is one of the catalogue, or always the same one.
func randomRule(d dice, in *repack.Instance, s scope) repack.Posted {
	for {
		list := rule.Catalogue()
		k := list[d.n(len(list))]
		if s.only != "" {
			k, _ = rule.Find(s.only)
		}
		a := rule.Args{Instance: in, Continuous: k.Modes&rule.Continuous != 0 && once(d, 2), Values: map[string]any{}}
		for _, p := range k.Params {
			a.Values[p.Name] = argument(d, in, p.Type)
		}
		r, err := k.New(a)
		if err != nil {
			continue // sets without members, or the like
		}
		posted := repack.Posted{Rule: r}
		if s.soft && once(d, 3) {
			posted.Penalty = int64(1 + d.n(5))
		}
		return posted
	}
}

func argument(d dice, in *repack.Instance, t rule.Type) any {
	switch t {
	case rule.VMs:
		return some(d, len(in.VMs))
	case rule.Nodes:
		return some(d, len(in.Nodes))
	case rule.VMSets:
		return parts(d, len(in.VMs))
	case rule.NodeSets:
		return parts(d, len(in.Nodes))
	case rule.VM:
		return d.n(len(in.VMs))
	case rule.Number, rule.Amount:
		return int64(d.n(7))
	case rule.Ratio:
		return []float64{0.5, 0.8, 1.25, 2}[d.n(4)]
	case rule.Resource:
		return in.Dims[d.n(len(in.Dims))]
	default:
		return repack.Ticks(d.n(10))
	}
}

// some is a random list of numbers, at least one, in any order.
func some(d dice, most int) []int {
	list := shuffled(d, most)
	return list[:1+d.n(len(list))]
}

// parts are sets that do not overlap.
func parts(d dice, most int) (sets [][]int) {
	list := shuffled(d, most)
	for len(list) > 0 && len(sets) < 3 {
		k := 1 + d.n(len(list))
		sets = append(sets, list[:k:k])
		list = list[k:]
	}
	return sets
}

func shuffled(d dice, most int) []int {
	list := make([]int, most)
	for i := range list {
		list[i] = i
		j := d.n(i + 1)
		list[i], list[j] = list[j], list[i]
	}
	return list
}
