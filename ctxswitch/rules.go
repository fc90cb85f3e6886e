package ctxswitch

import (
	"errors"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/placement"
	"vjob/repack"
	"vjob/repack/rule"
	"vjob/repack/script"
)

// hugePenalty is the cost of a broken rule that should hold: more than any way to keep it.
const hugePenalty = 1 << 36

// preferredPenalty is the cost of a breach of a preferred rule where not all of them can be kept. It is
// less than that of a rule that should hold in any case.
const preferredPenalty = script.PreferredPenalty * ticksPerPenalty

// ticksPerPenalty is one unit of a penalty: a second in which one VM waits.
const ticksPerPenalty = int64(time.Second / placement.Tick)

// rules posts the rules that users have stated. A text that compiled once and no longer does, as
// it is too large for so many VMs, is skipped. The error is internal.
func (g *instanceBuilder) rules(list []placement.Rules) error {
	if len(list) == 0 {
		return nil
	}
	index := placement.NewIndex(g.nodes, g.vms)
	for _, text := range list {
		program, err := text.Compile(index)
		if err != nil {
			g.unread = append(g.unread, err.Error())
			continue
		}
		for _, p := range program.Postings {
			g.namesVMs = g.namesVMs || text.VJob == 0 && p.NamesVMs()
			if err := g.postRule(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// postRule posts one rule. VMs that may not be touched may break it by themselves; it then holds
// for the others. Where they break it without being named, other VMs may not make it worse.
func (g *instanceBuilder) postRule(p script.Posting) error {
	p, ok := p.Without(func(vm int) bool { return vm >= len(g.vms) })
	if !ok {
		return nil
	}
	p.Penalty *= ticksPerPenalty
	r, err := p.Rule(&g.in)
	if err != nil {
		return err
	}
	text := r.String()
	if p.Preferred {
		text = "preferred " + text
	}
	if p.Penalty == 0 && g.hasFixed {
		guilty := g.violators(r)
		if len(guilty) > 0 {
			if p, ok = p.Without(func(vm int) bool { return guilty[vm] }); !ok {
				return nil
			}
			if r, err = p.Rule(&g.in); err != nil {
				return err
			}
			if len(g.violators(r)) > 0 {
				p.Penalty = hugePenalty
			}
		}
	}
	if p.Preferred && g.yielding && p.Penalty == 0 {
		p.Penalty = preferredPenalty
	}
	g.in.Rules = append(g.in.Rules, repack.Posted{Rule: r, Penalty: p.Penalty})
	g.statedRules, g.preferred = append(g.statedRules, text), append(g.preferred, p.Preferred)
	return nil
}

// relax makes the stated rules soft, with a penalty that keeps them as far as possible. It
// reports whether there are any.
func (g *instanceBuilder) relax() (some bool) {
	for i := range g.statedRules {
		if r := &g.in.Rules[i]; r.Penalty == 0 {
			r.Penalty, some = hugePenalty, true
		}
	}
	return some
}

// dropPreferred makes the preferred rules soft, which keeps as many of them as possible. It reports
// whether there are any.
func (g *instanceBuilder) dropPreferred() (some bool) {
	for i, preferred := range g.preferred {
		if r := &g.in.Rules[i]; preferred && r.Penalty == 0 {
			r.Penalty, some = preferredPenalty, true
		}
	}
	return some
}

// broken returns the rules that a plan leaves broken, the preferred ones with a reason.
func (g *instanceBuilder) broken(plan *repack.Plan, why string) (leaves []string, dropped []DroppedRule) {
	t, _ := repack.Trace(&g.in, plan)
	for i, text := range g.statedRules {
		switch list := g.breaches(i, t); {
		case len(list) == 0:
		case g.preferred[i]:
			dropped = append(dropped, DroppedRule{Rule: text, Breach: list[0].Text, Why: why})
		default:
			leaves = append(leaves, text)
		}
	}
	return leaves, dropped
}

// breaches returns the breaches of a rule that has to be kept. Breaches by VMs that stay where
// they are do not count.
func (g *instanceBuilder) breaches(number int, t *repack.Timeline) (list []repack.Breach) {
	r := g.in.Rules[number]
	if r.Penalty > 0 && r.Penalty < hugePenalty && !g.preferred[number] {
		return nil
	}
	found := r.Check(t)
	if len(found) == 0 || r.Penalty == 0 {
		return found
	}
	given := map[string]int{} // by text, the number of breaches
	for _, b := range r.Check(g.fixedTimeline()) {
		given[b.Text] = 1 + b.More
	}
	for _, b := range found {
		if 1+b.More > given[b.Text] {
			list = append(list, b)
		}
	}
	return list
}

// fixedTimeline is the timeline with only the VMs that stay.
func (g *instanceBuilder) fixedTimeline() *repack.Timeline {
	still := g.in
	still.VMs = slices.Clone(g.in.VMs)
	for i := range still.VMs {
		if v := &still.VMs[i]; !v.Stays {
			v.State, v.Want, v.Host = repack.Ready, repack.Ready, repack.Nowhere
		}
	}
	t, _ := repack.Trace(&still, &repack.Plan{})
	return t
}

// avoid keeps VMs off nodes while the rules leave them another one that is large enough.
func (g *instanceBuilder) avoid(nodes map[cluster.VMID][]cluster.NodeID) error {
	if len(nodes) == 0 {
		return nil
	}
	allowed := g.allowed()
	for i, vm := range g.vms {
		for _, n := range g.avoidable(i, nodes[vm], allowed) {
			if err := g.keep("ban", []int{i}, []int{n}, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// avoidable returns the numbers of the nodes that a VM is to avoid; nil if no other node is left.
func (g *instanceBuilder) avoidable(vm int, nodes []cluster.NodeID, allowed func(vm, node int) bool) (list []int) {
	v := &g.in.VMs[vm]
	if v.Stays || len(nodes) == 0 {
		return nil
	}
	elsewhere := false
	for n, node := range g.nodes {
		if slices.Contains(nodes, node.ID) {
			list = append(list, n)
			continue
		}
		elsewhere = elsewhere || node.Hosts() && fitsIn(v.Next, g.in.Nodes[n].Capacity) && allowed(vm, n)
	}
	if !elsewhere {
		return nil
	}
	return list
}

func fitsIn(need, room []int64) bool {
	for d := range need {
		if need[d] > room[d] {
			return false
		}
	}
	return true
}

// closeNodes keeps VMs off nodes that take no more, except those that are there: they leave if they can.
func (g *instanceBuilder) closeNodes() error {
	var closed []int
	for n := range g.nodes {
		if g.nodes[n].State != cluster.Online && g.in.Nodes[n].Want != repack.Offline {
			closed = append(closed, n)
		}
	}
	if len(closed) == 0 {
		return nil
	}
	open := make([]int, 0, len(g.nodes)-len(closed))
	for n, next := 0, closed; n < len(g.nodes); n++ {
		if len(next) > 0 && next[0] == n {
			next = next[1:]
		} else {
			open = append(open, n)
		}
	}
	there, others := g.on(closed)
	for i, n := range closed {
		penalty := int64(0) // no VM may stay
		if g.nodes[n].State == cluster.Draining {
			penalty = hugePenalty
		}
		rest := slices.Concat(closed[:i], closed[i+1:])
		if err := errors.Join(g.keep("ban", there[i], []int{n}, penalty), g.keep("ban", there[i], rest, 0)); err != nil {
			return err
		}
	}
	if len(open) == 0 {
		return g.keep("ban", others, closed, 0)
	}
	return g.keep("fence", others, open, 0)
}

// on returns the VMs that run on each of some nodes, and all others, without those that may not
// be touched.
func (g *instanceBuilder) on(nodes []int) (there [][]int, others []int) {
	number := make(map[int]int, len(nodes))
	for i, n := range nodes {
		number[n] = i
	}
	there = make([][]int, len(nodes))
	for vm := range g.in.VMs {
		v := &g.in.VMs[vm]
		i, here := number[v.Host]
		switch {
		case v.Stays:
		case here && v.State == repack.Running:
			there[i] = append(there[i], vm)
		default:
			others = append(others, vm)
		}
	}
	return there, others
}

// keep posts the rule of that name, which keeps VMs off nodes or on them.
func (g *instanceBuilder) keep(name string, vms, nodes []int, penalty int64) error {
	if len(vms) == 0 || len(nodes) == 0 {
		return nil
	}
	kind, err := rule.Find(name)
	if err != nil {
		return err
	}
	r, err := kind.New(rule.Args{
		Instance: &g.in, Continuous: penalty == 0, Values: map[string]any{"vms": vms, "nodes": nodes},
	})
	if err != nil {
		return err
	}
	g.in.Rules = append(g.in.Rules, repack.Posted{Rule: r, Penalty: penalty})
	return nil
}
