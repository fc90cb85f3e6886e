package decide

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/placement"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/hypervisor"
	"vjob/queue"
	"vjob/queue/quota"
)

// View is the cluster as one decision sees it.
type View struct {
	// VJobs are those of the facts, in their order. Moldable vjobs have their chosen shape.
	VJobs []execute.Report
	// InvalidRules describes the rules that can no longer be parsed or kept.
	InvalidRules []string
	// Limits are the power limits that the decision keeps, Changes the future ones.
	Limits  []budget.Limit
	Changes []LimitChange
	// DelayedUntil holds the vjobs that wait only for an instant: for a lower energy price, or for
	// their start window.
	DelayedUntil map[cluster.VJobID]time.Time
	// KeptPower is the power kept for nodes that should come on.
	KeptPower map[cluster.NodeID]energy.Watts
	// RecheckAt is when the same facts would give another view; zero if never.
	RecheckAt time.Time

	settings *Settings
	books    Bookings
	now      time.Time
	past     *quota.Ledger
	current  *cluster.Configuration
	// intended is the configuration after all actions under way. The policy chooses by it; the
	// planner starts from current.
	intended   *cluster.Configuration
	applicants []ctxswitch.Applicant // vjobs on no node that could be placed, in order
	rules      []placement.Rules     // without those of applicants
	avoid      map[cluster.VMID][]cluster.NodeID
	pinned     map[cluster.VMID]bool
	claims     map[cluster.NodeID]cluster.Resources
	live       map[cluster.VMID]bool
	// unsavable vjobs do not move through images, which have no space.
	unsavable      map[cluster.VJobID]bool
	budgets        budget.Schedules
	images         hypervisor.Spaces
	noImages       string                          // why images can be neither written nor read; "" if they can
	waits          map[cluster.VJobID]string       // of [Facts]
	nonPreemptible map[cluster.VJobID]string       // vjobs that cannot be saved now, and why
	ineligible     map[cluster.VJobID]string       // vjobs that must not start now, and why
	off            map[cluster.NodeID]bool         // nodes that draw no idle power
	least          map[cluster.NodeID]energy.Watts // power that a node draws whatever runs there
	throttled      map[cluster.VJobID]bool         // vjobs that must stop and release their power at once
	quarantined    map[cluster.VJobID]string       // vjobs with which decisions fail, and why
	immovable      map[cluster.VMID]bool           // VMs of quarantined vjobs and of containers
	chosenShapes   map[cluster.VJobID]int          // of moldable vjobs
	drained        map[cluster.NodeID]bool         // answering nodes that are to become empty
	leavesNode     map[cluster.VJobID]bool         // vjobs that leave a drained node, and do not pause there
	prepared       []cluster.VJobID                // reservations for which nodes are cleared, see [View.prepareReservations]
	alwaysPlan     bool                            // the planner is asked even if nothing changes
	closed         string                          // why no vjob may run in the container; "" if they may
	inside         []containerView                 // the views of containers
}

// NewView makes a view of the facts, with a view inside each container.
func NewView(settings *Settings, f *Facts) *View {
	own, inner := splitByContainer(f.VJobs)
	g := *f
	g.VJobs = own
	p := newView(settings, &g)
	for i := range p.VJobs {
		if c := &p.VJobs[i]; c.Job.Container {
			p.inside = append(p.inside, p.newContainerView(f, c, inner[c.Job.ID]))
		}
	}
	return p
}

// newView makes a view of the facts without containers. Silent nodes offer nothing and release
// nothing; vjobs under way count on every node that they were promised.
func newView(settings *Settings, f *Facts) *View {
	p := emptyView(settings, f)
	nodes := p.current.Nodes()
	p.read(f, nodes)
	p.chooseShapes()
	for i := range p.VJobs {
		r := &p.VJobs[i]
		p.checkEligible(r, f.Waits[r.Job.ID])
		p.place(r, p.needsInPlace(r, f.Bookings))
		p.state(r, f.Reader, nodes)
	}
	p.unblockPaused()
	p.quarantine(f.Quarantined)
	p.applyStartWindows()
	p.delayFlexible(f.Prices)
	maps.Copy(p.least, f.Least)
	p.limit(f.Budgets)
	p.keepPower(f.Wanted)
	p.limitArrays()
	return p
}

// emptyView returns a view with the nodes and without VMs.
func emptyView(settings *Settings, f *Facts) *View {
	p := &View{
		VJobs: f.VJobs, DelayedUntil: map[cluster.VJobID]time.Time{}, KeptPower: map[cluster.NodeID]energy.Watts{},
		settings: settings, books: f.Bookings, now: f.Now, past: f.Past,
		current: cluster.NewConfiguration(), intended: cluster.NewConfiguration(),
		avoid: map[cluster.VMID][]cluster.NodeID{}, pinned: map[cluster.VMID]bool{}, live: map[cluster.VMID]bool{},
		claims: map[cluster.NodeID]cluster.Resources{}, off: map[cluster.NodeID]bool{}, least: map[cluster.NodeID]energy.Watts{},
		budgets: f.Budgets, images: f.Images, noImages: f.NoImages, waits: f.Waits, nonPreemptible: map[cluster.VJobID]string{}, ineligible: map[cluster.VJobID]string{}, chosenShapes: map[cluster.VJobID]int{},
		quarantined: map[cluster.VJobID]string{}, immovable: map[cluster.VMID]bool{},
		drained: map[cluster.NodeID]bool{}, leavesNode: map[cluster.VJobID]bool{}, unsavable: map[cluster.VJobID]bool{},
	}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.State == cluster.Draining && !n.Silent {
			p.drained[n.ID] = true
		}
		p.off[n.ID] = !n.On
		node := n.Node
		free := node.Capacity.Minus(n.Foreign)
		node.Capacity = cluster.Resources{CPU: max(0, free.CPU), Memory: max(0, free.Memory)}
		p.current.SetNode(node)
		p.intended.SetNode(node)
		if settings.Live {
			for vm := range n.Locked {
				p.live[vm] = true
			}
		}
	}
	return p
}

// recheck records that the view would change at an instant; zero is ignored.
func (p *View) recheck(at time.Time) {
	if at.IsZero() {
		return
	}
	if p.RecheckAt.IsZero() || at.Before(p.RecheckAt) {
		p.RecheckAt = at
	}
}

// checkEligible makes a vjob ineligible that has just failed, lacks an image or waits for
// dependencies, and keeps it off the nodes on which it failed.
func (p *View) checkEligible(r *execute.Report, waits string) {
	if until := r.Failed.Add(p.settings.Pause(r.Failures)); r.Failures > 0 && p.now.Before(until) {
		p.ineligible[r.Job.ID] = fmt.Sprintf("tried %d times, next try in %s: %s",
			r.Failures, until.Sub(p.now).Round(time.Second), r.Why)
		p.recheck(until)
	}
	if r.Missing != "" {
		p.ineligible[r.Job.ID] = r.Missing
	}
	if waits != "" {
		p.ineligible[r.Job.ID] = waits
	}
	if until := r.Failed.Add(shunFor); len(r.Refusals) > 0 && p.now.Before(until) {
		for _, refusal := range r.Refusals {
			p.avoid[refusal.VM] = append(p.avoid[refusal.VM], refusal.Node)
		}
		p.recheck(until)
	}
}

// shunFor is how long after its last failed attempt a vjob avoids the nodes on which it failed.
const shunFor = 10 * time.Minute

// place adds the VMs of a vjob to the configurations.
func (p *View) place(r *execute.Report, books Bookings) {
	if isApplicant(r) {
		need := books.Need
		if _, molded := p.chosenShapes[r.Job.ID]; molded {
			need = func(vm cluster.VMID) cluster.Resources { return p.settings.Needs(r.Job, vm.Rank, 0, false) }
		}
		p.applicants = append(p.applicants, newApplicant(r.Job, need))
		return
	}
	fixed, arrives := !r.Idle || r.Blind, r.Bound == cluster.VMRunning
	for rank, m := range r.Record.Members {
		vm := r.Job.VMs[rank].ID
		need := books.Need(vm)
		if fixed && !arrives && p.settings.Policy.Traits().Needs != queue.Reserved {
			// It is paused or about to be: it releases its CPU now and its memory when it is
			// gone. Otherwise others would be suspended for the same resources.
			need.CPU = 0
		}
		switch {
		case m.Ended:
		case fixed && !arrives: // it is leaving: it keeps what it has and gets no more
			p.claim(need, books.Holds(vm))
			if _, known := p.intended.Node(m.Node); known && r.Bound == cluster.VMPaused {
				p.intended.SetPaused(vm, need, m.Node)
			}
		case fixed:
			p.pin(vm, need, books.Destination(vm), books.Holds(vm))
			if at, ok := p.current.Host(vm); ok {
				p.intended.SetRunning(vm, need, at)
			}
		case r.Job.State == cluster.Running:
			p.current.SetRunning(vm, need, m.Node)
			p.intended.SetRunning(vm, need, m.Node)
			if r.Job.Container { // other vjobs run inside
				p.pinned[vm], p.immovable[vm] = true, true
			}
		case r.Job.State == cluster.Paused:
			p.current.SetPaused(vm, need, m.Node)
			p.intended.SetPaused(vm, need, m.Node)
		case m.Image != nil:
			p.current.SetSleeping(vm, need, m.Image.Node)
			p.intended.SetSleeping(vm, need, m.Image.Node)
		default:
			p.current.SetWaiting(vm, need)
			p.intended.SetWaiting(vm, need)
		}
	}
}

// pin adds a VM that must not be touched at its destination, and claims its needs on every other
// node that it may use until then.
func (p *View) pin(vm cluster.VMID, need cluster.Resources, at cluster.NodeID, holds []cluster.NodeID) {
	p.pinned[vm] = true
	if _, known := p.current.Node(at); !known && len(holds) > 0 {
		at = holds[len(holds)-1]
	}
	if _, known := p.current.Node(at); known {
		p.current.SetRunning(vm, need, at)
	}
	p.claim(need, slices.DeleteFunc(holds, func(n cluster.NodeID) bool { return n == at }))
}

// claim counts resources of nodes as taken.
func (p *View) claim(need cluster.Resources, nodes []cluster.NodeID) {
	for _, n := range nodes {
		p.claims[n] = p.claims[n].Plus(need)
	}
}
