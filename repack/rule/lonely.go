package rule

import (
	"fmt"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "lonely", Doc: "no VM outside the set on a node that hosts one of them",
	Params: []Param{{Name: "vms", Type: VMs}},
	Modes:  Discrete | Continuous,
	make: func(b base) repack.Rule {
		return &lonely{base: b, vms: b.args.vms()}
	},
})

type lonely struct {
	base
	vms []int
}

// Check reports each VM outside the set that ends on a node with one of them.
func (l *lonely) Check(t *repack.Timeline) (list []repack.Breach) {
	in, mine, host := t.Instance, map[int]bool{}, map[int]int{}
	for _, vm := range l.vms {
		mine[vm] = true
		if n, runs := t.Runs(vm); runs {
			host[n] = vm
		}
	}
	for vm := range in.VMs {
		n, runs := t.Runs(vm)
		if with, ok := host[n]; ok && runs && !mine[vm] {
			list = append(list, repack.Breach{
				Text: fmt.Sprintf("%s ends on %s with %s", in.VMName(vm), in.NodeName(n), in.VMName(with)), At: repack.Forever,
			})
		}
	}
	if !l.args.Continuous {
		return list
	}
	var all []visit
	for vm := range in.VMs {
		party := 0
		if mine[vm] {
			party = 1
		}
		all = append(all, visits(t, vm, party, itself)...)
	}
	return append(list, meetings(t, all)...)
}

// Post counts members and others on each node: every VM is one or the other.
func (l *lonely) Post(b repack.ConstraintStore) {
	b.Guard(&lonelyGuard{l.crowds(b.Instance())}, repack.Scope{})
	if l.args.Continuous {
		b.Watch(&lonelyWatch{l.crowds(b.Instance())}, repack.Scope{})
	}
}

func (l *lonely) crowds(in *repack.Instance) crowds {
	return crowds{newFlags(len(in.VMs), l.vms), make([][2]int32, len(in.Nodes))}
}

// crowds counts members, at 1, and others, at 0, on each node.
type crowds struct {
	mine flags
	on   [][2]int32
}

func (c *crowds) add(vm, node int, d int32) {
	if node != repack.Nowhere {
		c.on[node][c.mine.one(vm)] += d
	}
}

// lonelyGuard counts the others on nodes with members.
type lonelyGuard struct{ crowds }

func (g *lonelyGuard) Delta(vm, from, to int) (d int) {
	if from == to {
		return 0
	}
	mine := g.mine.one(vm)
	if from != repack.Nowhere {
		d -= g.share(from, mine, 1)
	}
	if to != repack.Nowhere {
		d += g.share(to, mine, 0)
	}
	return d
}

// share is what one VM adds to the breaches on a node, besides so many of its kind.
func (g *lonelyGuard) share(node, mine int, besides int32) int {
	on := &g.on[node]
	switch {
	case mine == 0 && on[1] > 0:
		return 1
	case mine == 1 && on[1] == besides:
		return int(on[0])
	default:
		return 0
	}
}

func (g *lonelyGuard) Move(vm, from, to int) {
	g.add(vm, from, -1)
	g.add(vm, to, 1)
}

type lonelyWatch struct{ crowds }

func (w *lonelyWatch) Admits(vm, node int) bool { return w.on[node][1-w.mine.one(vm)] == 0 }
func (w *lonelyWatch) Come(vm, node int)        { w.add(vm, node, 1) }
func (w *lonelyWatch) Go(vm, node int)          { w.add(vm, node, -1) }
