// Package execute carries plans out: it drives the gangs of all vjobs, each by the protocol of
// package gang, in the order of the plans' dependencies and within the room and the transfer
// slots that really are free.
//
// It is a state machine without goroutines or I/O. Its inputs are events (a look, a reply, the
// time). Its output, by [Executor.Drain], is a step to commit and the calls and looks to make
// after the commit. After a failed commit or a crash, a new executor continues from the journal.
//
// To read it: [Executor.Drain] drives every gang with an event; drive.go is one turn of a gang:
// the next assignment of its plan (plan.go), the scene that package gang decides on (scene.go),
// and the resulting calls (op.go), which are under way until their effect was seen. node.go takes
// in looks, capacity.go and space.go account for the room of nodes and image stores, report.go is
// for the other packages. Power and CPU caps are in power.go, hour.go and cap.go.
package execute

import (
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/hypervisor"
)

// Settings bound the executor.
type Settings struct {
	Limits    gang.Limits
	Costs     ctxswitch.Costs // estimates, from which deadlines are made
	Transfers int             // saves, restores and migrations at once per node
	KeepLost  time.Duration   // how long images of a vjob that was lost are kept; 0 is for ever
	LookEvery time.Duration   // how often a quiet node is looked at
	LookWait  time.Duration   // how long a look may take; after that the node is silent
	Retry     time.Duration   // how soon after a failed look the next is made
	// Settle is how long after its deadline, with the node answering again, a
	// call without a reply is taken to have had all the effect it will have.
	Settle time.Duration
	// Patience is how long a gang under way waits for room that its plan had
	// promised before it turns back.
	Patience time.Duration
	// Attempts is how often an idempotent vjob is submitted in all; below 2 it is never
	// submitted again.
	Attempts int
	// Slack multiplies the estimated duration of a call to give its deadline.
	Slack float64
}

// DefaultSettings suit real hosts.
var DefaultSettings = Settings{
	Limits: gang.DefaultLimits, Transfers: 2, Attempts: 3, LookEvery: 5 * time.Second,
	LookWait: 5 * time.Second, Retry: time.Second, KeepLost: 7 * 24 * time.Hour,
	Settle: 10 * time.Second, Patience: time.Minute, Slack: 4,
}

// Executor drives all gangs. It has one owner and is not safe for concurrent use.
type Executor struct {
	settings Settings
	epoch    int64
	nextOp   hypervisor.OpID
	now      time.Time
	tick     uint64 // logical clock, which looks advance: a look shows what ended before its time
	changes  uint64
	out      Effects

	// What there is, and what is under way.
	nodes map[cluster.NodeID]*node
	names []cluster.NodeID // of the nodes, in order
	store storeSight
	gangs map[cluster.VJobID]*gangState
	ops   map[hypervisor.OpID]*op
	ends  endings // of walltimes

	// The gangs to drive, so that the cost of a step depends on its events and not on all vjobs.
	dirty map[cluster.VJobID]bool // gangs that something happened to
	// active gangs are under way, have calls without an observed effect, or back off before a
	// retry.
	active map[cluster.VJobID]*gangState
	// denied are the gangs that wait for room or for a transfer slot.
	denied     map[cluster.VJobID]bool
	containers map[cluster.VJobID]*gangState // those of the gangs that others run in
	silent     map[cluster.NodeID]*node      // nodes that do not answer
	// jobsOn lists the vjobs for which a look at a node can matter: they have, or will have, a
	// member there, or had a call there. It may hold vjobs that have left the node.
	jobsOn map[cluster.NodeID]map[cluster.VJobID]bool
	// seenOn lists the nodes on which copies of a VM were last seen, in order.
	seenOn map[cluster.VMID][]cluster.NodeID
	// unseen counts the nodes that have not been looked at since the start.
	unseen  int
	unknown map[place]*unknown
	// withImages are the vjobs that keep images of earlier lives, and some that did.
	withImages map[cluster.VJobID]bool
	// kept holds the records of vjobs that have ended and left images.
	kept map[cluster.VJobID]*gang.Record
	// discards are images that are deleted, and that the last look at the store showed.
	discards map[hypervisor.ImageID]*tries
	// unplaced is the members of gangs that have not begun; it never changes.
	unplaced []gang.Member

	// What nodes draw, and caps.
	drawn   map[cluster.NodeID]int64 // joules, as written
	charged time.Time                // when they were written last
	hours   hours                    // drawn, and not yet written
	capsDue time.Time                // when a cap that did not come about is tried again; zero: none is

	// Ended is called for every vjob as it ends. May be nil.
	Ended func(journal.EndedVJob)
	// Needs returns the demand of a member of a vjob, given the CPU that it was last seen to
	// need, if it was seen. Nil: what it reserves.
	Needs func(job *cluster.VJob, rank int, cpu cluster.MilliCPU, seen bool) cluster.Resources
	// Expect counts the CPU that package internal/predictor expects from what a member was seen
	// to need, instead of what it needs now.
	Expect bool
	// Power is the power model of nodes, where known.
	Power map[cluster.NodeID]energy.Power
	// Admits reports whether the VMs on nodes may use this CPU from now on, in addition to
	// [Executor.Load]. Nil: always.
	Admits func(more map[cluster.NodeID]cluster.MilliCPU) bool
}

// New goes on from what the journal holds. Every call without a result may still
// be under way; every plan that was running is closed, since the VMs have changed
// without us, and its gangs are brought to a stable state by the protocol alone.
func New(settings Settings, loaded journal.Loaded, now time.Time) *Executor {
	e := &Executor{
		settings: settings, epoch: loaded.Epoch, nextOp: loaded.NextOp, now: now,
		nodes: map[cluster.NodeID]*node{}, silent: map[cluster.NodeID]*node{}, gangs: map[cluster.VJobID]*gangState{},
		ops: map[hypervisor.OpID]*op{}, dirty: map[cluster.VJobID]bool{},
		unknown: map[place]*unknown{}, withImages: map[cluster.VJobID]bool{}, kept: map[cluster.VJobID]*gang.Record{},
		discards: map[hypervisor.ImageID]*tries{}, active: map[cluster.VJobID]*gangState{}, seenOn: map[cluster.VMID][]cluster.NodeID{},
		jobsOn: map[cluster.NodeID]map[cluster.VJobID]bool{}, denied: map[cluster.VJobID]bool{},
		containers: map[cluster.VJobID]*gangState{}, drawn: map[cluster.NodeID]int64{}, charged: now, hours: newHours(),
	}
	for _, d := range loaded.Drawn {
		e.drawn[d.Node] = d.Joules
	}
	for _, n := range loaded.Nodes {
		e.SetNode(now, n)
	}
	records := map[cluster.VJobID]gang.Record{}
	for _, r := range loaded.Gangs {
		records[r.VJob] = r
	}
	for _, job := range loaded.VJobs {
		e.add(job, records[job.ID], loaded.Ran[job.ID], loaded.Crowded[job.ID])
	}
	for i := range loaded.Ended {
		e.kept[loaded.Ended[i].VJob] = &loaded.Ended[i]
	}
	for _, intent := range loaded.Open {
		deadline, flying := loaded.Deadlines[intent.Call.Op]
		p := e.gangs[intent.Call.VM.VJob]
		own := p != nil && intent.Call.VM.Rank < len(p.job.VMs) && intent.Call.Verb != hypervisor.Cap
		e.open(&op{call: intent.Call, began: intent.At, deadline: deadline, lost: !flying, lostAt: now, own: own})
		if own {
			p.hold(intent.Call, now)
		}
	}
	for _, id := range loaded.Plans {
		e.out.Step.Closed = append(e.out.Step.Closed, journal.PlanChange{
			ID: id, State: journal.PlanDropped, Ended: now, Note: "closed by a restart",
		})
	}
	e.lookStore()
	return e
}

// Add takes a vjob in that was just submitted, and reports whether it is new.
func (e *Executor) Add(now time.Time, job *cluster.VJob) bool {
	e.now = now
	_, known := e.gangs[job.ID]
	if !known {
		e.add(job, gang.Record{}, 0, 0)
	}
	return !known
}

func (e *Executor) add(job *cluster.VJob, rec gang.Record, ran, crowded time.Duration) {
	rec.VJob = job.ID
	if !slices.ContainsFunc(rec.Members, func(m gang.Member) bool { return m != gang.Member{} }) {
		rec.Members = e.unplacedMembers(len(job.VMs))
	}
	for len(rec.Members) < len(job.VMs) {
		rec.Members = append(rec.Members, gang.Member{})
	}
	p := newGangState(job, rec, e.now)
	p.ran, p.crowded = ran, crowded
	e.gangs[job.ID] = p
	e.active[job.ID] = p
	if len(rec.Kept) > 0 {
		e.withImages[job.ID] = true
	}
	if job.Container {
		e.containers[job.ID] = p
	}
	e.dirty[job.ID] = true
	e.updateJobsOnAll(p)
	e.awaitEnd(p)
	e.changes++
}

// unplacedMembers returns n members without a node. Gangs that have not begun share them: in a
// long queue that is nearly all gangs.
func (e *Executor) unplacedMembers(n int) []gang.Member {
	if n > len(e.unplaced) {
		e.unplaced = make([]gang.Member, n)
	}
	return e.unplaced[:n:n]
}

// Tick lets time pass: deadlines, looks that are due, patience.
func (e *Executor) Tick(now time.Time) {
	e.now = now
	for _, id := range slices.Sorted(maps.Keys(e.ops)) {
		o := e.ops[id]
		if !now.Before(o.deadline) {
			e.lose(o)
		}
		e.tellLong(o)
		e.settle(o)
	}
	for _, id := range e.names {
		if n := e.nodes[id]; e.lookDue(n) {
			e.look(n)
		}
	}
	if !e.store.looking && now.Sub(e.store.at) >= e.lookStoreEvery() {
		e.lookStore()
	}
	for id := range e.active {
		e.dirty[id] = true
	}
	e.expire()
	e.recapDue()
	e.touchWaiters() // what is admitted changes with time
	e.accountAll()
	e.chargeAll()
}

// Drain evaluates every gang that something happened to and returns what is to
// be done. The effects are given once.
func (e *Executor) Drain() Effects {
	for len(e.dirty) > 0 {
		ids := slices.Sorted(maps.Keys(e.dirty))
		clear(e.dirty)
		for _, id := range ids {
			if p, ok := e.gangs[id]; ok {
				e.drive(p)
			}
		}
	}
	out := e.out
	e.out = Effects{}
	slices.Sort(out.Looks)
	out.Wake = e.wake()
	return out
}

// wake is when the next deadline, look or patience ends.
func (e *Executor) wake() time.Time {
	next := e.now.Add(e.settings.LookEvery)
	sooner := func(t time.Time) { // what is not waited for is due since the year 1
		if t.After(e.now) && t.Before(next) {
			next = t
		}
	}
	for _, o := range e.ops {
		if o.lost {
			sooner(o.lostAt.Add(e.settings.Settle))
		} else {
			sooner(o.deadline)
		}
	}
	for _, p := range e.active {
		for i := range p.members {
			t := &p.members[i]
			sooner(t.pace())
			sooner(t.absent.Add(e.settings.Limits.DepartureGrace))
			sooner(t.absent.Add(e.settings.Limits.StoreLag))
		}
		sooner(p.denied.Add(e.settings.Patience))
		if p.rec.Phase == gang.Pausing {
			sooner(p.rec.Since.Add(e.settings.Limits.MaxSkew + time.Millisecond))
		}
	}
	for _, n := range e.silent {
		sooner(n.ended.Add(e.settings.Retry))
	}
	sooner(e.capsDue)
	return next
}

// event adds one line for users.
func (e *Executor) event(ev journal.Event) {
	ev.At = e.now
	e.out.Step.Events = append(e.out.Step.Events, ev)
}
