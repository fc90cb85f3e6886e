package execute

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/energy"
)

// Report is one vjob as the executor has it, for the scheduler and for users.
type Report struct {
	Job    *cluster.VJob // as it was then: it never changes
	Record *gang.Record  // owned by the executor; read only
	// Idle: nothing is under way or promised; a new plan may dispose of the vjob.
	Idle bool
	// Bound tells what a vjob that is not idle is on its way to.
	Bound cluster.VMState
	// Promised is the plan that will begin with the vjob when its turn comes, 0 for
	// none.
	Promised journal.PlanID
	// Blind: a silent node may hold a copy of a member; nothing is done with it.
	Blind   bool
	Wait    string            // what its gang waits for, "" for nothing
	Missing string            // which of its images cannot be read now, "" when none
	Watts   energy.Watts      // that it draws now: its shares of the nodes
	Used    cluster.Resources // by its VMs on their nodes; inner vjobs use what their container has
	Running
	Failing
}

// Busy reports whether a new plan must leave the vjob alone: it is not idle, or blind.
func (r *Report) Busy() bool { return !r.Idle || r.Blind }

// Running is how long a vjob has run.
type Running struct {
	Ran time.Duration // as far as it counts towards the walltime
	// Crowded is how long it ran beside that, on nodes that were asked for more CPU than
	// they have.
	Crowded time.Duration
	Short   bool // it runs on such nodes now: its walltime is stopped, though not for ever
	// Booked is as much of Ran as the journal has.
	Booked time.Duration
	Began  bool // it has run
}

// Failing is what is known of the attempts of a vjob in a row that did not lead where they should.
type Failing struct {
	Failures int       // how many
	Failed   time.Time // of the last one
	Why      string    // of the last one
	// Refusals are the nodes on which members failed to start in those attempts.
	Refusals []Refusal
}

// Jobs reports every live vjob, in order.
func (e *Executor) Jobs() []Report { return e.reports(sortedIDs(e.gangs.live)) }

// Begun reports the live vjobs that are on nodes, or were, in order: in a long queue they are few.
func (e *Executor) Begun() []Report { return e.JobsIn(sortedIDs(e.gangs.begun)) }

func (e *Executor) reports(ids []cluster.VJobID) []Report {
	list := make([]Report, len(ids))
	for i, id := range ids {
		list[i] = e.report(e.gangs.live[id])
	}
	return list
}

func sortedIDs(gangs map[cluster.VJobID]*gangState) []cluster.VJobID {
	ids := slices.AppendSeq(make([]cluster.VJobID, 0, len(gangs)), maps.Keys(gangs))
	slices.Sort(ids)
	return ids
}

// Bounds returns the live vjobs and what each is on its way to, in no order.
func (e *Executor) Bounds() iter.Seq2[*cluster.VJob, cluster.VMState] {
	return func(yield func(*cluster.VJob, cluster.VMState) bool) {
		for _, p := range e.gangs.live {
			if !yield(p.job, p.bound()) {
				return
			}
		}
	}
}

// Len returns the number of live vjobs.
func (e *Executor) Len() int { return len(e.gangs.live) }

// Has reports whether a vjob is live.
func (e *Executor) Has(id cluster.VJobID) bool { return e.gangs.live[id] != nil }

// Members reports the live vjobs of an array, in no order.
func (e *Executor) Members(array cluster.VJobID) []Report {
	var list []Report
	for _, p := range e.gangs.live {
		if p.job.Array == array {
			list = append(list, e.report(p))
		}
	}
	return list
}

// Job reports one vjob.
func (e *Executor) Job(id cluster.VJobID) (Report, bool) {
	p, ok := e.gangs.live[id]
	if !ok {
		return Report{}, false
	}
	return e.report(p), true
}

func (e *Executor) report(p *gangState) Report {
	var promised journal.PlanID
	if len(p.todo) > 0 && !p.todo[0].begun {
		promised = p.todo[0].plan.id
	}
	return Report{
		Promised: promised,
		Job:      p.job, Record: p.rec, Idle: p.idle(), Bound: p.bound(), Blind: e.nodes.mayHide(p), Wait: p.wait,
		Missing: cmp.Or(p.missing, e.store.unseen(p)), Watts: max(p.account.watts, 0), Used: e.VMs.used(p),
		Running: Running{
			Ran: p.account.ranAt(p.job, e.now), Crowded: p.account.crowdedAt(p.job, e.now), Short: p.account.short > 0,
			Booked: p.account.written(), Began: p.hasStarted(),
		},
		Failing: Failing{
			Failures: p.failures.count, Failed: p.failures.last, Why: p.failures.why, Refusals: p.failures.refusals,
		},
	}
}

// Names are those of the nodes, in order. They are not to be changed.
func (e *Executor) Names() []cluster.NodeID { return e.nodes.names }

// AllSeen reports whether every node has been looked at since the start, with
// or without success: before that nothing should be decided.
func (e *Executor) AllSeen() bool { return e.nodes.untried == 0 }

// Declared returns all nodes as they were declared, without what is observed of them. The list never changes: when a node is
// declared anew, the next one is another.
func (e *Executor) Declared() []cluster.Node {
	ns := e.nodes
	if ns.declared == nil {
		ns.declared = make([]cluster.Node, len(ns.sorted))
		for i, n := range ns.sorted {
			ns.declared[i] = n.Node
		}
	}
	return ns.declared
}

// Capacity returns the capacity of all nodes in any state: draining a node changes no share.
func (e *Executor) Capacity() cluster.Resources { return e.nodes.total }

// Offers counts the changes of what nodes offer to VMs.
func (e *Executor) Offers() uint64 { return e.nodes.offers }

// Offered returns what each node offers to VMs: nothing while it is offline, down or silent. A node that is drained, or
// switched off to save power, still offers what it has.
func (e *Executor) Offered() map[cluster.NodeID]cluster.Resources {
	offered := make(map[cluster.NodeID]cluster.Resources, len(e.nodes.byID))
	for id, n := range e.nodes.byID {
		offered[id] = cluster.Resources{}
		if (n.State == cluster.Online || n.State == cluster.Draining) && !n.silent() {
			offered[id] = n.Capacity
		}
	}
	return offered
}

// Acting reports whether a gang is not at rest: something is under way, or waited for.
func (e *Executor) Acting() bool { return len(e.gangs.active) > 0 }

// ActiveAction is an action under way, as users see it.
type ActiveAction struct {
	VM       cluster.VMID
	Kind     cluster.ActionKind
	Phase    gang.Phase
	Plan     journal.PlanID
	From, To cluster.NodeID
	Began    time.Time
	Expected time.Duration
}

// Actions lists the actions under way, in order of VMs.
func (e *Executor) Actions() []ActiveAction {
	var list []ActiveAction
	costs := e.Durations.costs()
	for _, id := range slices.Sorted(maps.Keys(e.gangs.active)) {
		p := e.gangs.active[id]
		if p.rec.Phase.Stable() {
			continue
		}
		kind := p.doing()
		for rank, m := range p.rec.Members {
			if m.Ended || kind == cluster.Migrate && m.Next == "" {
				continue
			}
			a := ActiveAction{
				VM: p.job.VMs[rank].ID, Kind: kind, Phase: p.rec.Phase, Plan: p.plan(),
				From: m.Node, To: m.Next, Began: p.rec.Since,
			}
			if a.From == "" && m.Image != nil {
				a.From = m.Image.Node
			}
			a.Expected = costs.Duration(kind, p.job.VMs[rank].Reserved.Memory, a.From, a.To)
			list = append(list, a)
		}
	}
	return list
}
