package sim

import (
	"cmp"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/journal"
)

// failover returns of how many nodes the VMs have to find places on the others: of one in every fourth run, which meets
// every other option.
func (o *Options) failover() int {
	if o.Seed/7%4 == 1 {
		return 1
	}
	return 0
}

// afterLoss checks plans that begin and start vjobs: if any one node is lost after the plan, its VMs find places on the
// others, as trying all places shows. Vjobs that were lost and those with reservations start whatever is left then.
func (r *run) afterLoss(step journal.Step) {
	if r.opts.failover() == 0 {
		return
	}
	for i := range step.Plans {
		p := &step.Plans[i].Plan
		if p.Target == nil || !r.startsInSpare(p) {
			continue
		}
		r.check.counts.Spared++
		nodes := r.loaded(p.Target)
		for lost := range nodes {
			if !placeable(nodes, lost, nodes[lost].vms) {
				r.check.violate(37, "plan %d starts vjobs, and the VMs of %s find no places on the other nodes", step.Plans[i].ID, nodes[lost].id)
			}
		}
	}
}

// startsInSpare reports whether a plan starts a vjob that may not use what is kept for lost ones, and none that may. A
// running vjob that the plan suspends and resumes elsewhere does not start.
func (r *run) startsInSpare(p *ctxswitch.Plan) (some bool) {
	stops := map[cluster.VJobID]bool{}
	for _, g := range p.Gangs {
		stops[g.VJob] = stops[g.VJob] || g.Kind == cluster.Suspend || g.Kind == cluster.Pause
	}
	for _, g := range p.Gangs {
		row, known := r.store.VJob(g.VJob)
		starts := (g.Kind == cluster.Boot || g.Kind == cluster.Resume || g.Kind == cluster.Unpause) && !stops[g.VJob]
		switch {
		case !known || !starts || row.Inner != 0:
		case !row.Reservation.IsZero() || row.Gang.Losses > 0:
			return false
		default:
			some = true
		}
	}
	return some
}

// loadedNode is a node, what it has free, and the sizes of its VMs.
type loadedNode struct {
	id   cluster.NodeID
	free cluster.Resources
	vms  []cluster.Resources
}

// loaded returns the nodes of a configuration with the VMs of vjobs that are in no container.
func (r *run) loaded(c *cluster.Configuration) (list []loadedNode) {
	for _, n := range c.Nodes() {
		l := loadedNode{id: n.ID}
		if n.Hosts() {
			l.free = n.Capacity
		}
		for _, vm := range c.On(n.ID) {
			row, known := r.store.VJob(vm.VJob)
			if !known || row.Inner != 0 {
				continue
			}
			size := row.VMs[vm.Rank].Reserved
			if _, runs := c.Host(vm); runs {
				l.vms = append(l.vms, size)
			} else {
				size = size.Paused()
			}
			l.free = l.free.Minus(size)
		}
		slices.SortFunc(l.vms, func(a, b cluster.Resources) int {
			return cmp.Or(cmp.Compare(b.CPU, a.CPU), cmp.Compare(b.Memory, a.Memory))
		})
		list = append(list, l)
	}
	return list
}

// placeable reports whether VMs find places on the nodes other than one, by trying all.
func placeable(nodes []loadedNode, lost int, vms []cluster.Resources) bool {
	if len(vms) == 0 {
		return true
	}
	for i := range nodes {
		if i == lost || !vms[0].Fits(nodes[i].free) {
			continue
		}
		nodes[i].free = nodes[i].free.Minus(vms[0])
		ok := placeable(nodes, lost, vms[1:])
		nodes[i].free = nodes[i].free.Plus(vms[0])
		if ok {
			return true
		}
	}
	return false
}
