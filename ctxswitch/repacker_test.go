package ctxswitch_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/placement"
)

// Plans are right for the checker, and for an executor that takes the actions in
// any order that the plan permits.
func TestRepackerPlansAreSound(t *testing.T) {
	for name, draw := range map[string]func(*rapid.T) ctxswitch.Problem{
		"any": drawProblem, "swaps": drawSwaps, "slots": drawSlots,
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p := draw(t)
				plan, err := ctxswitch.Repacker{}.Plan(p)
				if none, ok := errors.AsType[*ctxswitch.NoPlan](err); ok {
					if none.Reason == "" || none.VJob == 0 {
						t.Fatalf("no plan, and neither vjob nor reason: %+v", none)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if faults := ctxswitch.Check(p, plan); len(faults) > 0 {
					t.Fatalf("%s\n%s%s", strings.Join(faults, "\n"), p.Current, plan)
				}
				rng := rand.New(rand.NewPCG(p.Seed, 1))
				for range 5 {
					if wrong := carryOut(p, plan, rng); wrong != "" {
						t.Fatalf("%s\n%s%s", wrong, p.Current, plan)
					}
				}
			})
		})
	}
}

// The same problem gives the same bytes.
func TestRepackerIsAFunction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		first, err1 := ctxswitch.Repacker{}.Plan(p)
		again, err2 := ctxswitch.Repacker{}.Plan(p)
		a, _ := json.Marshal(first)
		b, _ := json.Marshal(again)
		if string(a) != string(b) || (err1 == nil) != (err2 == nil) || err1 != nil && err1.Error() != err2.Error() {
			t.Fatalf("%s\n%s\n%v\n%v", a, b, err1, err2)
		}
	})
}

// A viable cluster in which nothing is wished has nothing to do.
func TestRepackerLeavesAViableClusterAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		p.Next, p.Pinned = nil, nil
		for _, n := range p.Current.Nodes() {
			n.State = cluster.Online
			for !p.Current.Used(n.ID).Plus(p.Claims[n.ID]).Fits(n.Capacity) {
				p.Current.Remove(p.Current.On(n.ID)[0])
			}
			p.Current.SetNode(n)
		}
		mixed := map[cluster.VJobID]bool{}
		state := map[cluster.VJobID]cluster.VMState{}
		for _, id := range p.Current.VMs() {
			s, _ := p.Current.State(id)
			if first, known := state[id.VJob]; known && s != first {
				mixed[id.VJob] = true
			}
			state[id.VJob] = s
		}
		p.Gangs = slices.DeleteFunc(p.Gangs, func(g ctxswitch.Goal) bool {
			return mixed[g.VJob] || state[g.VJob] == cluster.VMWaiting
		})
		for i := range p.Gangs {
			p.Gangs[i].Want = state[p.Gangs[i].VJob]
		}
		soft := slices.ContainsFunc(p.Rules, func(r placement.Rules) bool {
			return strings.Contains(r.Text, "soft") || strings.Contains(r.Text, "preferred")
		})
		if soft || len(ctxswitch.Breaches(p)) > 0 {
			p.Rules = nil
		}
		plan, err := ctxswitch.Repacker{}.Plan(p)
		if err != nil || !plan.Empty() {
			t.Fatalf("%v\n%s%s", err, p.Current, plan)
		}
	})
}

// peak is what a VM needs on a node at its most: what it is known to need, or
// will when it is started.
func peak(p ctxswitch.Problem, vm cluster.VMID) cluster.Resources {
	next, changes := p.Next[vm]
	now := p.Current.Need(vm)
	switch state, _ := p.Current.State(vm); {
	case changes && state == cluster.VMPaused:
		return cluster.Resources{CPU: max(now.CPU, next.CPU), Memory: now.Memory}
	case changes && state != cluster.VMRunning:
		return next
	}
	return now
}

// uses is what a VM gives back when an action ends that takes it from its node, or has
// it stand still there: one that stands still has no CPU to give.
func uses(p ctxswitch.Problem, a ctxswitch.Action) cluster.Resources {
	need := peak(p, a.VM)
	state, _ := p.Current.State(a.VM)
	switch {
	case a.Kind == cluster.Pause:
		return cluster.Resources{CPU: need.CPU}
	case state == cluster.VMPaused:
		return need.Paused()
	case state != cluster.VMRunning && a.Kind == cluster.Stop:
		return cluster.Resources{}
	}
	return need
}

// What takes room when it starts, and what gives room back when its gang has ended.
var (
	arriving = []cluster.ActionKind{cluster.Boot, cluster.Resume, cluster.Migrate, cluster.Unpause}
	stopping = []cluster.ActionKind{cluster.Suspend, cluster.Migrate, cluster.Pause}
)

// carryOut runs the plan as an executor might, starting and ending actions by
// chance as After permits, and says when an action adds to a node that is full.
func carryOut(p ctxswitch.Problem, plan ctxswitch.Plan, rng *rand.Rand) string {
	used := map[cluster.NodeID]cluster.Resources{}
	for _, n := range p.Current.Nodes() {
		used[n.ID] = p.Current.Used(n.ID).Plus(p.Claims[n.ID])
	}
	gang := map[ctxswitch.ActionID]int{}
	left := make([]int, len(plan.Gangs))
	for g := range plan.Gangs {
		left[g] = len(plan.Gangs[g].Actions)
		for _, id := range plan.Gangs[g].Actions {
			gang[id] = g
		}
	}
	started, ended := make([]bool, len(plan.Actions)), make([]bool, len(plan.Actions))
	free := func(id ctxswitch.ActionID) {
		a := plan.Actions[id]
		used[a.From] = used[a.From].Minus(uses(p, a))
	}
	for done := 0; done < len(plan.Actions); {
		a := plan.Actions[rng.IntN(len(plan.Actions))]
		switch {
		case ended[a.ID]:
		case started[a.ID]:
			ended[a.ID] = true
			done++
			g := gang[a.ID]
			left[g]--
			if a.Kind == cluster.Stop || a.Live {
				free(a.ID)
			} else if slices.Contains(stopping, a.Kind) && left[g] == 0 {
				for _, id := range plan.Gangs[g].Actions {
					free(id)
				}
			}
		default:
			ready := true
			for _, b := range a.After {
				ready = ready && ended[b]
			}
			if !ready {
				continue
			}
			started[a.ID] = true
			if slices.Contains(arriving, a.Kind) {
				need := peak(p, a.VM)
				if a.Kind == cluster.Unpause {
					need.Memory = 0
				}
				used[a.To] = used[a.To].Plus(need)
				n, _ := p.Current.Node(a.To)
				if over := used[a.To].Minus(n.Capacity); need.CPU > 0 && over.CPU > 0 || need.Memory > 0 && over.Memory > 0 {
					return "action " + a.VM.String() + " to " + string(a.To) + " lacks " + over.String()
				}
			}
		}
	}
	return ""
}
