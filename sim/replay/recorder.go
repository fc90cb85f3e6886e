package replay

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/admission"
)

// recorder computes the result from the journal of the scheduler.
type recorder struct {
	start   time.Time
	out     Result
	vjobs   map[cluster.VJobID]*VJob
	order   []cluster.VJobID
	plans   map[journal.PlanID]*Switch
	begun   []journal.PlanID
	pending map[cluster.VJobID][]journal.VJobChange // of vjobs that are not yet recorded
	samples []Sample
	open    int // vjobs that have not ended
	held    int // of these
	ended   int
	onEnd   func(id cluster.VJobID, at time.Duration) // called at the end of each vjob
	changed time.Duration                             // last state change of any vjob
}

func newRecorder(o Options, start time.Time, nodes int, capacity cluster.Resources) *recorder {
	return &recorder{
		start: start, out: Result{Policy: o.title(), Profile: o.Profile.Name, Nodes: nodes, Capacity: capacity},
		vjobs: map[cluster.VJobID]*VJob{}, plans: map[journal.PlanID]*Switch{},
		pending: map[cluster.VJobID][]journal.VJobChange{},
	}
}

func (r *recorder) since(t time.Time) time.Duration { return t.Sub(r.start) }

// refused records a refused submission and the error.
func (r *recorder) refused(now time.Time, s *admission.Submission, why error) {
	r.out.Refused = append(r.out.Refused, Refusal{
		Name: s.Name, Owner: s.Owner, Queue: s.Queue, At: r.since(now), VJobs: max(1, len(s.Array)), Why: why.Error(),
	})
	r.ended += max(1, len(s.Array))
}

// submitted begins the record of a vjob, and applies its pending changes. length is the
// duration of the vjob alone.
func (r *recorder) submitted(now time.Time, job *cluster.VJob, length time.Duration) {
	j := &VJob{
		ID: job.ID, Name: job.Name, Owner: job.Owner, Queue: job.Queue, Project: job.Project, Length: length,
		Submitted: r.since(now), Started: -1, Ended: -1,
	}
	j.Spans = []Span{{State: cluster.Waiting, From: j.Submitted, To: -1}}
	r.vjobs[job.ID] = j
	r.order = append(r.order, job.ID)
	r.open++
	for _, c := range r.pending[job.ID] {
		r.change(now, c)
	}
	delete(r.pending, job.ID)
}

func (r *recorder) committed(now time.Time, step *journal.Step) {
	for _, c := range step.VJobs {
		if r.vjobs[c.ID] == nil {
			r.pending[c.ID] = append(r.pending[c.ID], c)
			continue
		}
		r.change(now, c)
	}
	for i := range step.Plans {
		r.plan(&step.Plans[i])
	}
	for _, s := range step.Skews {
		if w := r.plans[s.Plan]; w != nil {
			w.Skew = max(w.Skew, s.Skew)
		}
	}
	for _, c := range step.Closed {
		if w := r.plans[c.ID]; w != nil {
			w.Took, w.State, w.Note = r.since(c.Ended)-w.At, string(c.State), c.Note
		}
	}
}

func (r *recorder) change(now time.Time, c journal.VJobChange) {
	j, at := r.vjobs[c.ID], r.since(now)
	if j.Held != c.Held {
		j.Held = c.Held
		r.held += map[bool]int{true: 1, false: -1}[c.Held]
	}
	last := &j.Spans[len(j.Spans)-1]
	if last.State != c.State {
		last.To, r.changed = at, at
		if last.From == at { // it took no time
			j.Spans = j.Spans[:len(j.Spans)-1]
		}
		if !c.State.Terminal() {
			j.Spans = append(j.Spans, Span{State: c.State, From: at, To: -1})
		}
		switch c.State {
		case cluster.Suspended:
			j.Suspensions++
		case cluster.Paused:
			j.Standstills++
		case cluster.Migrating:
			j.Migrations++
		case cluster.Running:
			if j.Started < 0 {
				j.Started = at
			}
		default: // not counted
		}
	}
	j.State, j.Reason, j.Outcome = c.State, c.Cause.String(), c.Outcome
	if c.State.Terminal() && j.Ended < 0 {
		j.Ended = at
		r.open--
		r.ended++
		if j.Held {
			r.held--
		}
		r.onEnd(c.ID, at)
	}
}

// stuckAfter is the time without any change after which the remaining vjobs count as waiting
// for ever. Windows in time repeat within a week, and budgets within a month.
const stuckAfter = 32 * 24 * time.Hour

// settled reports whether every vjob has ended or is held.
func (r *recorder) settled(now time.Time) bool {
	return r.open == r.held || r.since(now)-r.changed > stuckAfter && !r.busy()
}

// busy reports whether any vjob runs or is in a transition.
func (r *recorder) busy() bool {
	for _, j := range r.vjobs {
		if !j.State.Terminal() && !j.State.Ready() {
			return true
		}
	}
	return false
}

func (r *recorder) plan(p *journal.Plan) {
	w := &Switch{
		Plan: int64(p.ID), At: r.since(p.At), Estimated: p.Plan.Makespan, CostMiB: p.Plan.Cost, State: string(p.State),
	}
	for _, a := range p.Plan.Actions {
		if a.Kind != cluster.Boot && a.Kind != cluster.Stop {
			w.VMTime += a.End - a.Start
		}
		switch a.Kind {
		case cluster.Boot:
			w.Boots++
		case cluster.Stop:
			w.Stops++
		case cluster.Suspend:
			w.Suspends++
		case cluster.Pause:
			w.Pauses++
		case cluster.Unpause:
			w.Unpauses++
		case cluster.Migrate:
			w.Migrations++
		case cluster.Resume:
			w.Resumes++
			if a.From == a.To {
				w.LocalResumes++
			}
		}
	}
	r.plans[p.ID] = w
	r.begun = append(r.begun, p.ID)
}

// result ends open spans and returns the sorted result.
func (r *recorder) result(now time.Time) *Result {
	out := r.out
	for _, id := range r.order {
		j := *r.vjobs[id]
		j.Spans = slices.Clone(j.Spans)
		for i := range j.Spans {
			if j.Spans[i].To < 0 {
				j.Spans[i].To = r.since(now)
			}
		}
		out.Total = max(out.Total, j.Ended)
		out.VJobs = append(out.VJobs, j)
	}
	if r.open > 0 {
		out.Total = r.since(now)
	}
	for _, id := range r.begun {
		w := *r.plans[id]
		if w.Took == 0 && w.State == string(journal.PlanRunning) {
			w.Took = r.since(now) - w.At
		}
		out.Switches = append(out.Switches, w)
	}
	out.Samples = r.samples
	return &out
}
