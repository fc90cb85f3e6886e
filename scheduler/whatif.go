package scheduler

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/energy"
	"vjob/queue"
	"vjob/queue/multifactor"
	"vjob/queue/ordering"
	"vjob/queue/pool"
	"vjob/scheduler/admission"
	"vjob/scheduler/decide"
)

// WhatIf is a set of changes to try out.
type WhatIf struct {
	Add    []decide.NewNode                     // nodes that do not exist
	Demand []decide.DemandChange                // of VMs, in this order
	Pools  *[]pool.PoolStatement                // replace all pools; nil: as they are
	Nodes  map[cluster.NodeID]cluster.NodeState // nodes in another state
	Off    []cluster.NodeID                     // nodes that are switched off once they are empty
	Rules  *string                              // replace the stated rules
	Budget *energy.Watts                        // replaces the budgets of the cluster
	Submit *admission.Submission                // one more vjob
	Delete []cluster.VJobID                     // vjobs that end
	// Place is the vjob of which to list placements, 0 for the one of Submit; nil: of no vjob.
	Place *cluster.VJobID
	// Alternatives is how many placements to list at most.
	Alternatives int
}

// WhatIfResult is what would be decided after the changes.
type WhatIfResult struct {
	// VJobs are those with another target or another estimated start than now, the lost ones, and the hypothetical one.
	VJobs    []WhatIfVJob
	Plan     ctxswitch.Plan // the context switch that would begin
	Why      string         // why there is no plan
	Breaches []string       // of rules before any plan
	Nodes    int            // that would take VMs
	// Undrained are the drained nodes that would keep VMs, each with the reason.
	Undrained map[cluster.NodeID]string
	// Placements are those of the vjob that was asked for, the best first. Refusals are the nodes that
	// take none of its VMs.
	Placements []decide.Placement
	Refusals   []decide.Refusal
	// Before and After are the cluster as it is decided now, and after the changes; nil if there is no decision.
	Before, After *WhatIfFigures
}

// WhatIfVJob is the verdict on a vjob now and after the changes. The id of a hypothetical vjob is 0.
type WhatIfVJob struct {
	*cluster.VJob
	Now, Then queue.Verdict
	// NowStart and ThenStart are the estimated starts of a vjob that waits; zero if unknown, or if it runs.
	NowStart, ThenStart time.Time
}

// Hypothetical reports whether the vjob was never submitted.
func (l *WhatIfVJob) Hypothetical() bool { return l.ID == 0 }

// WhatIf prepares the answer to what would be decided after some changes. The answer takes a while
// and does not use the core. Nothing changes. It fails if the changes are invalid.
func (c *Core) WhatIf(now time.Time, s WhatIf, b admission.Limits) (answer func() WhatIfResult, err error) {
	if !c.exec.AllSeen() {
		return nil, fmt.Errorf("not all nodes have been looked at since the start: %w", cluster.ErrUnavailable)
	}
	facts, asked := c.detachedFacts(now), c.detachedFacts(now)
	settings, pools, err := s.change(c, asked)
	if err != nil {
		return nil, err
	}
	present := &comparand{Variant: decide.NewView(&c.settings.Settings, facts).Vary(), now: now}
	then := &comparand{Variant: decide.NewView(settings, asked).Vary(), now: now}
	if err := s.apply(c, now, then.Variant, pools, b); err != nil {
		return nil, err
	}
	present.balancing(c, facts, facts)
	then.balancing(c, asked, facts)
	if s.Place == nil {
		return func() WhatIfResult { return compare(present, then) }, nil
	}
	id, standby := *s.Place, c.Power.standby()
	if id == 0 {
		id = hypotheticalID
	}
	if err := then.Placeable(id); err != nil {
		return nil, err
	}
	return func() WhatIfResult {
		room := then.Vary()
		f := compare(present, then)
		f.Placements, f.Refusals = room.Placements(id, s.Alternatives, standby)
		f.renumberPlacements()
		return f
	}, nil
}

// renumberPlacements replaces the hypothetical id by 0.
func (f *WhatIfResult) renumberPlacements() {
	for i := range f.Placements {
		one := WhatIfResult{Plan: f.Placements[i].Plan}
		one.renumber()
		f.Placements[i].Plan = one.Plan
	}
	for i := range f.Refusals {
		f.Refusals[i].Why = strings.ReplaceAll(f.Refusals[i].Why, hypotheticalID.String(), "0")
	}
}

// detachedFacts returns the inputs of a decision that is taken beside the loop.
func (c *Core) detachedFacts(now time.Time) *decide.Facts {
	f := c.facts(now, c.Improver.Approvals())
	f.Detach()
	return f
}

// change applies the changes of nodes, pools and demand to the inputs of a decision. It returns the settings with the
// models of added nodes, and the pools.
func (s *WhatIf) change(c *Core, f *decide.Facts) (*decide.Settings, *pool.Hierarchy, error) {
	settings, err := f.AddNodes(&c.settings.Settings, s.Add)
	if err != nil {
		return nil, nil, err
	}
	pools := c.Pools.all
	if s.Pools != nil {
		if pools, err = s.readPools(); err != nil {
			return nil, nil, err
		}
	}
	h, err := pool.KeptHierarchy(capacity(f.Nodes), pools)
	if s.Pools != nil && err == nil {
		h, err = pool.NewHierarchy(capacity(f.Nodes), pools)
	}
	if err != nil {
		return nil, nil, err
	}
	own := s.Submit != nil && (s.Submit.Shares != "" || s.Submit.CPUReservation > 0 || s.Submit.CPULimit > 0)
	if f.Pools = nil; own || len(pools) > 0 || slices.ContainsFunc(f.VJobs, hasControls) {
		f.Pools = h
	}
	return settings, h, f.ChangeDemand(settings, s.Demand)
}

// readPools reads the pools that replace the present ones.
func (s *WhatIf) readPools() ([]pool.Pool, error) {
	pools, err := pool.ReadPools(*s.Pools)
	if err != nil {
		return nil, err
	}
	for i := range pools {
		if pools[i].Name == pool.Root {
			return nil, cluster.BadField(fmt.Sprintf("pools[%d].name", i), pool.Root, "a name other than that of the whole cluster")
		}
	}
	return pools, nil
}

// apply applies the other changes to a variant of the view.
func (s *WhatIf) apply(c *Core, now time.Time, v *decide.Variant, pools *pool.Hierarchy, b admission.Limits) error {
	for id, state := range s.Nodes {
		if err := v.SetNodeState(id, state); err != nil {
			return err
		}
	}
	for _, id := range s.Off {
		if err := v.TurnOff(id); err != nil {
			return err
		}
	}
	if s.Rules != nil {
		if err := c.Rules.checkOn(v.Nodes(), *s.Rules); err != nil {
			return err
		}
		v.ReplaceRules(c.Rules.stated.Text, *s.Rules)
	}
	if s.Budget != nil {
		if len(c.settings.Energy.Power) == 0 {
			return cluster.Fault("budget_watts", "the settings of the daemon have no power models: add them (energy.models)")
		}
		v.SetClusterBudget(*s.Budget)
	}
	for _, id := range s.Delete {
		if err := v.Remove(id); err != nil {
			return err
		}
	}
	if s.Submit == nil {
		return nil
	}
	if err := s.Submit.Validate(b, v.Nodes()); err != nil {
		return err
	}
	routed, err := s.Submit.Route(c.settings.Ordering)
	if err != nil {
		return err
	}
	if err := c.settings.admitPool(routed, pools); err != nil {
		return err
	}
	if err := c.Admit(now, s.Submit); err != nil {
		return err
	}
	addTo(v, c.VJobs.order, now, s.Submit)
	return nil
}

// hypotheticalID is the id of the hypothetical vjob during the decision; no real vjob gets it.
const hypotheticalID = cluster.VJobID(math.MaxInt64)

// addTo adds a vjob that was not submitted to a variant, at its place in the order.
func addTo(v *decide.Variant, order *ordering.Order, now time.Time, s *admission.Submission) {
	job := s.VJob(hypotheticalID)
	job.Submitted = now
	own := order.WhatIf(job, now)
	at, _ := slices.BinarySearchFunc(v.VJobs, &own, func(r execute.Report, own *multifactor.Priority) int {
		other, _ := order.Rank(r.Job.ID, now) // all are there
		return other.Compare(own)
	})
	v.Add(job, at)
}

// renumber replaces the hypothetical id by 0 in the plan and in all texts.
func (f *WhatIfResult) renumber() {
	renumber := func(text *string) { *text = strings.ReplaceAll(*text, hypotheticalID.String(), "0") }
	for i := range f.Plan.Actions {
		if vm := &f.Plan.Actions[i].VM; vm.VJob == hypotheticalID {
			vm.VJob = 0
		}
	}
	for i := range f.Plan.Gangs {
		if g := &f.Plan.Gangs[i]; g.VJob == hypotheticalID {
			g.VJob = 0
		}
	}
	for i := range f.VJobs {
		x := &f.VJobs[i]
		if x.ID == hypotheticalID {
			job := *x.VJob
			job.ID, x.VJob = 0, &job
		}
		renumber(&x.Now.Reason)
		renumber(&x.Then.Reason)
	}
	for _, list := range [][]string{f.Breaches, f.Plan.Leaves} {
		for i := range list {
			renumber(&list[i])
		}
	}
	f.Plan.Dropped = slices.Clone(f.Plan.Dropped)
	for i := range f.Plan.Dropped {
		d := &f.Plan.Dropped[i]
		renumber(&d.Rule)
		renumber(&d.Breach)
		renumber(&d.Why)
	}
	renumber(&f.Why)
}

// capacity returns the capacity of the nodes of a question, in any state.
func capacity(nodes []execute.NodeReport) (sum cluster.Resources) {
	for i := range nodes {
		sum = sum.Plus(nodes[i].Capacity)
	}
	return sum
}
