// Package execute carries plans out: it drives the gangs of all vjobs, each by the protocol of
// package gang, in the order of the plans' dependencies and within the capacity and the transfer
// slots that are free.
//
// It is a state machine without goroutines or I/O. Its inputs are events (a look, a reply, the
// time). Its output, by [Executor.Flush], is a step to commit and the calls and looks to make
// after the commit. After a failed commit or a crash, a new executor continues from the journal.
//
// A gang with an event is dirty: the next flush advances it. It is active until it is at rest, and denied
// while it waits for room or for a transfer slot. An assignment is one gang of a plan, which its vjob
// carries out. A call is under way until its reply; without one by its deadline it is unanswered, and it is
// settled once looks prove that it has no effect any more. A look shows what ended before the logical time
// (batch.tick) at which it began. A member is busy until looks show the effect of its last call.
//
// Read executor.go first: it takes events in and hands them to its parts. Each part holds the state of one
// concern and is given the parts that it uses; none knows the executor, and all add to the batch (batch.go).
// The engine advances the gangs (engine.go, finish.go): gang_state.go, member_state.go and phase_state.go have
// the state of one, plan.go and gang_plan.go its assignments, input.go what package gang decides on, and
// calls.go the calls, replies.go their ends. Looks go to nodes.go and store.go; capacity.go says which calls a node has room for,
// transfers.go in which order they get transfer slots.
// Beside the engine are images that are kept (kept.go), CPU caps and weights (tune.go), accounts (accounts.go), walltimes
// (walltime.go), energy (energy.go), durations (durations.go) and copies of no vjob (unknown.go). For other packages are
// report.go, demand.go on single VMs, and powerstate.go on nodes that are switched off and on.
package execute

import (
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// Executor drives all gangs. It takes in events and hands them to its parts, each with the state of
// one concern. It has one owner and is not safe for concurrent use.
type Executor struct {
	Hooks
	*batch
	gangs     *gangs
	published published

	// What was observed.
	nodes   *nodes
	store   *store
	unknown *unknownCopies

	// What is done.
	engine  *engine
	replies *replies
	tuner   *tuner
	Images  *Images

	// What was used.
	meters    meters
	Walltimes *Walltimes

	// For the scheduler.
	VMs         *VMs
	PowerStates *PowerStates
	Durations   *Durations
}

// New goes on from what the journal holds. Every call without a result may still
// be under way; every plan that was running is closed, since the VMs have changed
// without us, and its gangs are brought to a stable state by the protocol alone.
func New(settings Settings, loaded journal.Loaded, now time.Time) *Executor {
	e := assemble(&settings, &loaded, now)
	for _, d := range loaded.Drawn {
		e.nodes.drawn[d.Node] = d.Joules
	}
	for _, n := range loaded.Nodes {
		e.SetNode(now, n)
		e.nodes.byID[n.ID].answered = loaded.Answering[n.ID]
	}
	records := make(map[cluster.VJobID]*gang.Record, len(loaded.Gangs))
	for i := range loaded.Gangs {
		records[loaded.Gangs[i].VJob] = &loaded.Gangs[i]
	}
	for _, job := range loaded.VJobs {
		var rec gang.Record
		if r := records[job.ID]; r != nil {
			rec = *r
		}
		e.add(job, rec, loaded.Ran[job.ID], loaded.Crowded[job.ID])
		meter, state := loaded.Meters[job.ID], e.gangs.live[job.ID]
		if state.untouched() {
			delete(e.dirty, job.ID) // a look that shows a copy wakes it
		}
		if len(meter.CPU) > 0 || state.rec.Phase != gang.Absent {
			e.gangs.begin(state)
			state.account.resume(&meter, state.rec, now)
		}
	}
	for i := range loaded.Ended {
		e.gangs.kept[loaded.Ended[i].VJob] = &loaded.Ended[i]
	}
	e.replies.restore(&loaded)
	for _, id := range loaded.Plans {
		e.out.Step.Closed = append(e.out.Step.Closed, journal.PlanChange{
			ID: id, State: journal.PlanDropped, Ended: now, Note: "closed by a restart",
		})
	}
	e.store.look()
	return e
}

// assemble makes the parts. None of them knows the executor: each gets those that it uses.
func assemble(set *Settings, loaded *journal.Loaded, now time.Time) *Executor {
	e := &Executor{batch: newBatch(now), gangs: newGangs()}
	b, hooks := e.batch, &e.Hooks
	e.nodes = newNodes(b, set, e.gangs)
	e.store = &store{batch: b, settings: set, gangs: e.gangs}
	e.Durations = newDurations(b, set, loaded.Learned)
	calls := &calls{
		batch: b, settings: set, gangs: e.gangs, nodes: e.nodes, store: e.store, learned: e.Durations,
		epoch: loaded.Epoch, next: loaded.NextOp, ops: map[hypervisor.OpID]*op{},
	}
	e.unknown = &unknownCopies{batch: b, gangs: e.gangs, calls: calls, copies: map[place]*unknown{}}
	capacity := &capacity{batch: b, settings: set, hooks: hooks, gangs: e.gangs, nodes: e.nodes}
	e.VMs = &VMs{gangs: e.gangs, nodes: e.nodes, capacity: capacity}
	e.tuner = &tuner{batch: b, hooks: hooks, gangs: e.gangs, nodes: e.nodes, calls: calls}
	e.replies = &replies{batch: b, gangs: e.gangs, nodes: e.nodes, calls: calls, tuner: e.tuner, unknown: e.unknown}
	e.Walltimes = &Walltimes{batch: b, gangs: e.gangs}
	e.meters = meters{
		accounts: &accounts{batch: b, hooks: hooks, gangs: e.gangs, walltimes: e.Walltimes},
		energy:   newEnergyMeter(b, hooks, e.gangs, e.nodes),
	}
	e.PowerStates = &PowerStates{batch: b, gangs: e.gangs, nodes: e.nodes, store: e.store, calls: calls, energy: e.meters.energy}
	e.engine = &engine{
		batch: b, settings: set, hooks: hooks, gangs: e.gangs, nodes: e.nodes, calls: calls, capacity: capacity, accounts: e.meters.accounts,
		learned: e.Durations,
		inputs:  &inputs{batch: b, settings: set, gangs: e.gangs, nodes: e.nodes, store: e.store, calls: calls, capacity: capacity},
	}
	e.Images = &Images{
		batch: b, settings: set, gangs: e.gangs, nodes: e.nodes, store: e.store, calls: calls, engine: e.engine,
		discards: map[hypervisor.ImageID]*tries{},
	}
	return e
}

// Add takes a vjob in that was just submitted, and reports whether it is new.
func (e *Executor) Add(now time.Time, job *cluster.VJob) bool {
	e.now = now
	_, known := e.gangs.live[job.ID]
	if !known {
		e.add(job, gang.Record{}, 0, 0)
	}
	return !known
}

func (e *Executor) add(job *cluster.VJob, rec gang.Record, ran, crowded time.Duration) {
	rec.VJob = job.ID
	if !slices.ContainsFunc(rec.Members, func(m gang.Member) bool { return m != gang.Member{} }) {
		rec.Members = e.gangs.unplacedMembers(len(job.VMs))
	}
	for len(rec.Members) < len(job.VMs) {
		rec.Members = append(rec.Members, gang.Member{})
	}
	p := newGangState(job, rec, e.now)
	if ran > 0 || crowded > 0 {
		p.begin()
		p.account.ran, p.account.crowded = ran, crowded
	}
	e.gangs.add(p)
	if rec.Cause.Is(cluster.CauseLost) || job.Held || len(rec.Kept) > 0 {
		e.alarmed[job.ID] = true // perhaps
	}
	e.dirty[job.ID] = true
	e.changed(p)
	e.nodes.updateJobsOnAll(p)
	e.nodes.renewAll(job)
	e.Walltimes.await(p)
	e.changes++
}

// Tick lets time pass: deadlines, looks that are due, waits for room.
func (e *Executor) Tick(now time.Time) {
	e.now = now
	e.replies.overdue()
	e.nodes.lookAround()
	e.nodes.alarmSilent()
	if !e.store.looking && now.Sub(e.store.lookedAt) >= e.store.lookEvery() {
		e.store.look()
	}
	for id := range e.gangs.active {
		e.dirty[id] = true
	}
	e.Images.expire()
	e.tuner.wakeDue()
	e.touchWaiters() // what is admitted changes with time
	e.meters.write(false)
}

// WriteAccounts returns the step that completes all accounts of vjobs and nodes, for the end of the
// program.
func (e *Executor) WriteAccounts(now time.Time) journal.Step {
	e.now = now
	e.meters.write(true)
	step := e.out.Step
	e.out = Effects{}
	return step
}

// Flush advances every gang that something happened to and returns what is to
// be done. The effects are returned once.
func (e *Executor) Flush() Effects {
	for len(e.dirty) > 0 {
		ids := slices.Sorted(maps.Keys(e.dirty))
		e.dirty = map[cluster.VJobID]bool{} // a cleared map would keep its size, which each step goes through
		e.gangs.sortByPlan(ids)
		for _, id := range ids {
			e.stale[id] = true
			if p, ok := e.gangs.live[id]; ok && e.engine.advance(p) {
				e.tuner.correct(p)
			}
		}
	}
	out := e.out
	e.out = Effects{}
	slices.Sort(out.Looks)
	out.Wake = e.wake()
	return out
}

// wake is when the next deadline, look or wait for room is over.
func (e *Executor) wake() time.Time {
	next := e.now.Add(e.nodes.settings.LookEvery)
	sooner := func(t time.Time) { // what is not waited for is due since the year 1
		if t.After(e.now) && t.Before(next) {
			next = t
		}
	}
	e.replies.calls.wake(sooner)
	e.engine.wake(sooner)
	e.nodes.wake(sooner)
	sooner(e.tuner.due)
	return next
}
