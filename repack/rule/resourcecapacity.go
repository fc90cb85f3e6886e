package rule

import (
	"fmt"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "resourceCapacity", Doc: "at most amount of a resource used on the nodes together",
	Params: []Param{{Name: "nodes", Type: Nodes}, {Name: "resource", Type: Resource}, {Name: "amount", Type: Amount}},
	Modes:  Discrete | Continuous,
	make: func(b base) repack.Rule {
		return &resourceCapacity{
			base: b, nodes: b.args.nodes(), d: b.args.resource("resource"), most: b.args.number("amount"),
		}
	},
})

// resourceCapacity counts a VM on its way between two of the nodes on both, as it
// occupies both. A breach is one unit of the resource: that is what the penalty of a
// soft rule is multiplied with.
type resourceCapacity struct {
	base
	nodes []int
	d     int
	most  int64
}

// Check reports how much is used too much.
func (r *resourceCapacity) Check(t *repack.Timeline) (list []repack.Breach) {
	used := usage(t, r.d, 1, groupOf([][]int{r.nodes}))[0]
	passing, end := highs(used.start, used.steps, r.most)
	if end > r.most {
		list = append(list, tooMuch(end, r.most, fmt.Sprintf("%d is used at the end", end)))
	}
	if r.args.Continuous {
		for _, h := range passing {
			list = append(list, repack.Breach{Text: fmt.Sprintf("%d is used", h.load), At: h.at})
		}
	}
	return list
}

// Post sums up demands.
func (r *resourceCapacity) Post(b repack.ConstraintStore) {
	in := b.Instance()
	scope := repack.Scope{Nodes: r.nodes}
	use := use{in: in, inside: newFlags(len(in.Nodes), r.nodes), d: r.d, most: r.most}
	b.Guard(&resourceGuard{use}, scope)
	if !r.args.Continuous {
		return
	}
	w := &resourceWatch{use}
	b.Watch(w, scope)
	var grow []int
	for vm := range in.VMs {
		if v := &in.VMs[vm]; v.Keeps() && v.Grows() && use.inside.has(v.Host) {
			grow = append(grow, vm)
		}
	}
	if len(grow) > 0 {
		b.Gate(&resourceGate{w}, grow)
	}
}

type use struct {
	in     *repack.Instance
	inside flags
	d      int
	sum    int64
	most   int64
}

// resourceGuard counts the units beyond the amount.
type resourceGuard struct{ use }

func (g *resourceGuard) Delta(vm, from, to int) int {
	after := g.sum + int64(g.inside.one(to)-g.inside.one(from))*g.in.VMs[vm].Next[g.d]
	return int(max(0, after-g.most) - max(0, g.sum-g.most))
}

func (g *resourceGuard) Move(vm, from, to int) {
	g.sum += int64(g.inside.one(to)-g.inside.one(from)) * g.in.VMs[vm].Next[g.d]
}

// resourceWatch has each VM use on its first host the larger of what it has and
// what it asks for: when it grows is not for a watch to know. So it may refuse an
// arrival that would do no harm yet, but none for ever.
type resourceWatch struct{ use }

func (w *resourceWatch) need(vm, node int) int64 {
	v := &w.in.VMs[vm]
	if v.State == repack.Running && v.Host == node {
		return max(v.Now[w.d], v.Next[w.d])
	}
	return v.Next[w.d]
}

func (w *resourceWatch) Admits(vm, node int) bool {
	need := w.need(vm, node)
	return !w.inside.has(node) || need == 0 || w.sum+need <= w.most
}

func (w *resourceWatch) Come(vm, node int) { w.sum += int64(w.inside.one(node)) * w.need(vm, node) }
func (w *resourceWatch) Go(vm, node int)   { w.sum -= int64(w.inside.one(node)) * w.need(vm, node) }

// resourceGate lets VMs grow where they are once there is enough for all that will.
type resourceGate struct{ w *resourceWatch }

func (g *resourceGate) Begin([]int) {}

func (g *resourceGate) May(_ int, kind repack.Kind, _ repack.Ticks) bool {
	return kind != repack.Allocate || g.w.sum <= g.w.most
}

func (g *resourceGate) Started(int, repack.Kind, repack.Ticks) {}
func (g *resourceGate) Undo(int, repack.Kind)                  {}
func (g *resourceGate) Ended(int, repack.Kind, repack.Ticks)   {}
