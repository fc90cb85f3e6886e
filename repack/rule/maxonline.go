package rule

import (
	"fmt"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "maxOnline", Doc: "at most max of the nodes are on",
	Params: []Param{{Name: "nodes", Type: Nodes}, {Name: "max", Type: Number}},
	Modes:  Discrete | Continuous,
	make: func(b base) repack.Rule {
		return &maxOnline{base: b, nodes: b.args.nodes(), most: b.args.number("max")}
	},
})

// maxOnline lets the solver choose which nodes with the wanted state AnyState go off.
type maxOnline struct {
	base
	nodes []int
	most  int64
}

// Check reports how many are on too much. A node is on until its NodeOff has ended
// and from when its NodeOn starts. If too many are on at first, none may follow.
func (m *maxOnline) Check(t *repack.Timeline) (list []repack.Breach) {
	var start int64
	var steps []change
	for _, n := range m.nodes {
		if t.Instance.Nodes[n].State == repack.Online {
			start++
		}
		if i := t.On[n]; i != repack.Nowhere {
			steps = append(steps, change{t.Plan.Actions[i].Start, 1})
		}
		if i := t.Off[n]; i != repack.Nowhere {
			steps = append(steps, change{t.Plan.Actions[i].End, -1})
		}
	}
	passing, end := highs(start, steps, m.most)
	if end > m.most {
		list = append(list, tooMuch(end, m.most, fmt.Sprintf("%d end online", end)))
	}
	if m.args.Continuous {
		for _, h := range passing {
			list = append(list, repack.Breach{Text: fmt.Sprintf("%d are online", h.load), At: h.at})
		}
	}
	return list
}

// Post tells the solver the limit, by which it switches off nodes that are free to
// go and end empty, and counts those that cannot: because they are wanted on, or
// because a VM ends there, awake or asleep. So the guard is 0 just when the solver
// can keep the limit.
func (m *maxOnline) Post(b repack.ConstraintStore) {
	in := b.Instance()
	b.Limit(m.nodes, int(m.most), m.args.Continuous)
	g := &onlineGuard{inside: newFlags(len(in.Nodes), m.nodes), held: make([]int32, len(in.Nodes)), most: int(m.most)}
	for n := range in.Nodes {
		if in.Nodes[n].Want == repack.Online {
			g.hold(n, 1)
		}
	}
	for vm := range in.VMs {
		if v := &in.VMs[vm]; v.Want == repack.Sleeping && v.Host != repack.Nowhere {
			g.hold(v.Host, 1)
		}
	}
	b.Guard(g, repack.Scope{Nodes: m.nodes})
}

// onlineGuard counts the nodes beyond max that something keeps on.
type onlineGuard struct {
	inside   flags
	held     []int32 // by how many things, on each node
	on, most int
}

func (g *onlineGuard) hold(n int, d int32) {
	if !g.inside.has(n) {
		return
	}
	before := g.held[n]
	g.held[n] += d
	switch {
	case before == 0:
		g.on++
	case g.held[n] == 0:
		g.on--
	}
}

func (g *onlineGuard) Delta(_, from, to int) int {
	if from == to {
		return 0
	}
	after := g.on
	if g.inside.has(from) && g.held[from] == 1 {
		after--
	}
	if g.inside.has(to) && g.held[to] == 0 {
		after++
	}
	return max(0, after-g.most) - max(0, g.on-g.most)
}

func (g *onlineGuard) Move(_, from, to int) {
	g.hold(from, -1)
	g.hold(to, 1)
}
