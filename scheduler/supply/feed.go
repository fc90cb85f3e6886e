package supply

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/energy/budget"
	"vjob/hypervisor"
)

// Feeds returns the budgets of groups of nodes as limits of placement: a vjob that finds no power
// in one rack can go to the next one. The budget of the whole cluster does not limit placement.
// It returns nil if there are no such budgets.
func (s *Supply) Feeds(nodes []cluster.Node, limits []budget.Limit, jobs iter.Seq[*cluster.VJob]) *ctxswitch.PowerFeeds {
	f := &ctxswitch.PowerFeeds{Least: map[cluster.VMID]int64{}}
	for _, l := range limits {
		if l.Group != (budget.Group{}) {
			f.List = append(f.List, s.feed(nodes, &l))
		}
	}
	if len(f.List) == 0 || !s.Known() {
		return nil
	}
	for job := range jobs {
		addMinimum(f.Least, job)
	}
	return f
}

func (s *Supply) feed(nodes []cluster.Node, l *budget.Limit) ctxswitch.PowerFeed {
	f := ctxswitch.PowerFeed{Name: l.Group.Name(), Watts: l.Watts, Nodes: map[cluster.NodeID]ctxswitch.FeedNode{}}
	for i := range nodes {
		n := &nodes[i]
		if power, known := s.Models[n.ID]; known && l.Group.Has(n.Labels) {
			f.Nodes[n.ID] = ctxswitch.FeedNode{Node: s.Node(n, power)}
		}
	}
	return f
}

// FeedsAt returns the feeds at a later instant. Nodes that are off wake when needed; with dark all
// nodes are off.
func (s *Supply) FeedsAt(nodes []cluster.Node, at time.Time, dark bool, jobs iter.Seq[*cluster.VJob]) *ctxswitch.PowerFeeds {
	f := s.Feeds(nodes, s.Budgets.At(at), jobs)
	if f == nil {
		return nil
	}
	for _, feed := range f.List {
		for id, node := range feed.Nodes {
			node.Sleeps, node.Off, node.MinDraw = dark || node.Off, false, 0
			feed.Nodes[id] = node
		}
	}
	return f
}

// addMinimum adds the CPU that the VMs of a vjob get at least, in thousandths of a milli-CPU.
func addMinimum(least map[cluster.VMID]int64, job *cluster.VJob) {
	floor := MinShare(job)
	for k := range job.VMs {
		vm := &job.VMs[k]
		least[vm.ID] = int64(1000 * floor * float64(max(vm.Reserved.CPU, hypervisor.MinCap)))
	}
}

// maxNamed is how many limits a reason names before it only counts them.
const maxNamed = 3

// FeedFigures names feeds with what is left of them, the scarcest first: "rack=r1 has 50 W of
// 250 W beside idle nodes".
func FeedFigures(f *ctxswitch.PowerFeeds) string {
	list := slices.Clone(f.List)
	slices.SortStableFunc(list, func(a, b ctxswitch.PowerFeed) int { return int(1000 * (a.Spare() - b.Spare())) })
	var parts []string
	for i := range list[:min(len(list), maxNamed)] {
		l := &list[i]
		parts = append(parts, fmt.Sprintf("%s has %s of %s beside idle nodes", l.Name, max(0, l.Spare()), l.Watts))
	}
	if rest := len(list) - maxNamed; rest > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(parts, ", ")
}
