package sim

import (
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// picky reports whether vjobs of a run have different modes of moves: half of the runs, which meet every other option.
func (o *Options) picky() bool { return o.Seed/3%2 == 1 }

// modes has the mode of moves of every vjob that was acknowledged or has changed it.
type modes map[cluster.VJobID]cluster.MoveMode

// pick sets the mode of moves of a submission, without another random number, so that old seeds stay valid.
func (r *run) pick(sub *admission.Submission) {
	if r.opts.picky() {
		sub.Moves = cluster.MoveMode(len(r.check.acked) % 3)
	}
}

// repick changes the mode of moves of a vjob, as its owner would. It may be refused.
func (r *run) repick(id cluster.VJobID) {
	if n := r.shell.Now().UnixMilli(); r.opts.picky() && n%3 == 0 {
		_ = r.shell.SetMoves(scheduler.MoveModeChange{VJob: id, Moves: cluster.MoveMode(n / 3 % 3), By: "u"})
	}
}

// inMode checks the plans of balance and consolidation in a step: they move no VM of a vjob that never moves, and one of a
// vjob that is manual only after approval. A vjob that changes its mode in the step has both.
func (r *run) inMode(step journal.Step) {
	if !r.opts.picky() {
		return
	}
	before := func(id cluster.VJobID) cluster.MoveMode {
		if mode, changed := r.modes[id]; changed {
			return mode
		}
		row, _ := r.store.VJob(id)
		return row.Moves
	}
	after := func(id cluster.VJobID) cluster.MoveMode {
		for _, c := range slices.Backward(step.MoveModes) {
			if c.ID == id {
				return c.Moves
			}
		}
		return before(id)
	}
	for i := range step.Recommendations {
		c := &step.Recommendations[i]
		improves := c.Kind == journal.RecommendBalance || c.Kind == journal.RecommendConsolidate
		at := slices.IndexFunc(step.Plans, func(p journal.Plan) bool { return p.ID == c.Plan })
		if !improves || c.State != journal.RecommendationApplied || at < 0 {
			continue
		}
		for _, a := range step.Plans[at].Plan.Actions {
			least := min(before(a.VM.VJob), after(a.VM.VJob)) // the modes are in order
			if least == cluster.MovesNever || least == cluster.MovesManual && c.By == "" {
				r.check.violate(38, "recommendation %d (%s) moves %s, the moves of its vjob are %s", c.ID, c.Kind, a.VM, least)
			}
		}
	}
	for _, c := range step.MoveModes {
		r.modes[c.ID] = c.Moves
	}
}
