package ctxswitch

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
)

// unit is actions of one vjob that start together and whose room is free when
// all of them have ended. Stops and live migrations are units of one action,
// any other gang is one unit.
type unit struct {
	kind  cluster.ActionKind
	vjob  cluster.VJobID
	live  bool
	moves []move // in rank order
	// Set when the unit gets its place in the plan.
	after []int // earlier units, in order
	start time.Duration
	end   time.Duration
}

// move is one action: a VM that leaves a node, arrives at one, or both.
type move struct {
	vm       cluster.VMID
	from, to int // nodes, -1 for none; from may be where an image lies
	need     cluster.Resources
}

// releases reports whether the unit frees room where it comes from.
func (u *unit) releases() bool {
	return u.kind == cluster.Stop || u.kind == cluster.Suspend || u.kind == cluster.Migrate
}

// arrives reports whether the unit needs room where it goes.
func (u *unit) arrives() bool {
	return u.kind == cluster.Boot || u.kind == cluster.Resume || u.kind == cluster.Migrate
}

// pauses reports whether the vjob stands still meanwhile, so that nothing else
// may be done with it.
func (u *unit) pauses() bool {
	return u.kind == cluster.Suspend || u.kind == cluster.Resume || u.kind == cluster.Migrate && !u.live
}

// arrivals is what the unit needs on each node it goes to, in order of nodes.
func (u *unit) arrivals() []arrival {
	if !u.arrives() {
		return nil
	}
	list := make([]arrival, 0, len(u.moves))
	for _, m := range u.moves {
		list = append(list, arrival{m.to, m.need})
	}
	slices.SortStableFunc(list, func(a, b arrival) int { return cmp.Compare(a.node, b.node) })
	merged := list[:0]
	for _, a := range list {
		if last := len(merged) - 1; last >= 0 && merged[last].node == a.node {
			merged[last].need = merged[last].need.Plus(a.need)
		} else {
			merged = append(merged, a)
		}
	}
	return merged
}

type arrival struct {
	node int
	need cluster.Resources
}

// size is the sum of what the VMs of the unit need.
func (u *unit) size() (sum cluster.Resources) {
	for _, m := range u.moves {
		sum = sum.Plus(m.need)
	}
	return sum
}

// smallest orders units by memory, then by CPU, as thesis §8.2 orders the actions
// towards one node.
func smallest(a, b *unit) int {
	x, y := a.size(), b.size()
	return cmp.Or(
		cmp.Compare(x.Memory, y.Memory),
		cmp.Compare(x.CPU, y.CPU),
		a.moves[0].vm.Compare(b.moves[0].vm),
	)
}

// units lists what has to be done to get from the current configuration to the
// target: what leaves, what moves, what arrives (thesis §8.1.1).
func (s *survey) units(target *layout) (leaving, moving, arriving []*unit) {
	for _, g := range s.Gangs {
		gangs := map[cluster.ActionKind]*unit{}
		for _, vm := range s.staff[g.VJob] {
			kind, m, acts := s.task(vm, target)
			if !acts {
				continue
			}
			alone := kind == cluster.Stop || kind == cluster.Migrate && !s.rigid[g.VJob]
			u := gangs[kind]
			if u == nil || alone {
				u = &unit{kind: kind, vjob: g.VJob, live: kind == cluster.Migrate && alone}
				gangs[kind] = u
				switch kind {
				case cluster.Stop, cluster.Suspend:
					leaving = append(leaving, u)
				case cluster.Migrate:
					moving = append(moving, u)
				default:
					arriving = append(arriving, u)
				}
			}
			u.moves = append(u.moves, m)
		}
	}
	slices.SortStableFunc(moving, smallest)
	return leaving, moving, arriving
}

// task is what has to be done with one VM.
func (s *survey) task(vm cluster.VMID, target *layout) (kind cluster.ActionKind, m move, acts bool) {
	state, _ := s.Current.State(vm)
	if s.fixed[vm] || s.Pinned[vm] || state == cluster.VMTerminated {
		return 0, move{}, false
	}
	m = move{vm: vm, from: -1, to: -1, need: s.count(vm)}
	if n, ok := target.number[s.Current.Place(vm)]; ok {
		m.from = n
	}
	switch s.want(vm) {
	case cluster.VMTerminated:
		return cluster.Stop, m, state != cluster.VMWaiting
	case cluster.VMSleeping:
		return cluster.Suspend, m, state == cluster.VMRunning
	case cluster.VMRunning:
		m.to = target.place[vm]
		switch state {
		case cluster.VMWaiting:
			return cluster.Boot, m, true
		case cluster.VMSleeping:
			return cluster.Resume, m, true
		default:
			return cluster.Migrate, m, m.from != m.to
		}
	default:
		return 0, move{}, false
	}
}
