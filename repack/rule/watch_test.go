package rule_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"vjob/repack"
)

// withWatch are the rules with a watch as continuous form.
var withWatch = []string{"spread", "gather", "lonely", "capacity", "among", "split", "splitAmong", "resourceCapacity"}

// watchedPlan executes actions one instant after the other, with a watch.
type watchedPlan struct {
	in      *repack.Instance
	w       watched
	actions []repack.Action
	state   []repack.VMState
	at      [][]int // the nodes that each VM is on: its host, and where it is on its way to
	under   []int   // its action under way, or -1
	clock   repack.Ticks
}

func newWatchedPlan(in *repack.Instance, w watched) *watchedPlan {
	s := &watchedPlan{in: in, w: w, at: make([][]int, len(in.VMs)), under: make([]int, len(in.VMs))}
	for vm := range in.VMs {
		s.state, s.under[vm] = append(s.state, in.VMs[vm].State), -1
		if s.state[vm] == repack.Running {
			s.come(vm, in.VMs[vm].Host)
		}
	}
	return s
}

func (s *watchedPlan) come(vm, node int) {
	s.at[vm] = append(s.at[vm], node)
	if concerns(s.w.Scope, vm, repack.Nowhere, node) {
		s.w.Come(vm, node)
	}
}

func (s *watchedPlan) leave(vm int) {
	node := s.at[vm][0]
	s.at[vm] = s.at[vm][1:]
	if concerns(s.w.Scope, vm, node, repack.Nowhere) {
		s.w.Go(vm, node)
	}
}

func (s *watchedPlan) admits(vm, node int) bool {
	return !concerns(s.w.Scope, vm, repack.Nowhere, node) || s.w.Admits(vm, node)
}

// arrival is the action that brings a VM to a node now; its end is open.
func (s *watchedPlan) arrival(vm, node int) repack.Action {
	a := repack.Action{VM: vm, From: repack.Nowhere, To: node, Start: s.clock}
	switch s.state[vm] {
	case repack.Running:
		a.Kind, a.From = repack.Migrate, s.at[vm][0]
	case repack.Sleeping:
		a.Kind, a.From = repack.Resume, s.in.VMs[vm].Host
	default:
		a.Kind = repack.Boot
	}
	return a
}

// start lets the VM come.
func (s *watchedPlan) start(vm, node int) {
	s.under[vm] = len(s.actions)
	s.actions = append(s.actions, s.arrival(vm, node))
	s.come(vm, node)
}

// end has what the VM does end.
func (s *watchedPlan) end(vm int) {
	a := &s.actions[s.under[vm]]
	a.End, s.under[vm] = s.clock, -1
	if a.From != repack.Nowhere && a.Kind == repack.Migrate {
		s.leave(vm)
	}
	s.state[vm] = repack.Running
}

// stop has the VM shut down at once.
func (s *watchedPlan) stop(vm int) {
	s.actions = append(s.actions, repack.Action{Kind: repack.Shutdown, VM: vm, From: s.at[vm][0], To: repack.Nowhere, Start: s.clock, End: s.clock})
	s.leave(vm)
	s.state[vm] = repack.Ready
}

// over is the plan if all that is under way ends soon, and then all VMs stop: what
// is found is nothing of the final configuration.
func (s *watchedPlan) over(more ...repack.Action) *repack.Plan {
	list := append(slices.Clone(s.actions), more...)
	at, runs := make([]int, len(s.in.VMs)), make([]bool, len(s.in.VMs))
	for vm := range s.at {
		if len(s.at[vm]) > 0 {
			at[vm], runs[vm] = s.at[vm][len(s.at[vm])-1], true
		}
	}
	for i := range list {
		if a := &list[i]; a.End == 0 {
			a.End = s.clock + 1
			at[a.VM], runs[a.VM] = a.To, true
		}
	}
	for vm := range at {
		if runs[vm] {
			list = append(list, repack.Action{Kind: repack.Shutdown, VM: vm, From: at[vm], To: repack.Nowhere, Start: s.clock + 1, End: s.clock + 2})
		}
	}
	return &repack.Plan{Actions: list}
}

// What a watch admits breaks nothing, and what it refuses would. At the end it can be
// taken back to the beginning.
func TestWatches(t *testing.T) {
	for _, name := range withWatch {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := drawn(t)
				r := made(t, in, name, true, arguments(t, in, name))
				b := newPostings(in)
				r.Post(b)
				if len(b.watches) != 1 || len(b.guards) != 1 {
					t.Fatalf("posted %s", b)
				}
				s := newWatchedPlan(in, b.watches[0])
				for range rapid.IntRange(1, 20).Draw(t, "steps") {
					s.clock++
					act(t, s, r)
				}
				if found := breaches(t, in, r, s.over()); len(found) > 0 {
					t.Fatalf("%s: admitted %v, but %v", r, s.actions, found)
				}
			})
		})
	}
}

// act starts, ends or stops something.
func act(t *rapid.T, s *watchedPlan, r repack.Rule) {
	vm := rapid.IntRange(0, len(s.at)-1).Draw(t, "vm")
	switch {
	case s.under[vm] >= 0:
		s.end(vm)
	case s.state[vm] == repack.Running && rapid.IntRange(0, 4).Draw(t, "what") == 0:
		s.stop(vm)
	default:
		node := rapid.IntRange(0, len(s.in.Nodes)-1).Draw(t, "node")
		if slices.Contains(s.at[vm], node) {
			return
		}
		if s.admits(vm, node) {
			s.start(vm, node)
		} else if found := breaches(t, s.in, r, s.over(s.arrival(vm, node))); len(found) == 0 {
			t.Fatalf("%s: refused VM %d on node %d at %d after %v, for nothing", r, vm, node, s.clock, s.actions)
		}
	}
}

func breaches(t *rapid.T, in *repack.Instance, r repack.Rule, p *repack.Plan) []repack.Breach {
	line, faults := repack.Trace(in, p)
	if len(faults) > 0 {
		t.Fatalf("%v: %v", p.Actions, faults)
	}
	return r.Check(line)
}

// A watch depends only on where VMs are: after everything is undone, it says what a new one
// says.
func TestWatchesTakeBack(t *testing.T) {
	for _, name := range withWatch {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := drawn(t)
				r := made(t, in, name, true, arguments(t, in, name))
				b, c := newPostings(in), newPostings(in)
				r.Post(b)
				r.Post(c)
				s := newWatchedPlan(in, b.watches[0])
				for range 12 {
					s.clock++
					act(t, s, r)
				}
				for vm := range s.at {
					for len(s.at[vm]) > 0 {
						s.leave(vm)
					}
				}
				old, fresh := newWatchedPlan(in, b.watches[0]), newWatchedPlan(in, c.watches[0])
				for vm := range in.VMs {
					for node := range in.Nodes {
						if !slices.Contains(old.at[vm], node) && old.admits(vm, node) != fresh.admits(vm, node) {
							t.Fatalf("%s: VM %d on node %d", r, vm, node)
						}
					}
				}
			})
		})
	}
}

// With VMs that grow and shrink, what the watch and the gate of a resource let
// happen breaks nothing; they may refuse more than they must.
func TestResourceCapacityWithGrowth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawn(t)
		for vm := range in.VMs {
			in.VMs[vm].Next = []int64{rapid.Int64Range(0, 20).Draw(t, "next")}
		}
		r := made(t, in, "resourceCapacity", true, arguments(t, in, "resourceCapacity"))
		b := newPostings(in)
		r.Post(b)
		s := newWatchedPlan(in, b.watches[0])
		grown := map[int]bool{}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			s.clock++
			vm := rapid.IntRange(0, len(s.at)-1).Draw(t, "vm")
			node := rapid.IntRange(0, len(in.Nodes)-1).Draw(t, "node")
			v := &in.VMs[vm]
			switch {
			case s.under[vm] >= 0:
				s.end(vm)
			case v.Keeps() && v.Grows() && rapid.Bool().Draw(t, "grow") && slices.Equal(s.at[vm], []int{v.Host}):
				for _, g := range b.gates {
					if slices.Contains(g.vms, vm) && !g.May(vm, repack.Allocate, s.clock) {
						grown[vm] = true // never
					}
				}
				if !grown[vm] {
					s.actions = append(s.actions, repack.Action{Kind: repack.Allocate, VM: vm, From: repack.Nowhere, To: v.Host, Start: s.clock, End: s.clock})
					grown[vm] = true
				}
			case !slices.Contains(s.at[vm], node) && s.admits(vm, node):
				s.start(vm, node)
			}
		}
		s.clock++
		for vm := range s.at {
			if s.under[vm] >= 0 {
				s.end(vm)
			}
		}
		final, passing := count(breaches(t, in, r, &repack.Plan{Actions: s.actions}))
		if final == 0 && passing > 0 {
			t.Fatalf("%s: %v", r, s.actions)
		}
	})
}
