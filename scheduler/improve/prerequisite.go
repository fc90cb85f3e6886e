package improve

import (
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/decide"
)

// prerequisites returns which of some moves begin only once other actions of their plan have ended.
func prerequisites(plan *ctxswitch.Plan, moves []cluster.Move) (list []journal.Prerequisite) {
	for _, m := range moves {
		before, leave := plan.Before(func(a *ctxswitch.Action) bool { return a.VM == m.VM })
		if len(before) > 0 || len(leave) > 0 {
			list = append(list, journal.Prerequisite{VM: m.VM, Moves: before, Leave: leave})
		}
	}
	return list
}

// before adds to a proposal that one of its moves begins only after others that are part of it.
func before(r *journal.Recommendation, m *decide.BalanceMove, others ...cluster.Move) {
	if len(others) > 0 {
		r.Prerequisites = append(r.Prerequisites, journal.Prerequisite{VM: m.VM, Moves: others})
	}
}
