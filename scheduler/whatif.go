package scheduler

import (
	"cmp"
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
	"vjob/queue/pool"
	"vjob/scheduler/admission"
	"vjob/scheduler/decide"
	"vjob/scheduler/improve"
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

// Baseline is the cluster as it is now, with all that what-ifs need of the core: they are compared with what is decided
// on it. Once that is decided, any number of them can be answered at the same time.
type Baseline struct {
	now      time.Time
	settings *decide.Settings
	facts    *decide.Facts
	demand   improve.Extremes         // of running VMs lately
	ask      *improve.BalanceSettings // nil: the load is not evened out
	spread   bool                     // VMs are spread

	side *side // of the comparisons; nil until [Baseline.Decide]
}

// Baseline takes the facts from the core, which goes on.
func (c *Core) Baseline(now time.Time) (*Baseline, error) {
	if !c.exec.AllSeen() {
		return nil, fmt.Errorf("not all nodes have been looked at since the start: %w", cluster.ErrUnavailable)
	}
	b := &Baseline{
		now: now, settings: &c.settings.Settings, facts: c.facts(now, c.Improver.Approvals()),
		ask: c.settings.Improve.Balance, spread: c.settings.Improve.Placement == improve.Spread,
	}
	b.facts.Detach()
	if b.ask != nil && b.spread {
		b.demand = c.demand.Extremes(b.facts.VJobs)
	}
	return b, nil
}

// Decide decides on the cluster as it is. It takes a while, and does not use the core.
func (b *Baseline) Decide() {
	v := decide.NewView(b.settings, b.facts.Fork()) // the view takes its lists over
	b.side = b.decide(v, b.facts)
}

// question is a what-if with all that its answer needs of the core.
type question struct {
	WhatIf
	*Baseline
	then    *decide.Facts    // after the changes of nodes, pools and demand; without any, the facts of the baseline
	changed *decide.Settings // with the models of added nodes
	stated  string           // the rules that are replaced
	ahead   int              // how many vjobs of the facts come before the submitted one
	standby []cluster.NodeID
}

// WhatIf takes from the core what the answer to a question needs besides its baseline. The answer takes a while, does not
// use the core, and is given once, after [Baseline.Decide]. Nothing changes. Both fail if the changes are invalid.
func (c *Core) WhatIf(b *Baseline, s WhatIf, most admission.Limits) (answer func() (WhatIfResult, error), err error) {
	q := &question{WhatIf: s, Baseline: b, changed: b.settings, stated: c.Rules.stated.Text}
	pools, err := q.change(c)
	if err != nil {
		return nil, err
	}
	if err := q.admit(c, pools, most); err != nil {
		return nil, err
	}
	if s.Place != nil {
		q.standby = c.Power.standby()
	}
	return q.answer, nil
}

// answer decides after the changes, and compares the decision with that of now.
func (q *question) answer() (WhatIfResult, error) {
	variant := q.variant()
	if err := q.apply(variant); err != nil {
		return WhatIfResult{}, err
	}
	if q.Place == nil {
		return compare(q.side, q.decide(&variant.View, q.then)), nil
	}
	id := cmp.Or(*q.Place, hypotheticalID)
	if err := variant.Placeable(id); err != nil {
		return WhatIfResult{}, err
	}
	room := variant.Vary()
	f := compare(q.side, q.decide(&variant.View, q.then))
	f.Placements, f.Refusals = room.Placements(id, q.Alternatives, q.standby)
	f.renumberPlacements()
	return f, nil
}

// variant returns a view of the facts to be changed. Without other facts than those of now it is a copy of that view.
func (q *question) variant() *decide.Variant {
	if q.then == q.facts {
		return q.side.Vary()
	}
	return decide.NewView(q.changed, q.then).Vary()
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

// change applies the changes of nodes, pools and demand to the facts, and returns the pools then.
func (q *question) change(c *Core) (_ *pool.Hierarchy, err error) {
	own := q.Submit != nil && (q.Submit.Shares != "" || q.Submit.CPUReservation > 0 || q.Submit.CPULimit > 0)
	if q.then = q.facts; len(q.Add)+len(q.Demand) == 0 && q.Pools == nil && !own {
		return c.Pools.hierarchy(), nil
	}
	f := q.facts.Fork()
	if q.changed, err = f.AddNodes(q.settings, q.Add); err != nil {
		return nil, err
	}
	pools := c.Pools.all
	if q.Pools != nil {
		if pools, err = q.readPools(); err != nil {
			return nil, err
		}
	}
	h, err := pool.KeptHierarchy(capacity(f.Nodes), pools)
	if q.Pools != nil && err == nil {
		h, err = pool.NewHierarchy(capacity(f.Nodes), pools)
	}
	if err != nil {
		return nil, err
	}
	if f.Pools = nil; own || len(pools) > 0 || slices.ContainsFunc(f.VJobs, hasControls) {
		f.Pools = h
	}
	q.then = f
	return h, f.ChangeDemand(q.changed, q.Demand)
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

// admit checks the rules and the submission as the core would, and finds the place of the vjob in the queue.
func (q *question) admit(c *Core, pools *pool.Hierarchy, b admission.Limits) error {
	if q.Rules != nil {
		if err := c.Rules.checkOn(q.then.Offered(), *q.Rules); err != nil {
			return err
		}
	}
	if q.Submit == nil {
		return nil
	}
	if err := q.Submit.Validate(b, q.then.Offered()); err != nil {
		return err
	}
	routed, err := q.Submit.Route(c.settings.Ordering)
	if err != nil {
		return err
	}
	if err := c.settings.admitPool(routed, pools); err != nil {
		return err
	}
	if err := c.Admit(q.now, q.Submit); err != nil {
		return err
	}
	own := c.VJobs.order.WhatIf(q.hypothetical(), q.now)
	q.ahead, _ = slices.BinarySearchFunc(q.then.VJobs, &own, func(r execute.Report, own *multifactor.Priority) int {
		other, _ := c.VJobs.order.Rank(r.Job.ID, q.now) // all are there
		return other.Compare(own)
	})
	return nil
}

// apply applies the other changes to a variant of the view.
func (q *question) apply(v *decide.Variant) error {
	for id, state := range q.Nodes {
		if err := v.SetNodeState(id, state); err != nil {
			return err
		}
	}
	for _, id := range q.Off {
		if err := v.TurnOff(id); err != nil {
			return err
		}
	}
	if q.Rules != nil {
		v.ReplaceRules(q.stated, *q.Rules)
	}
	if q.Budget != nil {
		if len(q.settings.Energy.Power) == 0 {
			return cluster.Fault("budget_watts", "the settings of the daemon have no power models: add them (energy.models)")
		}
		v.SetClusterBudget(*q.Budget)
	}
	for _, id := range q.Delete {
		if err := v.Remove(id); err != nil {
			return err
		}
	}
	if q.Submit != nil {
		v.Add(q.hypothetical(), q.place(v))
	}
	return nil
}

// place returns the place of the submitted vjob in a variant, which has the vjobs of the facts but for deleted ones and
// those in containers.
func (q *question) place(v *decide.Variant) (at int) {
	for i := range q.ahead {
		if at < len(v.VJobs) && v.VJobs[at].Job.ID == q.then.VJobs[i].Job.ID {
			at++
		}
	}
	return at
}

// hypothetical returns the submitted vjob.
func (q *question) hypothetical() *cluster.VJob {
	job := q.Submit.VJob(hypotheticalID)
	job.Submitted = q.now
	return job
}

// hypotheticalID is the id of the hypothetical vjob during the decision; no real vjob gets it.
const hypotheticalID = cluster.VJobID(math.MaxInt64)

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
func capacity(nodes []*execute.NodeReport) (sum cluster.Resources) {
	for i := range nodes {
		sum = sum.Plus(nodes[i].Capacity)
	}
	return sum
}
