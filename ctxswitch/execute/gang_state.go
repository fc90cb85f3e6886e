package execute

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/hypervisor"
	"vjob/internal/predictor"
)

// gangState is one vjob with its gang record and the state that a restart may forget.
type gangState struct {
	job *cluster.VJob // it never changes: see [gangState.changing]
	rec gang.Record

	todo []*assignment // gangs of plans, in order; todo[0] is the one under way or next

	members []memberState // by rank; nil as long as nothing was done for the vjob since the start
	store   uint64        // logical time of the last call that changed the image store

	// Of the present phase:

	// skewFrom and skewTo are the first and the last pause or unpause.
	skewFrom, skewTo time.Time
	sealed           map[string]*gang.Image
	discarded        map[hypervisor.ImageID]bool
	alarms           map[string]bool // those that were raised
	retreat          string          // why the aim of the phase is given up
	denied           time.Time       // since when a call is refused room; zero when none is
	wait             string

	born     time.Time // when this start of the scheduler took the vjob in
	failures int       // assignments in a row that did not lead where they should
	failedAt time.Time
	why      string
	// refusals are the nodes on which members failed to start since the vjob last got
	// where it should, in order of time.
	refusals []Refusal
	missing  string // which image cannot be read now, "" when none
	broken   string // which invariant does not hold: the vjob is left alone; "" when all do

	capped bool // the caps of the members were set

	// Accounting:
	ran       time.Duration // as far as it counts towards the walltime
	crowded   time.Duration // beside that: see [Executor.updateCrowding]
	short     int           // of its VMs are on crowded nodes
	started   time.Time
	marked    time.Time     // up to where it is accounted
	accounted gang.Phase    // the phase that lasted since then
	used      journal.Usage // not yet written
	memory    float64       // MiB·s on nodes, not yet written
	joules    float64       // of its shares of the nodes, not yet written
	watts     energy.Watts  // that it draws now
	meters    []meter       // by rank; nil until a member was seen
}

// meter is what was last seen of the CPU of a member.
type meter struct {
	seen  bool
	need  cluster.MilliCPU    // now, or expected
	wants cluster.MilliCPU    // now
	used  time.Duration       // by the present copy
	past  predictor.Predictor // what is expected by, if anything is
}

// newGangState allocates nothing before it is needed: of a hundred thousand vjobs nearly all
// wait.
func newGangState(job *cluster.VJob, rec gang.Record, now time.Time) *gangState {
	p := &gangState{job: job, rec: rec, marked: now, born: now, accounted: rec.Phase}
	if rec.Phase == gang.Pausing {
		p.skewFrom, p.skewTo = rec.Since, now // what was paused before the restart was so in between
	}
	return p
}

// changing replaces the vjob by one that is to be changed at once. Others hold the one
// before, and see it as it was; what its owner has said is shared.
func (p *gangState) changing() *cluster.VJob {
	job := *p.job
	p.job = &job
	return p.job
}

// phaseChanged resets the state of one phase.
func (p *gangState) phaseChanged() {
	for rank := range p.members {
		p.members[rank].tries, p.members[rank].err, p.members[rank].revoked = 0, nil, 0
	}
	clear(p.sealed)
	clear(p.discarded)
	clear(p.alarms)
	p.skewFrom, p.skewTo = time.Time{}, time.Time{}
	p.retreat, p.denied = "", time.Time{}
}

func (p *gangState) skew() time.Duration { return p.skewTo.Sub(p.skewFrom) }

// plan is the plan that the gang works for, 0 when none.
func (p *gangState) plan() journal.PlanID {
	if len(p.todo) > 0 && p.todo[0].begun {
		return p.todo[0].run.id
	}
	return 0
}

// rests reports whether nothing is under way or waited for, the effect of every call was seen,
// and no member backs off.
func (p *gangState) rests(now time.Time) bool {
	return p.rec.Phase.Stable() && p.wait == "" && !slices.ContainsFunc(p.members, func(t memberState) bool {
		return len(t.held) > 0 || len(t.touched) > 0 || now.Before(t.pace())
	})
}

// idle reports whether a new plan may dispose of the vjob.
func (p *gangState) idle() bool { return p.rec.Phase.Stable() && len(p.todo) == 0 && p.broken == "" }

// observed returns the CPU that a member was last seen to need.
func (p *gangState) observed(rank int) (cpu cluster.MilliCPU, ok bool) {
	if p.meters == nil {
		return 0, false
	}
	m := &p.meters[rank]
	return m.need, m.seen
}
