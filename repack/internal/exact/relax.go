package exact

import (
	"slices"

	"vjob/repack"
)

// Relaxed returns the instance without gangs and network. Every plan of the instance is a plan of that one
// that costs no more, once what waits within a gang starts later: so what the best plan of that one costs is
// a lower bound, and if [Whole] makes a plan of the instance of it, that is the best.
func Relaxed(in *repack.Instance) *repack.Instance {
	out := *in
	out.Gangs, out.Network = nil, nil
	return &out
}

// Whole makes a plan of the relaxed instance one of the instance: what gangs do together starts with the
// first of them, and transfers have the rates that their times need. It is not ok if gangs do not act as
// wholes. Whether all have room, slots and bandwidth is for [repack.Check] to say.
func Whole(in *repack.Instance, actions []repack.Action) (list []repack.Action, ok bool) {
	list = slices.Clone(actions)
	for _, vms := range in.Gangs {
		if !gather(in, vms, list) {
			return nil, false
		}
	}
	for i := range list {
		a := &list[i]
		if a.Kind != repack.Migrate && a.Kind != repack.Resume {
			continue
		}
		if t := in.Transfer(a.VM, a.Kind, a.From, a.To); t.Amount > 0 {
			a.Rate = t.Rate(a.End - a.Start)
		}
	}
	slices.SortStableFunc(list, func(a, b repack.Action) int { return int(a.Start - b.Start) })
	return list, true
}

// gather has the actions of a gang that are of one kind start together, unless VMs migrate live. It reports
// whether the gang is suspended as a whole, and nothing else happens to it while it is paused.
func gather(in *repack.Instance, vms []int, list []repack.Action) bool {
	var strokes [len(repack.Kinds)]stroke
	for i := range list {
		a := &list[i]
		if a.Kind.OnNode() || a.Kind == repack.Allocate || !slices.Contains(vms, a.VM) || live(in, a) {
			continue
		}
		strokes[a.Kind].add(a)
	}
	for kind := range strokes {
		s := &strokes[kind]
		for _, a := range s.actions {
			a.Start = s.start
		}
		if len(s.actions) > 0 && pauses(repack.Kind(kind)) && !s.alone(vms, list) {
			return false
		}
	}
	return strokes[repack.Suspend].whole(in, vms)
}

// live reports whether an action leaves its gang running.
func live(in *repack.Instance, a *repack.Action) bool {
	return a.Kind == repack.Migrate && !in.VMs[a.VM].Paused
}

// pauses reports whether a gang is paused while it acts together.
func pauses(kind repack.Kind) bool {
	return kind == repack.Suspend || kind == repack.Resume || kind == repack.Migrate
}

// stroke is what a gang does together.
type stroke struct {
	actions    []*repack.Action
	start, end repack.Ticks
}

func (s *stroke) add(a *repack.Action) {
	if len(s.actions) == 0 {
		s.start = a.Start
	}
	s.start, s.end = min(s.start, a.Start), max(s.end, a.End)
	s.actions = append(s.actions, a)
}

// alone reports whether nothing else happens to the gang, and no VM of it acts twice.
func (s *stroke) alone(vms []int, list []repack.Action) bool {
	seen := map[int]bool{}
	for _, a := range s.actions {
		if seen[a.VM] {
			return false
		}
		seen[a.VM] = true
	}
	for i := range list {
		a := &list[i]
		if !a.Kind.OnNode() && slices.Contains(vms, a.VM) && !slices.Contains(s.actions, a) && a.Start < s.end && a.End > s.start {
			return false
		}
	}
	return true
}

// whole reports whether the VMs that are suspended on their way are all of their gang.
func (s *stroke) whole(in *repack.Instance, vms []int) bool {
	suspended := map[int]bool{}
	for _, a := range s.actions {
		if in.VMs[a.VM].Keeps() {
			suspended[a.VM] = true
		}
	}
	for _, vm := range vms {
		v := &in.VMs[vm]
		if len(suspended) > 0 && !suspended[vm] && (v.State == repack.Running || v.Want == repack.Running) {
			return false
		}
	}
	return true
}
