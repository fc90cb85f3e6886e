package execute

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/demand"
	"vjob/energy"
	"vjob/hypervisor"
	"vjob/journal"
)

// pursuit is one vjob with its gang record and everything about it that a
// restart may forget.
type pursuit struct {
	job *cluster.VJob
	rec gang.Record

	todo []*assignment // gangs of plans, in order; todo[0] is the one under way or next

	// Of the present phase, by rank:
	tries []int
	tried []time.Time // when the last call was issued
	errs  []error
	// skewFrom and skewTo are the first and the last pause or unpause.
	skewFrom, skewTo time.Time
	sealed           map[string]*gang.Image
	alarms           map[string]bool // those that were raised
	retreat          string          // why the aim of the phase is given up
	denied           time.Time       // since when a call is refused room; zero when none is
	wait             string

	born     time.Time // when this start of the scheduler took the vjob in
	failures int       // assignments in a row that did not lead where they should
	failedAt time.Time
	why      string
	// shunned are the nodes on which members failed to start since the vjob last
	// got where it should.
	shunned map[cluster.VMID][]cluster.NodeID
	missing string // which image cannot be read now, "" when none

	caps     []capping // by rank
	rationed bool      // somebody has said what they are to be

	absent []time.Time // since when no copy is seen where one should be; zero when one is

	// Calls and looks, by rank:
	held    []map[cluster.NodeID]int    // calls under way on a node
	touched []map[cluster.NodeID]uint64 // logical time at which the last call there ended
	store   uint64                      // logical time of the last call that changed the image store

	// Accounting:
	ran       time.Duration
	started   time.Time
	marked    time.Time     // up to where it is accounted
	accounted gang.Phase    // the phase that lasted since then
	used      journal.Usage // not yet written
	memory    float64       // MiB·s on nodes, not yet written
	joules    float64       // of its shares of the nodes, not yet written
	watts     energy.Watts  // that it draws now
	meters    []meter       // by rank; nil as long as nobody was seen
}

// meter is what was last seen of the CPU of a member.
type meter struct {
	seen  bool
	need  cluster.MilliCPU // now, or expected
	wants cluster.MilliCPU // now
	used  time.Duration    // by the present copy
	past  demand.Demand    // what is expected by, if anything is
}

// newPursuit makes no map before it is needed: of a hundred thousand vjobs nearly all
// wait.
func newPursuit(job *cluster.VJob, rec gang.Record, ran time.Duration, now time.Time) *pursuit {
	n := len(job.VMs)
	p := &pursuit{
		job: job, rec: rec, ran: ran, marked: now,
		absent: make([]time.Time, n), tries: make([]int, n), tried: make([]time.Time, n), errs: make([]error, n), born: now,
		held:      make([]map[cluster.NodeID]int, n),
		touched:   make([]map[cluster.NodeID]uint64, n),
		caps:      make([]capping, n),
		accounted: rec.Phase,
	}
	if rec.Phase == gang.Pausing {
		p.skewFrom, p.skewTo = rec.Since, now // what was paused before the restart was so in between
	}
	return p
}

// hold notes a call that was issued.
func (p *pursuit) hold(call hypervisor.Call, at time.Time) {
	rank := call.VM.Rank
	if rank >= len(p.held) {
		return
	}
	p.tries[rank]++
	p.tried[rank] = at
	if p.held[rank] == nil {
		p.held[rank] = map[cluster.NodeID]int{}
	}
	p.held[rank][call.Node]++
	if call.To != "" {
		p.held[rank][call.To]++
	}
}

// release notes the end of a call at a logical time.
func (p *pursuit) release(call hypervisor.Call, at uint64) {
	rank := call.VM.Rank
	if rank >= len(p.held) {
		return
	}
	if p.touched[rank] == nil {
		p.touched[rank] = map[cluster.NodeID]uint64{}
	}
	for _, n := range []cluster.NodeID{call.Node, call.To} {
		if n == "" {
			continue
		}
		if p.held[rank][n] > 1 {
			p.held[rank][n]--
		} else {
			delete(p.held[rank], n)
		}
		p.touched[rank][n] = at
	}
	if writesStore(call.Verb) {
		p.store = at
	}
	p.denied = time.Time{} // its patience begins when nothing is under way any more
}

// waitsFor reports whether a look at the node could let the gang go on.
func (p *pursuit) waitsFor(node cluster.NodeID) bool {
	for rank := range p.rec.Members {
		m := &p.rec.Members[rank]
		if m.Node == node || m.Next == node || p.held[rank][node] > 0 {
			return true
		}
		if _, ok := p.touched[rank][node]; ok {
			return true
		}
	}
	return false
}

// turned resets what belongs to one phase.
func (p *pursuit) turned() {
	clear(p.tries)
	clear(p.errs)
	clear(p.sealed)
	clear(p.alarms)
	p.skewFrom, p.skewTo = time.Time{}, time.Time{}
	p.retreat, p.denied = "", time.Time{}
}

func (p *pursuit) skew() time.Duration {
	if p.skewFrom.IsZero() || p.skewTo.IsZero() {
		return 0
	}
	return p.skewTo.Sub(p.skewFrom)
}

// plan is the plan that the gang works for, 0 when none.
func (p *pursuit) plan() journal.PlanID {
	if len(p.todo) > 0 && p.todo[0].begun {
		return p.todo[0].run.id
	}
	return 0
}

// pace is until when a member is left alone: after a few calls in one phase that
// did not do, the next ones come at growing intervals.
func (p *pursuit) pace(rank int) time.Time {
	const free = 4
	over := p.tries[rank] - free
	if over < 0 {
		return time.Time{}
	}
	return p.tried[rank].Add(time.Second << min(over, 5))
}

// rests reports whether nothing is under way, every call's effect was seen, and no
// member is left alone only for a while.
func (p *pursuit) rests(now time.Time) bool {
	if !p.rec.Phase.Stable() || !p.denied.IsZero() {
		return false
	}
	for rank := range p.held {
		if len(p.held[rank]) > 0 || len(p.touched[rank]) > 0 || !p.absent[rank].IsZero() || now.Before(p.pace(rank)) {
			return false
		}
	}
	return true
}

// idle reports whether a new plan may dispose of the vjob.
func (p *pursuit) idle() bool { return p.rec.Phase.Stable() && len(p.todo) == 0 }
