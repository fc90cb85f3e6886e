package ctxswitch_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/placement"
)

// copyOf is a deep copy, so that a test can spoil it.
func copyOf(t interface{ Fatal(...any) }, plan ctxswitch.Plan) ctxswitch.Plan {
	var c ctxswitch.Plan
	data, err := json.Marshal(plan)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Target = plan.Target
	return c
}

// A checker that finds nothing wrong proves nothing: each way to spoil a plan has
// to be found, by name.
func TestCheckFindsWhatIsWrong(t *testing.T) {
	drop := func(ids []ctxswitch.ActionID, id ctxswitch.ActionID) []ctxswitch.ActionID {
		return slices.DeleteFunc(ids, func(x ctxswitch.ActionID) bool { return x == id })
	}
	circle := scenes["circle without a pivot"] // suspend 2 (0, 1), migrate 1 (2), resume 2 (3, 4)
	moving := scenes["paused gang moves as a whole"]
	apart := scenes["spread VMs never meet"]
	relief := scenes["overloaded node is relieved before it is used"]
	for _, c := range []struct {
		name  string
		scene *scene
		spoil func(p *ctxswitch.Problem, plan *ctxswitch.Plan)
		want  string
	}{
		{"arrival before the room is free", figure83(), func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Actions[1].After = nil
		}, "node n2 may have to give 2000 thousandths of a CPU while action 1 brings VM 1.0, it has 1000"},
		{"arrival when half of the gang is saved", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Actions[2].After = drop(plan.Actions[2].After, 1)
		}, "node n2 may have to give 3000"},
		{"arrival before all of an overload is gone", relief, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Actions[3].After = drop(plan.Actions[3].After, 1)
		}, "node n1 may have to give 3000"},
		{"hardware forgotten", figure83(), func(p *ctxswitch.Problem, plan *ctxswitch.Plan) {
			p.Incompatible = map[cluster.VMID][]cluster.NodeID{plan.Actions[0].VM: {plan.Actions[0].To}}
		}, "cannot run VM"},
		{"claims forgotten", figure83(), func(p *ctxswitch.Problem, _ *ctxswitch.Plan) {
			p.Claims["n3"] = size(0, 0.5)
		}, "node n3 may have to give 1024 MiB"},
		{"growth forgotten", figure83(), func(p *ctxswitch.Problem, plan *ctxswitch.Plan) {
			p.Next[vm("2.0")] = size(1.5, 1)
		}, "node n3 may have to give 1500"},
		{"second hop does not wait for the first", figure83(), func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Actions[1].After, plan.Actions[2].After = nil, nil
		}, "action 2 on VM 2.0 does not wait for 0"},
		{"a gang that begins in parts", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Actions[4].After = drop(plan.Actions[4].After, 2)
		}, "do not wait for the same"},
		{"half a gang sleeps", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			remove(plan, 1, 4)
		}, "leaves out VM 2.1, which is running"},
		{"half a gang awakes", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			remove(plan, 4)
		}, "leaves out VM 2.1, which is sleeping"},
		{"out of rank order", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			slices.Reverse(plan.Gangs[0].Actions)
		}, "not in rank order"},
		{"an action in no gang", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Gangs[1].Actions = nil
		}, "action 2 is in no gang"},
		{"an action in two gangs", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Gangs[1].Actions = append(plan.Gangs[1].Actions, 0)
		}, "is in two gangs"},
		{"a gang of two kinds", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Gangs[0].Kind = cluster.Stop
		}, "is not of that sort"},
		{"gangs out of order", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			slices.Reverse(plan.Gangs)
		}, "starts before the one listed before it"},
		{"gangs that wait for each other", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			slices.Reverse(plan.Gangs)
		}, "in a circle"},
		{"live although no lock is there", moving, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Actions[0].Live, plan.Actions[1].Live = true, true
		}, "migrate live, but 1.1 may not"},
		{"something else while the gang is paused", scenes["paused gang changes places within itself"], func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Actions[1].After = nil
		}, "may fall together with the migrate of its vjob"},
		{"VMs that must not meet", apart, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Actions[1].After = nil
		}, "is broken: VM 1.0 comes to node n2, where VM 1.1 is"},
		{"a fence broken on the way", figure83(), func(p *ctxswitch.Problem, _ *ctxswitch.Plan) {
			p.Rules = append(slices.Clone(p.Rules), placement.Rules{Text: "continuous ban(2.0, n3);"})
		}, "ban({VM 2.0}, {node n3}) is broken: VM 2.0"},
		{"a gather broken at the end", moving, func(p *ctxswitch.Problem, _ *ctxswitch.Plan) {
			p.Rules = append(slices.Clone(p.Rules), placement.Rules{Text: "spread({1.0, 1.1});"})
		}, "is broken: VM 1.0 and VM 1.1 end on node n2"},
		{"more transfers than a node carries", scenes["a gang waits for transfer slots"], func(p *ctxswitch.Problem, _ *ctxswitch.Plan) {
			p.Transfers.Limit = 1
		}, "node n1 carries 2 transfers at 0s, its limit is 1"},
		{"transfers beside those under way", scenes["transfers wait for those under way"], func(p *ctxswitch.Problem, _ *ctxswitch.Plan) {
			p.Transfers.Busy = map[cluster.NodeID][]time.Duration{"n1": {time.Minute}}
		}, "node n1 carries 2 transfers at 30s, its limit is 1"},
		{"arrival on a node that drains", figure83(), func(p *ctxswitch.Problem, _ *ctxswitch.Plan) {
			p.Current = p.Current.Clone()
			p.Current.SetNode(cluster.Node{ID: "n3", Capacity: size(1, 1), State: cluster.Draining})
		}, `node "n3" takes no VMs`},
		{"a VM left on a node that goes off", scenes["nothing to do"], func(p *ctxswitch.Problem, _ *ctxswitch.Plan) {
			p.Current = p.Current.Clone()
			p.Current.SetNode(cluster.Node{ID: "n1", Capacity: size(1, 1), State: cluster.Offline})
		}, "VM 1.0 ends on node n1, which is offline"},
		{"an overload left", scenes["nothing to do"], func(p *ctxswitch.Problem, _ *ctxswitch.Plan) {
			p.Next[vm("1.0")] = size(2, 1)
		}, "node n1 lacks 1 CPU"},
		{"a pinned VM moved", moving, func(p *ctxswitch.Problem, _ *ctxswitch.Plan) {
			p.Pinned = map[cluster.VMID]bool{vm("1.0"): true}
		}, "action 0 touches VM 1.0"},
		{"a pinned VM paused with its gang", scenes["paused gang changes places within itself"], func(p *ctxswitch.Problem, plan *ctxswitch.Plan) {
			p.Pinned = map[cluster.VMID]bool{vm("1.0"): true}
		}, "the migrate pauses vjob 1, of which VM 1.0 is pinned"},
		{"a VM without goal moved", moving, func(p *ctxswitch.Problem, _ *ctxswitch.Plan) {
			p.Gangs = nil
		}, "action 1 touches VM 1.1"},
		{"a goal missed", circle, func(p *ctxswitch.Problem, _ *ctxswitch.Plan) {
			p.Gangs = append(slices.Clone(p.Gangs[:1]), ctxswitch.Goal{VJob: 2, Want: cluster.VMSleeping})
		}, "VM 2.0 is to be sleeping, the plan leaves it running"},
		{"against the life cycle", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Actions[2].Kind, plan.Gangs[1].Kind = cluster.Resume, cluster.Resume
		}, "VM 1.0 is running, one cannot resume it"},
		{"from the wrong node", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Actions[2].From = "n2"
		}, `takes VM 1.0 from "n2", it is on "n1"`},
		{"waits for a later one", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Actions[0].After = []ctxswitch.ActionID{2}
		}, "action 0 waits for 2"},
		{"times against the order", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Actions[2].Start--
			plan.Actions[2].End--
		}, "action 2 is to start at"},
		{"a wrong duration", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Actions[0].End--
		}, "action 0 is to last"},
		{"a wrong makespan", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Makespan++
		}, "the plan is to last"},
		{"a wrong local cost", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Actions[3].Cost /= 2
		}, "action 3 costs 1024 MiB instead of 2048"},
		{"a wrong cost", circle, func(_ *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Cost++
		}, "the plan costs 11265 MiB instead of 11264"},
		{"another target than it says", circle, func(p *ctxswitch.Problem, plan *ctxswitch.Plan) {
			plan.Target = p.Current
		}, "leads to another configuration"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.scene.Problem
			p.Claims, p.Next = map[cluster.NodeID]cluster.Resources{}, map[cluster.VMID]cluster.Resources{}
			plan, err := ctxswitch.Repacker{}.Plan(p)
			if err != nil {
				t.Fatal(err)
			}
			spoilt := copyOf(t, plan)
			c.spoil(&p, &spoilt)
			faults := strings.Join(ctxswitch.Check(p, spoilt), "\n")
			if !strings.Contains(faults, c.want) {
				t.Errorf("want %q, got\n%s\n%s", c.want, faults, spoilt)
			}
		})
	}
}

// remove takes actions out of a plan and numbers the rest anew.
func remove(plan *ctxswitch.Plan, ids ...ctxswitch.ActionID) {
	number := map[ctxswitch.ActionID]ctxswitch.ActionID{}
	var rest []ctxswitch.Action
	for _, a := range plan.Actions {
		if !slices.Contains(ids, a.ID) {
			number[a.ID] = ctxswitch.ActionID(len(rest))
			a.ID = number[a.ID]
			rest = append(rest, a)
		}
	}
	renumber := func(list []ctxswitch.ActionID) (out []ctxswitch.ActionID) {
		for _, id := range list {
			if n, ok := number[id]; ok {
				out = append(out, n)
			}
		}
		return out
	}
	for i := range rest {
		rest[i].After = renumber(rest[i].After)
	}
	plan.Actions = rest
	for i := range plan.Gangs {
		plan.Gangs[i].Actions = renumber(plan.Gangs[i].Actions)
	}
}

// Whatever an executor can run into when dependencies are missing, the checker
// has foreseen: it knows the worst of all interleavings.
func TestCheckForeseesEveryOverload(t *testing.T) {
	overloads := 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawSwaps(t)
		plan, err := ctxswitch.Repacker{}.Plan(p)
		if err != nil || plan.Empty() {
			t.Skip("nothing to spoil")
		}
		spoilt := copyOf(t, plan)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "chance"), 2))
		for range 1 + rng.IntN(2) {
			a := &spoilt.Actions[rng.IntN(len(spoilt.Actions))]
			if len(a.After) > 0 {
				i := rng.IntN(len(a.After))
				a.After = slices.Delete(a.After, i, i+1)
			}
		}
		faults := strings.Join(ctxswitch.Check(p, spoilt), "\n")
		for range 20 {
			if wrong := carryOut(p, spoilt, rng); wrong != "" {
				overloads++
				if !strings.Contains(faults, "may have to give") {
					t.Fatalf("%s, and the checker says\n%s\n%s%s", wrong, faults, p.Current, spoilt)
				}
			}
		}
	})
	if overloads == 0 {
		t.Error("no overload was provoked: the property shows nothing")
	}
}

// VMs that may not be touched are not blamed for a rule that they broke together with VMs that
// have left.
func TestVMsThatHaveLeftAreNotBlamedOnOthers(t *testing.T) {
	s := newScene().node("n1", 1, 1).node("n2", 1, 1).
		running("1.0", 0, 0.25, "n1").running("1.1", 0, 0.25, "n1").running("2.0", 0, 0.25, "n1").
		pin("1.0").pin("2.0").want(cluster.VMTerminated, 1).rule("lonely({1.0, 1.1});")
	for _, id := range []string{"3.0", "3.1", "4.0"} {
		s.running(id, 0, 0.25, "n2").rigid(id).pin(id)
	}
	s.rigid("1.0", "1.1", "2.0")
	plan, err := ctxswitch.Repacker{}.Plan(s.Problem)
	if err != nil {
		t.Fatal(err)
	}
	if faults := ctxswitch.Check(s.Problem, plan); len(faults) > 0 {
		t.Error(strings.Join(faults, "\n"))
	}
}

// Transfers that follow each other do not count side by side on a link, also if they begin within a tick of the clock.
func TestCheckWithinTicks(t *testing.T) {
	s := newScene().node("n1", 4, 8).node("n2", 4, 8).
		running("1.0", 1, 1, "n1").running("2.0", 1, 1, "n1").
		want(cluster.VMRunning, 1, 2).state("n1", cluster.Draining).transfers(1).busy("n2", time.Nanosecond)
	s.Network = &ctxswitch.Network{NIC: map[cluster.NodeID]cluster.Rate{"n1": 1e9 / 8, "n2": 1e9 / 8}}
	plan, err := ctxswitch.Repacker{}.Plan(s.Problem)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Actions) != 2 || plan.Actions[0].Start != time.Nanosecond {
		t.Fatalf("want two migrations, the first after 1 ns:\n%s", plan)
	}
	if faults := ctxswitch.Check(s.Problem, plan); len(faults) > 0 {
		t.Errorf("%q\n%s", faults, plan)
	}
}
