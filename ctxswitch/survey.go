package ctxswitch

import (
	"fmt"
	"slices"

	"vjob/cluster"
)

// survey is a problem sorted out: which VMs are to be placed, which leave, and which must not be
// touched.
type survey struct {
	Problem
	members map[cluster.VJobID][]cluster.VMID // members in rank order
	rank    map[cluster.VJobID]int            // order of priority of the goals
	rigid   map[cluster.VJobID]bool           // some running member may not be migrated live
	fixed   vmSet                             // is on a node and stays there in any case
	placed  []cluster.VMID                    // to be running on a node of our choice
	paused  []cluster.VMID                    // in memory
}

// newSurvey sorts the problem out. The error is a goal that no plan can meet.
func newSurvey(p Problem) (*survey, error) {
	s := &survey{
		Problem: p,
		members: map[cluster.VJobID][]cluster.VMID{}, rank: map[cluster.VJobID]int{},
		rigid: map[cluster.VJobID]bool{}, fixed: vmSet{},
	}
	busy := map[cluster.VJobID]bool{} // a member on a node is pinned
	for vm, is := range p.Current.All() {
		s.members[vm.VJob] = append(s.members[vm.VJob], vm)
		if is.State == cluster.VMRunning && !p.Live[vm] {
			s.rigid[vm.VJob] = true
		}
		if is.State == cluster.VMPaused {
			s.paused = append(s.paused, vm)
		}
		if p.Pinned[vm] && onNode(is.State) {
			busy[vm.VJob] = true
		}
	}
	for i, g := range p.Gangs {
		if _, twice := s.rank[g.VJob]; !twice {
			s.rank[g.VJob] = i
		}
	}
	for vm, is := range p.Current.All() {
		_, goal := s.rank[vm.VJob]
		// A gang that must be paused to be moved cannot be when one member is pinned.
		if is.State == cluster.VMRunning && (!goal || p.Pinned[vm] || s.rigid[vm.VJob] && busy[vm.VJob] && s.want(vm) == cluster.VMRunning) ||
			s.inPlace(vm) {
			s.fixed.add(vm)
		}
	}
	for _, g := range p.Gangs {
		if err := s.accept(g, busy[g.VJob]); err != nil {
			return nil, err
		}
	}
	if err := s.checkUnpauses(); err != nil {
		return nil, err
	}
	return s, nil
}

// accept sorts the members of a vjob by their goal.
func (s *survey) accept(g Goal, busy bool) error {
	refuse := func(format string, args ...any) error { return refused(g, format, args...) }
	var running, waiting, standing, asleep int
	for _, vm := range s.members[g.VJob] {
		state, _ := s.Current.State(vm)
		place := s.Current.Place(vm)
		node, known := s.Current.Node(place)
		lost := place != "" && (!known || node.State == cluster.Down || node.State == cluster.Offline && state == cluster.VMSleeping)
		switch {
		case s.fixed.has(vm) || s.Pinned[vm]:
		case lost && state == cluster.VMRunning:
			return refuse("VM %s is on node %s, which is down: what became of it has to be settled first", vm, place)
		case lost && state == cluster.VMSleeping && g.Want == cluster.VMRunning:
			return refuse("the image of VM %s lies on node %s, which is not up", vm, place)
		case g.Want == cluster.VMRunning && state != cluster.VMTerminated:
			s.placed = append(s.placed, vm)
		}
		switch state {
		case cluster.VMRunning:
			running++
		case cluster.VMWaiting:
			waiting++
		case cluster.VMPaused:
			standing++
		case cluster.VMSleeping:
			asleep++
			busy = busy || s.Pinned[vm]
		default: // a VM that has ended counts no more
		}
	}
	if g.Want == cluster.VMRunning && asleep > 0 && busy {
		return refuse("it cannot be resumed as a whole: actions are under way on some of its VMs")
	}
	stops, starts := g.Want == cluster.VMPaused && running > 0, g.Want == cluster.VMRunning || g.Want == cluster.VMSleeping
	if stops || standing > 0 && starts {
		if why := s.whyNotAsWhole(g, busy); why != "" {
			return refuse("%s", why)
		}
	}
	if g.Want == cluster.VMSleeping && running > 0 {
		if busy {
			return refuse("it cannot be suspended as a whole: actions are under way on some of its VMs")
		}
		if waiting > 0 {
			return refuse("it cannot be suspended as a whole: %d of its VMs run and %d have not booted", running, waiting)
		}
	}
	return nil
}

// refused is the error of a goal that cannot be met.
func refused(g Goal, format string, args ...any) error {
	return &NoPlan{VJob: g.VJob, Reason: fmt.Sprintf("vjob %s: ", g.VJob) + fmt.Sprintf(format, args...)}
}

// starts reports whether a vjob that does not run is to run.
func (s *survey) starts() bool {
	return slices.ContainsFunc(s.placed, func(vm cluster.VMID) bool { return !s.runs(vm) }) ||
		slices.ContainsFunc(s.paused, s.unpauses)
}

func (s *survey) runs(vm cluster.VMID) bool {
	_, ok := s.Current.Host(vm)
	return ok
}

// want is the state that the goal of a VM asks for; without a goal its present state.
func (s *survey) want(vm cluster.VMID) cluster.VMState {
	if i, ok := s.rank[vm.VJob]; ok {
		return s.Gangs[i].Want
	}
	state, _ := s.Current.State(vm)
	return state
}

// count is the demand of a VM while it is on a node. A VM that keeps running counts with the
// larger of its needs before and after: it may grow at any moment, and frees what it no longer
// needs only at the end of the plan.
func (s *survey) count(vm cluster.VMID) cluster.Resources {
	now := s.Current.Need(vm)
	next, changes := s.Next[vm]
	stays := s.fixed.has(vm) || s.want(vm) == cluster.VMRunning
	switch {
	case s.endsPaused(vm):
		return now.Paused()
	case !changes || !stays:
		return now
	case s.onNode(vm):
		return cluster.Resources{CPU: max(now.CPU, next.CPU), Memory: max(now.Memory, next.Memory)}
	default:
		return next
	}
}

// need is the demand of a VM after the plan.
func (s *survey) need(vm cluster.VMID) cluster.Resources {
	if next, ok := s.Next[vm]; ok {
		return next
	}
	return s.Current.Need(vm)
}
