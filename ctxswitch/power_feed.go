package ctxswitch

import (
	"fmt"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/cpushare"
	"vjob/repack"
)

// PowerFeeds are the power budgets of racks and the like for the choice of places: a node takes no VM
// once its feed is used up, even with room. Unlike in [Power], VMs count with the least CPU that
// they get, since running VMs can be given less.
type PowerFeeds struct {
	List []PowerFeed
	// Least is the CPU that a VM gets at least, in thousandths of a [cluster.MilliCPU]. Missing
	// VMs count as 0.
	Least map[cluster.VMID]int64
}

// PowerFeed is the power budget that some nodes share.
type PowerFeed struct {
	Name  string // of the nodes, for users
	Watts energy.Watts
	Nodes map[cluster.NodeID]FeedNode
}

// Spare is the power left beside the nodes without load. A negative value is the power missing.
func (f *PowerFeed) Spare() energy.Watts {
	left := f.Watts
	for _, s := range f.Nodes {
		left -= energy.Watts(s.draws(0)) / 1000
	}
	return left
}

// FeedNode is a node as a feed counts it.
type FeedNode struct {
	cpushare.Node
	Sleeps bool // it is off as long as no VM is there
}

// draws is the power of the node with this load, in thousandths of a [cluster.MilliCPU].
func (s *FeedNode) draws(load int64) milliwatts {
	n := s.Node
	n.Off = n.Off || s.Sleeps && load == 0
	return inMilliwatts(n.Draws(float64(load) / 1000))
}

// least is the load that feeds count for a VM.
func (f *PowerFeeds) least(vm cluster.VMID) int64 {
	if f == nil {
		return 0
	}
	return f.Least[vm]
}

// postFeeds posts the feeds as rules. Running VMs never have to move for them: other stages
// decide which VMs stop for a budget. VMs without a choice may exceed a feed by themselves.
func (g *instanceBuilder) postFeeds(f *PowerFeeds) {
	if f == nil {
		return
	}
	g.minLoad = make([]int64, len(g.vms))
	for i, vm := range g.vms {
		g.minLoad[i] = f.Least[vm]
	}
	for i := range f.List {
		r := newFeedRule(g, &f.List[i])
		r.most = max(r.most, r.present())
		g.in.Rules = append(g.in.Rules, repack.Posted{Rule: r})
	}
}

// feedRule is a feed as a rule on final places. Before the plan ends, [KeepBudgets] and the executor
// keep the budgets.
type feedRule struct {
	*PowerFeed
	in        *repack.Instance
	least     []int64     // by VM
	nodes     []int       // that it feeds
	feedNodes []*FeedNode // by node; nil: it is not counted
	most      milliwatts
}

func newFeedRule(g *instanceBuilder, f *PowerFeed) *feedRule {
	r := &feedRule{PowerFeed: f, in: &g.in, least: g.minLoad, feedNodes: make([]*FeedNode, len(g.nodes))}
	for n := range g.nodes {
		if node, fed := f.Nodes[g.nodes[n].ID]; fed {
			r.nodes, r.feedNodes[n] = append(r.nodes, n), &node
		}
	}
	// Each node is rounded by itself: this is the largest rounding error.
	r.most = inMilliwatts(f.Watts) + milliwatts(len(r.nodes))
	return r
}

// String is shown to users when the budget prevents a plan.
func (r *feedRule) String() string {
	return fmt.Sprintf("the power budget of %s, %s", r.Name, r.Watts)
}

// Weight is the load that the feed counts for a VM, beside its demand.
func (r *feedRule) Weight(vm int) int64 { return r.least[vm] }

// sum is the power drawn with VMs on the nodes that host returns.
func (r *feedRule) sum(host func(vm int) (node int, runs bool)) (sum milliwatts) {
	load := make([]int64, len(r.feedNodes))
	for vm := range r.least {
		if n, runs := host(vm); runs {
			load[n] += r.least[vm]
		}
	}
	for _, n := range r.nodes {
		sum += r.feedNodes[n].draws(load[n])
	}
	return sum
}

// present is the power of the VMs that run and continue.
func (r *feedRule) present() milliwatts {
	return r.sum(func(vm int) (int, bool) {
		v := &r.in.VMs[vm]
		return v.Host, v.State == repack.Running && (v.Want == repack.Running || v.Stays)
	})
}

// Check reports by how much the final places exceed the budget.
func (r *feedRule) Check(t *repack.Timeline) []repack.Breach {
	sum := r.sum(t.Runs)
	if sum <= r.most {
		return nil
	}
	return []repack.Breach{{
		Text: fmt.Sprintf("%s are drawn at the end", energy.Watts(sum)/1000), At: repack.Forever, More: int(sum - r.most - 1),
	}}
}

// Post adds a guard that counts the power of the nodes.
func (r *feedRule) Post(b repack.ConstraintStore) {
	g := &feedGuard{feedRule: r, load: make([]int64, len(r.feedNodes))}
	for _, n := range r.nodes {
		g.now += r.feedNodes[n].draws(0)
	}
	b.Guard(g, repack.Scope{Nodes: r.nodes})
}

// feedGuard counts the milliwatts above the budget.
type feedGuard struct {
	*feedRule
	load []int64 // by node
	now  milliwatts
}

// gain is the power that a node draws more with this additional load.
func (g *feedGuard) gain(n int, more int64) milliwatts {
	if n == repack.Nowhere || g.feedNodes[n] == nil || more == 0 {
		return 0
	}
	return g.feedNodes[n].draws(g.load[n]+more) - g.feedNodes[n].draws(g.load[n])
}

// change is the power drawn more when a VM moves between two nodes.
func (g *feedGuard) change(vm, from, to int) milliwatts {
	if from == to {
		return 0
	}
	return g.gain(from, -g.least[vm]) + g.gain(to, g.least[vm])
}

// Delta is the change of the milliwatts above the budget.
func (g *feedGuard) Delta(vm, from, to int) int {
	after := g.now + g.change(vm, from, to)
	return int(max(0, after-g.most) - max(0, g.now-g.most))
}

// Strain is the part of the remaining budget that a VM would take on a node.
func (g *feedGuard) Strain(vm, node int) float64 {
	return float64(g.gain(node, g.least[vm])) / float64(max(1, g.most-g.now))
}

// Move moves the VM.
func (g *feedGuard) Move(vm, from, to int) {
	g.now += g.change(vm, from, to)
	if from != repack.Nowhere {
		g.load[from] -= g.least[vm]
	}
	if to != repack.Nowhere {
		g.load[to] += g.least[vm]
	}
}
