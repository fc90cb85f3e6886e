package execute

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// drop gives up every assignment of a vjob.
func (p *gangState) drop(s journal.PlanState, note string) {
	rest := p.todo
	p.todo = nil
	for _, a := range rest {
		a.giveUp(s, note)
	}
}

// reached tells which members are where the assignment wanted them.
func (p *gangState) reached(a *assignment) func(rank int) bool {
	phase := map[cluster.ActionKind]gang.Phase{
		cluster.Boot: gang.Active, cluster.Resume: gang.Active, cluster.Migrate: gang.Active,
		cluster.Suspend: gang.Saved, cluster.Stop: gang.Absent, cluster.Pause: gang.Paused, cluster.Unpause: gang.Active,
	}[a.gang.Kind]
	return func(rank int) bool {
		if p.rec.Phase != phase {
			return false
		}
		m := p.rec.Members[rank]
		if a.gang.Kind != cluster.Migrate || m.Ended {
			return true
		}
		act, _ := a.hop(rank)
		return act == nil || act.To == m.Node
	}
}

// plan is the plan that the gang works for, 0 when none.
func (p *gangState) plan() journal.PlanID {
	if len(p.todo) > 0 && p.todo[0].begun {
		return p.todo[0].plan.id
	}
	return 0
}

// begins reports whether the first assignment of the gang is of a kind.
func (p *gangState) begins(kind cluster.ActionKind) bool {
	return len(p.todo) > 0 && p.todo[0].gang.Kind == kind
}

// moreHops reports whether a migrating member has hops before it.
func (p *gangState) moreHops(rank int) bool {
	if !p.begins(cluster.Migrate) || p.stays(rank) {
		return false
	}
	at := p.rec.Members[rank].Next
	if at == "" {
		at = p.rec.Members[rank].Node
	}
	last := p.todo[0].last(rank)
	return last != nil && last.To != at
}

// stays reports whether a member has given its migration up.
func (p *gangState) stays(rank int) bool {
	return p.phase.retreat != "" || p.rec.Members[rank].Next == "" && p.member(rank).err != nil
}

// dependenciesDone reports whether the actions that a call waits for in its plan are done. Calls without a
// plan wait for no action, and saves do not wait for those of other members.
func (p *gangState) dependenciesDone(call hypervisor.Call) bool {
	if len(p.todo) == 0 || call.Verb == hypervisor.Save {
		return true
	}
	_, may := p.todo[0].hop(call.VM.Rank)
	return may
}

// hopOf returns the action of the plan that a migration carries out, or nil.
func (p *gangState) hopOf(call *hypervisor.Call) *ctxswitch.Action {
	if call.Verb != hypervisor.Migrate || len(p.todo) == 0 {
		return nil
	}
	act, _ := p.todo[0].hop(call.VM.Rank)
	return act
}

// rate is what a plan lets a call send; 0 is no limit.
func (p *gangState) rate(call *hypervisor.Call) cluster.Rate {
	if act := p.hopOf(call); act != nil {
		return act.Rate
	}
	return 0
}

// planned is how long a plan gives a call that keeps to a rate.
func (p *gangState) planned(call *hypervisor.Call) time.Duration {
	if act := p.hopOf(call); act != nil && act.Rate > 0 {
		return act.End - act.Start
	}
	return 0
}
