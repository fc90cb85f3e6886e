package rule

import (
	"fmt"

	"vjob/repack"
)

var _, _ = register(capacityKind("capacity")), register(capacityKind("runningCapacity"))

// capacityKind is one rule with two names.
func capacityKind(name string) Kind {
	return Kind{
		Name: name, Doc: "at most max running VMs on the nodes together",
		Params: []Param{{Name: "nodes", Type: Nodes}, {Name: "max", Type: Number}},
		Modes:  Discrete | Continuous,
		make: func(b base) repack.Rule {
			return &capacity{base: b, nodes: b.args.nodes(), most: b.args.number("max")}
		},
	}
}

// capacity counts a VM on its way between two of the nodes once.
type capacity struct {
	base
	nodes []int
	most  int64
}

// Check reports how many run too much.
func (c *capacity) Check(t *repack.Timeline) (list []repack.Breach) {
	inside := make([]bool, len(t.Nodes)) // there is such a rule for each rack, and every VM is looked at
	for _, n := range c.nodes {
		inside[n] = true
	}
	var end int64
	for vm := range t.Host {
		if n, runs := t.Runs(vm); runs && inside[n] {
			end++
		}
	}
	if end > c.most {
		list = append(list, tooMuch(end, c.most, fmt.Sprintf("%d VMs end there", end)))
	}
	if !c.args.Continuous {
		return list
	}
	var start int64
	var steps []change
	for vm, stays := range t.Stays {
		if v := &t.Instance.VMs[vm]; v.State == repack.Running && inside[v.Host] {
			start++
			steps = append(steps, change{0, -1})
		}
		steps = append(steps, presence(stays, inside)...)
	}
	passing, _ := highs(start, steps, c.most)
	for _, h := range passing {
		list = append(list, repack.Breach{Text: fmt.Sprintf("%d VMs are there", h.load), At: h.at})
	}
	return list
}

// presence has the steps of one VM, which is inside or not: never twice.
func presence(stays []repack.Stay, inside []bool) (steps []change) {
	last := repack.Ticks(-1)
	for _, s := range stays {
		if !inside[s.Node] || s.To <= last {
			continue
		}
		if s.From > last {
			steps = append(steps, change{s.From, 1})
		} else {
			steps = steps[:len(steps)-1] // it has not gone at last
		}
		last = s.To
		steps = append(steps, change{last, -1})
	}
	return steps
}

// Post counts the VMs on the nodes.
func (c *capacity) Post(b repack.ConstraintStore) {
	inside := newFlags(len(b.Instance().Nodes), c.nodes)
	scope := repack.Scope{Nodes: c.nodes}
	b.Guard(&capacityGuard{inside: inside, most: int(c.most)}, scope)
	if c.args.Continuous {
		b.Watch(&capacityWatch{inside: inside, most: int(c.most), on: newTally(16)}, scope)
	}
}

// capacityGuard counts the VMs beyond max.
type capacityGuard struct {
	inside   flags
	on, most int
}

func (g *capacityGuard) Delta(_, from, to int) int {
	after := g.on + g.inside.one(to) - g.inside.one(from)
	return max(0, after-g.most) - max(0, g.on-g.most)
}

func (g *capacityGuard) Move(_, from, to int) { g.on += g.inside.one(to) - g.inside.one(from) }

// capacityWatch counts VMs, not stays: the tally has on how many of the nodes each is.
type capacityWatch struct {
	inside flags
	most   int
	on     tally
}

func (w *capacityWatch) Admits(vm, node int) bool {
	return !w.inside.has(node) || w.on.used < w.most || w.on.get(vm) > 0
}

func (w *capacityWatch) Come(vm, node int) { w.count(vm, node, 1) }
func (w *capacityWatch) Go(vm, node int)   { w.count(vm, node, -1) }

func (w *capacityWatch) count(vm, node, d int) {
	if w.inside.has(node) {
		w.on.add(vm, d)
	}
}
