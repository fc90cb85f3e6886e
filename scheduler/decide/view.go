package decide

import (
	"fmt"
	"iter"
	"maps"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/queue"
	"vjob/scheduler/supply"
)

// View is the cluster as one decision sees it. It does not change; a [Variant] is a copy that does.
type View struct {
	// VJobs are those of the facts, in their order, without those inside containers. Moldable vjobs
	// have their chosen shape.
	VJobs []execute.Report
	// Invalid are the rules that can no longer be parsed or kept.
	Invalid InvalidRules
	// Limits are the power limits that the decision keeps.
	Limits PowerLimits
	// RecheckAt is when the same facts would give another view; zero if never.
	RecheckAt time.Time

	settings     *Settings
	facts        *Facts
	costs        *ctxswitch.Costs // with what was learned
	layout       layout
	supply       supply.Supply
	ineligible   map[cluster.VJobID]Bar
	quarantined  map[cluster.VJobID]string // vjobs with which decisions fail, and why
	chosenShapes map[cluster.VJobID]int    // of moldable vjobs
	// demandLimits are the most CPU for which the VMs of some vjobs count, by rank, since no nodes have what they demand.
	demandLimits map[cluster.VJobID][]cluster.MilliCPU
	closed       string          // why no vjob may run in the container; "" if they may
	inside       []containerView // the views of containers
}

// NewView makes a view of the facts, with a view inside each container.
func NewView(settings *Settings, f *Facts) *View {
	own, inner := splitByContainer(f.VJobs)
	g := *f
	g.VJobs = own
	v := newView(settings, &g)
	for i := range v.VJobs {
		if c := &v.VJobs[i]; c.Job.Container {
			v.inside = append(v.inside, newContainerView(v, f, c, inner[c.Job.ID]))
		}
	}
	v.recheck(settings.nextDivision(f))
	return v
}

// newView makes a view of the facts without containers. Silent nodes offer nothing and release
// nothing; vjobs under way count on every node that they were promised. The view takes the facts over.
func newView(settings *Settings, f *Facts) *View {
	v := emptyView(settings, f)
	v.chooseShapes()
	compatibility{v}.compare()
	v.limitDemand()
	for _, busy := range []bool{false, true} { // what is intended differs by those that are busy
		for i := range v.VJobs {
			if r := &v.VJobs[i]; r.Busy() == busy {
				v.place(r)
			}
		}
	}
	v.attachRules()
	v.quarantine()
	v.applyGates()
	v.Limits = v.powerLimits()
	v.layout.lend()
	return v
}

// emptyView returns a view with the nodes and without VMs.
func emptyView(settings *Settings, f *Facts) *View {
	costs := settings.Execute.Costs
	costs.Learned = f.Learned
	v := &View{
		VJobs: f.VJobs, settings: settings, facts: f, costs: &costs, layout: newLayout(f.Site.With(f.Nodes, settings.Execute.Transfers), settings.Live),
		supply: supply.Supply{
			Models: settings.Energy.Power, Budgets: f.Budgets, Off: map[cluster.NodeID]bool{}, Least: maps.Clone(f.Least),
		},
		ineligible: map[cluster.VJobID]Bar{}, quarantined: map[cluster.VJobID]string{},
		chosenShapes: map[cluster.VJobID]int{},
	}
	if v.supply.Least == nil {
		v.supply.Least = map[cluster.NodeID]energy.Watts{}
	}
	for _, n := range f.Nodes {
		if n.State == cluster.Draining && !n.Silent && f.mayDrain(n.ID) {
			v.layout.drained[n.ID] = true
		}
		if !n.On {
			v.supply.Off[n.ID] = true
		}
	}
	return v
}

// place adds the VMs of a vjob to the layout.
func (v *View) place(r *execute.Report) {
	books := v.bookingsInPlace(r)
	if isApplicant(r) {
		need := books.Need
		if _, molded := v.chosenShapes[r.Job.ID]; molded {
			need = func(vm cluster.VMID) cluster.Resources { return v.settings.Needs(r.Job, vm.Rank, 0, false) }
		}
		v.layout.applicants = append(v.layout.applicants, newApplicant(r.Job, need))
		return
	}
	v.layout.place(r, books, v.settings.Policy.Traits().Needs == queue.Reserved)
}

// quarantine excludes the vjobs that are in quarantine.
func (v *View) quarantine() {
	for id, q := range v.facts.Quarantined {
		v.quarantined[id] = fmt.Sprintf("%s; next try in %s", q.Why, q.Until.Sub(v.facts.Now).Round(time.Second))
		v.recheck(q.Until)
	}
	v.fixQuarantined(v.quarantined)
}

// fixQuarantined takes vjobs out of the layout. Their running VMs stay in place.
func (v *View) fixQuarantined(list map[cluster.VJobID]string) {
	if len(list) == 0 {
		return
	}
	out := func(id cluster.VJobID) bool { return list[id] != "" }
	v.layout.drop(out)
	for i := range v.VJobs {
		job := v.VJobs[i].Job
		if !out(job.ID) {
			continue
		}
		for k := range job.VMs {
			v.layout.fixInPlace(job.VMs[k].ID)
		}
	}
}

// without returns a view with some vjobs in quarantine.
func (v *View) without(reasons map[cluster.VJobID]string) *View {
	w := *v
	w.layout, w.quarantined = v.layout.clone(), maps.Clone(v.quarantined)
	maps.Copy(w.quarantined, reasons)
	w.fixQuarantined(reasons)
	return &w
}

// recheck records that the view would change at an instant; zero is ignored.
func (v *View) recheck(at time.Time) {
	if at.IsZero() {
		return
	}
	if v.RecheckAt.IsZero() || at.Before(v.RecheckAt) {
		v.RecheckAt = at
	}
}

// jobs yields the vjobs.
func (v *View) jobs() iter.Seq[*cluster.VJob] {
	return func(yield func(*cluster.VJob) bool) {
		for i := range v.VJobs {
			if !yield(v.VJobs[i].Job) {
				return
			}
		}
	}
}

// Nodes returns the nodes of the view, in order.
func (v *View) Nodes() []cluster.Node { return v.layout.current.Nodes() }

// DelayedUntil returns when a vjob starts to compete for resources that waits only for an instant:
// for a lower energy price, or for its start window.
func (v *View) DelayedUntil(id cluster.VJobID) (at time.Time, delayed bool) {
	at = v.ineligible[id].Until
	return at, !at.IsZero()
}

// WaitsForResources reports whether a vjob waits only for resources or power after a verdict on it.
func (v *View) WaitsForResources(job *cluster.VJob, verdict *queue.Verdict) bool {
	_, delayed := v.DelayedUntil(job.ID)
	return job.State.Ready() && verdict.Target == queue.Wait && !job.Held && !delayed && job.Inner == 0 && !job.Reservation.After(v.facts.Now)
}

// barred reports whether a gate or the quarantine keeps a vjob from starting.
func (v *View) barred(id cluster.VJobID) bool {
	return v.ineligible[id].Reason != "" || v.quarantined[id] != ""
}

// PowerLimits are the power limits that a decision keeps.
type PowerLimits struct {
	// Now holds those of now, and those that begin so soon that the vjobs they stop must be
	// suspended now.
	Now     []budget.Limit
	Changes []LimitChange
	// Kept is the power kept for nodes that should come on.
	Kept map[cluster.NodeID]energy.Watts
}
