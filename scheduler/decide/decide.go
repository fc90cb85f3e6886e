// Package decide takes one decision of the loop: from the facts about the cluster to the target of
// each vjob, its reason, and the plan that leads there. A [View] is the cluster as one decision
// sees it, [View.Decide] takes the decision, and a [Variant] of the same view answers what-if
// questions.
//
// A decision is a pipeline. Each stage has a file or two, reads the view, and passes on values:
//
//	stage     from                           to                                       files
//	view      facts                          layout of VMs, shapes, power limits      view.go, layout.go, shapes.go, limits.go
//	gates     view                           ineligible vjobs, with reasons           gates.go, price.go
//	select    eligible vjobs in queue order  a target and a cause for each            select.go, attempt.go
//	          beside these: capacity within quotas, pools, power and image space      quotas.go, pools.go, powerledger.go, images.go
//	evacuate  targets, drained nodes         targets                                  drained.go
//	suspend   targets, memory, image space   verdicts: to disk, in memory or not yet  suspend.go
//	reserve   verdicts, lead times           nodes cleared for reservations           prepare.go, leads.go
//	plan      verdicts                       a plan; retried without what proves      plan.go, retry.go, reservations.go
//	                                         infeasible
//	power     plan, limits                   CPU shares; a plan that keeps limits     shares.go, power.go
//	causes    plan, verdicts                 a cause for each gang                    causes.go
//	improve   an empty plan                  moves off crowded nodes, or that save    balance.go, consolidate.go, consolidator*.go,
//	                                         power                                    relocation.go
//	entitle   demands, pools                 CPU weights, caps where limits bind      entitle.go
//
// Containers have views of their own (container.go). View and gates are made by the constructor of the
// view; the loop asks for the last two stages, for improve when it has nothing else to do; the others run in this order in
// attempt.run. Around them, from the outside in:
//
//	Decide                   the cluster, then the containers
//	decideWithoutCulprits    again without the vjobs that make a decision fail (bisect.go)
//	decideRecovering         a panic becomes an error
//	decideWithinPower        again without the vjobs that lack power where the plan would place them
//	attempt.run              the stages
package decide

import (
	"fmt"
	"maps"
	"runtime/debug"
	"strings"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/queue"
	"vjob/scheduler/entitlement"
	"vjob/scheduler/failover"
)

// Decision holds the target of each vjob of a view and the plan that leads there.
type Decision struct {
	// VJobs are those of the view, and those inside its containers after them.
	VJobs []execute.Report
	// Verdicts are in the order of VJobs; nil if no decision was taken.
	Verdicts []queue.Verdict
	Plan     ctxswitch.Plan
	Why      string   // why there is no plan; "" if there is one, or none is needed
	Breaches []string // of rules, before the plan
	// Shapes are the shapes in which the plan starts moldable vjobs.
	Shapes map[cluster.VJobID]int
	// Caps are the CPU shares of the VMs of vjobs that run or are about to. Without SharesCPU
	// the map is empty, and earlier caps are lifted.
	Caps      map[cluster.VJobID][]cluster.MilliCPU
	SharesCPU bool
	// Weights are the CPU weights of the VMs of vjobs that run or are about to, by rank, from 1 to 10000 as those
	// of cgroup v2; 0 for a VM that does not run. Vjobs that are not listed keep the weights that they have.
	Weights map[cluster.VJobID][]int
	// Division is what pools and VMs are entitled to; nil if the cluster is not divided.
	Division *entitlement.Division
	// DemandLimits are the most CPU for which the VMs of some vjobs count, by rank, since no nodes have what they demand.
	DemandLimits map[cluster.VJobID][]cluster.MilliCPU
	// Failover is whether nodes can be lost after the plan; its Nodes are 0 if no capacity is kept for that.
	Failover failover.Report
	// Culprits were left out because a decision with them fails.
	Culprits []Culprit

	final *attempt // the attempt that it is from
}

// Decide takes a decision for the cluster and for the vjobs inside containers.
func (v *View) Decide() (Decision, error) {
	d, err := v.decideWithoutCulprits()
	d.VJobs, d.DemandLimits = v.VJobs, v.allDemandLimits()
	if d.Verdicts != nil {
		v.decideInside(&d)
	}
	return d, err
}

// Keep forgets the vjobs that are no longer live. Actions of theirs stay in the plan.
func (d *Decision) Keep(live func(id cluster.VJobID) bool) {
	vjobs, verdicts := d.VJobs[:0:0], d.Verdicts[:0:0]
	for i := range d.VJobs {
		if live(d.VJobs[i].Job.ID) {
			vjobs, verdicts = append(vjobs, d.VJobs[i]), append(verdicts, d.Verdicts[i])
		}
	}
	if len(vjobs) < len(d.VJobs) {
		d.VJobs, d.Verdicts = vjobs, verdicts
	}
}

// decideRecovering takes a decision and returns a panic as an error. With force, a plan is asked for even if
// nothing changes.
func (v *View) decideRecovering(force bool) (d Decision, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v in %s", r, origin(string(debug.Stack())))
		}
	}()
	return v.decideWithinPower(force)
}

// decideWithinPower takes a decision within the power limits. Vjobs that turn out to lack power where
// the plan would place them become ineligible, and it decides again, so that others get what they
// would have taken.
func (v *View) decideWithinPower(force bool) (Decision, error) {
	unpowered := map[cluster.VJobID]string{}
	for try := 1; v.limited() && try < maxRounds; try++ {
		d, lacking, err := v.newAttempt(unpowered).run(force)
		if len(lacking) == 0 {
			return d, err
		}
		maps.Copy(unpowered, lacking)
	}
	d, _, err := v.newAttempt(unpowered).run(force)
	return d, err
}

// run runs the stages. It returns the vjobs that lack power where the plan would place them, and
// why. An error makes the decision invalid.
func (a *attempt) run(force bool) (d Decision, unpowered map[cluster.VJobID]string, err error) {
	targets, fault := a.selectTargets()
	a.evacuate(targets)
	a.addStarters(targets)
	verdicts := a.placeSuspended(targets)
	a.prepareReservations(verdicts)
	s := newPlanning(a, targets, verdicts, force)
	s.run()
	a.explainIncompatible(s.verdicts)
	d = Decision{Verdicts: s.verdicts, Plan: s.plan, Why: s.why, Breaches: s.breaches, Shapes: a.startShapes(&s.plan), final: a}
	p := powering{a}
	d.SharesCPU, d.Caps = a.sharesCPU(), p.caps(d.Verdicts, d.Plan.Target)
	d.Plan = p.delay(d.Plan, d.Caps)
	d.explain()
	d.Failover = a.failoverAfter(&d.Plan)
	if s.fault != nil {
		fault = s.fault
	}
	return d, s.unpowered, fault
}

// origin returns the function that panicked, read from the stack.
func origin(stack string) string {
	_, after, _ := strings.Cut(stack, "\npanic(")
	for line := range strings.Lines(after) {
		name := line[:max(0, strings.LastIndexByte(line, '('))]
		if strings.Contains(name, "/") && !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "runtime/") {
			return name
		}
	}
	return "an unknown place"
}
