package decide

import (
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/scheduler/balance"
)

// Why VMs stay because of the mode of moves of their vjob.
const (
	heldByOwner      = "held by its owner (never)"
	waitsForApproval = "its moves wait for approval (manual)"
)

// searchManual searches for moves that help after those of a round if VMs of manual vjobs move. What has to move
// together waits as a whole. Other moves that only help then are left out: a later search finds them.
func (s *balancer) searchManual(b *Balancing, r *balance.Round) {
	if len(s.manual) == 0 {
		return
	}
	ask, model := s.Settings, s.model
	if ask.MaxMoves > 0 {
		if ask.MaxMoves -= len(r.Moves); ask.MaxMoves < 1 {
			return
		}
	}
	model.VMs = slices.Clone(model.VMs)
	for i := range s.manual {
		model.VMs[i].Fixed = ""
	}
	for i := range r.Moves {
		v := &model.VMs[r.Moves[i].VMs[0]]
		v.Node, v.Fixed = r.Moves[i].To, "it moves already"
	}
	second, err := ask.Round(&model)
	if err != nil {
		return // the first round accepted the same settings and VMs
	}
	b.Waiting = s.withManual(second)
	if len(b.Waiting) == 0 {
		return
	}
	if _, why := s.plan(slices.Concat(b.List(), movesOf(b.Waiting))); why != "" {
		b.Why, b.Waiting = fmt.Sprintf("%s; what waits for approval is not possible: %s", b.Why, why), nil
		return
	}
	b.Why = fmt.Sprintf("%s; moves that wait for approval: %d", b.Why, len(b.Waiting))
}

// withManual returns the moves of a round that move VMs which wait for approval, and those that belong to them: of the
// same set, or before them.
func (s *balancer) withManual(r *balance.Round) (list []BalanceMove) {
	keep, sets := make([]bool, len(r.Moves)), map[int]bool{}
	for more := true; more; {
		more = false
		for i := range r.Moves {
			m := &r.Moves[i]
			if !keep[i] && !s.manual[m.VMs[0]] && !sets[m.Set] {
				continue
			}
			more = more || !keep[i]
			keep[i] = true
			if m.Set != 0 && !sets[m.Set] {
				sets[m.Set], more = true, true
			}
			for _, before := range m.After {
				more = more || !keep[before]
				keep[before] = true
			}
		}
	}
	at := make([]int, len(r.Moves)) // of each move in the list
	for i, m := range s.moves(r) {
		if !keep[i] {
			continue
		}
		after := make([]int, len(m.After))
		for k, before := range m.After {
			after[k] = at[before]
		}
		at[i], m.After = len(list), after
		list = append(list, m)
	}
	return list
}

// held returns which vjobs are held where they are by their owners.
func (r *relocation) held() map[cluster.VJobID]bool {
	list := map[cluster.VJobID]bool{}
	for i := range r.VJobs {
		if job := r.VJobs[i].Job; job.Moves == cluster.MovesNever {
			list[job.ID] = true
		}
	}
	return list
}

// consolidate searches for places where VMs draw less: first without manual vjobs, then with them.
func (a *attempt) consolidate(d *Decision, ask *ConsolidationRequest) Consolidation {
	isManual := map[cluster.VJobID]bool{}
	for i := range a.VJobs {
		if job := a.VJobs[i].Job; job.Moves == cluster.MovesManual {
			isManual[job.ID] = true
		}
	}
	if !ask.Split || len(isManual) == 0 {
		return a.consolidateWith(d, ask, true)
	}
	c := a.consolidateWith(d, ask, false)
	if c.Why == "" {
		return c
	}
	other := a.consolidateWith(d, ask, true)
	if other.Why != "" {
		return c
	}
	other.Waits = slices.ContainsFunc(other.VJobs, func(id cluster.VJobID) bool { return isManual[id] })
	return other
}
