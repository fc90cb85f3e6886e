package repack_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"vjob/repack"
)

// cluster has three nodes of 10 cpu and 100 mem, the last one off, and VMs of 4 and
// 10 by what they do and shall do: a runs on node 0, b is ready, c sleeps on node 1, d runs on
// node 1 and is to stop, e runs on node 1 and is to sleep.
func cluster() *repack.Instance {
	takes := repack.Durations{Boot: 1, Shutdown: 2, Suspend: 4, ResumeLocal: 5, ResumeRemote: 6, Migrate: 8}
	vm := func(name string, state, want repack.VMState, host int) repack.VM {
		return repack.VM{
			Name: name, State: state, Want: want, Host: host, Takes: takes, Weight: 1,
			Now: []int64{4, 10}, Next: []int64{4, 10},
		}
	}
	node := func(state, want repack.NodeState) repack.Node {
		return repack.Node{Capacity: []int64{10, 100}, State: state, Want: want}
	}
	return &repack.Instance{
		Dims:    []string{"cpu", "mem"},
		NodeOff: 3, NodeOn: 2,
		Nodes: []repack.Node{node(repack.Online, repack.Online), node(repack.Online, repack.AnyState), node(repack.Offline, repack.AnyState)},
		VMs: []repack.VM{
			vm("a", repack.Running, repack.Running, 0), vm("b", repack.Ready, repack.Running, repack.Nowhere),
			vm("c", repack.Sleeping, repack.Running, 1), vm("d", repack.Running, repack.Ready, 1),
			vm("e", repack.Running, repack.Sleeping, 1),
		},
	}
}

// The VMs of cluster, in order.
const (
	a = iota
	b
	c
	d
	e
)

func act(kind repack.Kind, vm, from, to int, start, end repack.Ticks, after ...int) repack.Action {
	return repack.Action{Kind: kind, VM: vm, From: from, To: to, Start: start, End: end, After: after}
}

const nowhere = repack.Nowhere

// right is a plan that is.
func right() []repack.Action {
	return []repack.Action{
		act(repack.Shutdown, d, 1, nowhere, 0, 2),
		act(repack.Suspend, e, 1, nowhere, 0, 4),
		act(repack.Boot, b, nowhere, 0, 0, 1),
		act(repack.Resume, c, 1, 1, 2, 7, 0),
	}
}

// without leaves out an action.
func without(i int) []repack.Action { return slices.Delete(right(), i, i+1) }

func but(i int, a repack.Action) []repack.Action {
	list := right()
	list[i] = a
	return list
}

func and(more ...repack.Action) []repack.Action { return append(right(), more...) }

var faults = []struct {
	name    string
	change  func(in *repack.Instance)
	actions []repack.Action
	want    string // the faults, one a line
}{
	{"right", nil, right(), ""},
	{"an action of no kind", nil, and(act(99, a, 0, 1, 0, 8)), "action 4: there is no action of kind 99"},
	{"before the beginning", nil, and(act(repack.Migrate, a, 0, 1, -1, 8)), "action 4 (migrate): starts at -1 and ends at 8"},
	{"backwards", nil, and(act(repack.NodeOn, nowhere, nowhere, 2, 8, 0)), "action 4 (node_on): starts at 8 and ends at 0"},
	{"for ever", nil, and(act(repack.NodeOn, nowhere, nowhere, 2, 8, repack.Forever)), "action 4 (node_on): starts at 8 and ends at 1152921504606846976"},
	{"no such VM", nil, and(act(repack.Migrate, 5, 0, 1, 0, 8)), "action 4 (migrate): there is no VM 5"},
	{"no such node", nil, and(act(repack.NodeOn, nowhere, nowhere, 3, 0, 8)), "action 4 (node_on): there is no node 3"},
	{"growing twice", nil, and(act(repack.Allocate, a, nowhere, 0, 1, 1), act(repack.Allocate, a, nowhere, 0, 2, 2)), "VM a: two allocate actions"},
	{"growing twice at one time", nil, and(act(repack.Allocate, a, nowhere, 0, 1, 1), act(repack.Allocate, a, nowhere, 0, 1, 1)), ""},
	{"on twice", nil, and(act(repack.NodeOn, nowhere, nowhere, 2, 0, 2), act(repack.NodeOn, nowhere, nowhere, 2, 4, 6)), "node 2: two node_on"},
	{"on though it is", nil, and(act(repack.NodeOn, nowhere, nowhere, 0, 0, 2)), "node 0: node_on but it is online\nVM a is on node 0 at 0, before that is online\nVM b is on node 0 at 0, before that is online"},
	{"off though it is", nil, and(act(repack.NodeOff, nowhere, nowhere, 2, 0, 3)), "node 2: node_off but it is offline"},
	{"on too fast", nil, and(act(repack.NodeOn, nowhere, nowhere, 2, 0, 1)), "node 2: node_on lasts 1, needs 2"},
	{
		"on and off", nil, and(act(repack.NodeOn, nowhere, nowhere, 2, 0, 2), act(repack.NodeOff, nowhere, nowhere, 2, 8, 11)),
		"node 2: node_off but it is offline\nnode 2: both node_on and node_off",
	},
	{"overlapping", nil, and(act(repack.Migrate, b, 0, 1, 0, 8)), "VM b: its actions overlap in time\nnode 1 is over capacity at 0: cpu 12 of 10\nnode 1 is over capacity at 2: cpu 12 of 10"},
	{"from elsewhere", nil, but(0, act(repack.Shutdown, d, 0, nowhere, 0, 2)), "VM d: shutdown from node 0 but it is running on node 1\nVM d ends running, must be ready\nnode 1 is over capacity at 2: cpu 12 of 10"},
	{"booted twice", nil, and(act(repack.Boot, b, nowhere, 0, 3, 4)), "VM b: boot from node -1 but it is running on node 0"},
	{"to nowhere", nil, but(2, act(repack.Boot, b, nowhere, 3, 0, 1)), "VM b: boot to node 3\nVM b ends ready, must be running"},
	{"to where it is", nil, and(act(repack.Migrate, a, 0, 0, 0, 8)), "VM a: migrate to node 0"},
	{"suspended to elsewhere", nil, but(1, act(repack.Suspend, e, 1, 0, 0, 4)), "VM e: suspended from node 1 to node 0"},
	{"suspended on the spot", nil, but(1, act(repack.Suspend, e, 1, 1, 0, 4)), ""},
	{"too fast", nil, but(0, act(repack.Shutdown, d, 1, nowhere, 0, 1)), "VM d: shutdown lasts 1, needs 2"},
	{"suspended too fast", nil, but(1, act(repack.Suspend, e, 1, nowhere, 0, 3)), "VM e: suspend lasts 3, needs 4"},
	{"booted too fast", nil, but(2, act(repack.Boot, b, nowhere, 0, 0, 0)), "VM b: boot lasts 0, needs 1"},
	{"migrated too fast", nil, and(act(repack.Migrate, b, 0, 1, 7, 14)), "VM b: migrate lasts 7, needs 8"},
	{"resumed too fast", nil, but(3, act(repack.Resume, c, 1, 1, 2, 6)), "VM c: resume lasts 4, needs 5"},
	{
		"resumed elsewhere too fast", func(in *repack.Instance) { in.Nodes[0].Capacity[0] = 12 }, but(3, act(repack.Resume, c, 1, 0, 2, 7)),
		"VM c: resume lasts 5, needs 6",
	},
	{"left asleep", nil, without(3), "VM c ends sleeping, must be running"},
	{"left running", nil, without(1), "VM e ends running, must be sleeping"},
	{"left off", func(in *repack.Instance) { in.Nodes[2].Want = repack.Online }, right(), "node 2 ends offline, must be online"},
	{"touched", func(in *repack.Instance) { in.VMs[a].Stays = true }, and(act(repack.Migrate, a, 0, 1, 7, 15)), "VM a is to stay as it is"},
	{
		"an image on a node that goes off", func(in *repack.Instance) { in.Nodes[0].Capacity[0] = 12 },
		append(but(3, act(repack.Resume, c, 1, 0, 2, 8)), act(repack.NodeOff, nowhere, nowhere, 1, 8, 11)),
		"VM e sleeps on node 1, which ends offline",
	},
	{
		"resumed from a node that goes off", func(in *repack.Instance) { in.Nodes[0].Capacity[0] = 12 },
		append(but(3, act(repack.Resume, c, 1, 0, 0, 6)), act(repack.NodeOff, nowhere, nowhere, 1, 5, 8)),
		"VM e sleeps on node 1, which ends offline\nVM c is resumed from node 1 after that starts to go offline",
	},
	{"before a node is on", nil, but(2, act(repack.Boot, b, nowhere, 2, 1, 2)), "VM b is on node 2 at 1, before that is online"},
	{
		"before a node has come on", nil, append(but(2, act(repack.Boot, b, nowhere, 2, 1, 2)), act(repack.NodeOn, nowhere, nowhere, 2, 0, 2)),
		"VM b is on node 2 at 1, before that is online",
	},
	{
		"when a node has come on", nil, append(but(2, act(repack.Boot, b, nowhere, 2, 2, 3)), act(repack.NodeOn, nowhere, nowhere, 2, 0, 2)), "",
	},
	{
		"on a node that goes off", func(in *repack.Instance) {
			in.VMs[c].Host, in.VMs[c].Want, in.VMs[e].Want = 0, repack.Sleeping, repack.Ready
		},
		[]repack.Action{
			act(repack.Shutdown, d, 1, nowhere, 0, 2), act(repack.Shutdown, e, 1, nowhere, 0, 4), act(repack.Boot, b, nowhere, 0, 0, 1),
			act(repack.NodeOff, nowhere, nowhere, 1, 3, 6),
		},
		"VM e is on node 1 after 3, when that goes offline",
	},
	{"too early", nil, but(3, act(repack.Resume, c, 1, 1, 1, 7)), "node 1 is over capacity at 1: cpu 12 of 10"},
	{
		"both ends of a migration count", nil, and(act(repack.Migrate, a, 0, 1, 3, 11)), "node 1 is over capacity at 3: cpu 12 of 10",
	},
	{"in another dimension", func(in *repack.Instance) { in.Nodes[1].Capacity[1] = 25 }, but(3, act(repack.Resume, c, 1, 1, 1, 7)), "node 1 is over capacity at 1: cpu 12 of 10\nnode 1 is over capacity at 1: mem 30 of 25"},
	{
		"growing without room", func(in *repack.Instance) { in.VMs[a].Next = []int64{7, 10} }, right(), "node 0 is over capacity at 7: cpu 11 of 10",
	},
	{
		"growing while there is room", func(in *repack.Instance) { in.VMs[a].Next = []int64{6, 10} },
		and(act(repack.Migrate, b, 0, 1, 5, 13), act(repack.Allocate, a, nowhere, 0, 4, 4)), "",
	},
	{
		"growing before there is room", func(in *repack.Instance) { in.VMs[a].Next = []int64{8, 10} },
		and(act(repack.Migrate, b, 0, 1, 5, 13), act(repack.Allocate, a, nowhere, 0, 12, 12)), "node 0 is over capacity at 12: cpu 12 of 10",
	},
	{"shrinks at once", func(in *repack.Instance) { in.VMs[a].Now = []int64{9, 10} }, right(), ""},
	{
		"shrinks later", func(in *repack.Instance) { in.VMs[a].Now = []int64{9, 10} }, and(act(repack.Allocate, a, nowhere, 0, 1, 1)),
		"node 0 is over capacity at 0: cpu 13 of 10",
	},
	{"waits", nil, but(3, act(repack.Resume, c, 1, 1, 2, 7, 0, 2)), ""},
	{"waits for what has not ended", nil, but(3, act(repack.Resume, c, 1, 1, 2, 7, 1)), "action 3 starts at 2, before action 1, which it waits for, has ended"},
	{"waits for nothing", nil, but(3, act(repack.Resume, c, 1, 1, 2, 7, 4, -1)), "action 3 waits for action 4, which does not exist\naction 3 waits for action -1, which does not exist"},
	{
		"waits for itself", nil, and(act(repack.Allocate, a, nowhere, 0, 1, 1, 4)), "action 4 waits for itself",
	},
	{
		"wait for each other", nil,
		and(act(repack.Allocate, a, nowhere, 0, 1, 1, 6), act(repack.Allocate, b, nowhere, 0, 1, 1, 4), act(repack.Allocate, c, nowhere, 0, 1, 1, 5, 9)),
		"action 4 waits for itself\naction 5 waits for itself\naction 6 waits for itself\naction 6 waits for action 9, which does not exist",
	},
	{"transfers within the limit", func(in *repack.Instance) { in.Nodes[1].Transfers = 1 }, but(3, act(repack.Resume, c, 1, 1, 4, 9)), ""},
	{"too many transfers", func(in *repack.Instance) { in.Nodes[1].Transfers = 1 }, right(), "node 1 carries 2 transfers at 2, its limit is 1"},
	{
		"beside what is under way", func(in *repack.Instance) { in.Nodes[1].Transfers, in.Nodes[1].Busy = 2, []repack.Ticks{3} },
		right(), "node 1 carries 3 transfers at 2, its limit is 2",
	},
	{
		"after what was under way", func(in *repack.Instance) { in.Nodes[1].Transfers, in.Nodes[1].Busy = 2, []repack.Ticks{2} }, right(), "",
	},
	{
		"both ends of a migration are transfers", func(in *repack.Instance) {
			in.Nodes[0].Transfers, in.Nodes[1].Transfers = 1, 1
			in.Nodes[0].Capacity[0], in.Nodes[1].Capacity[0] = 20, 20
		},
		append(but(3, act(repack.Resume, c, 1, 0, 4, 10)), act(repack.Migrate, a, 0, 1, 3, 11)),
		"node 0 carries 2 transfers at 4, its limit is 1\nnode 1 carries 2 transfers at 3, its limit is 1",
	},
	{
		"one of a gang waits for a slot", func(in *repack.Instance) {
			in.Gangs, in.VMs[d].Want, in.Nodes[1].Transfers = [][]int{{d, e}}, repack.Sleeping, 1
		},
		append(but(0, act(repack.Suspend, d, 1, nowhere, 0, 8))[:3], act(repack.Resume, c, 1, 1, 8, 13)), "",
	},
	{
		"one of a gang waits too short for a slot", func(in *repack.Instance) {
			in.Gangs, in.VMs[d].Want, in.Nodes[1].Transfers = [][]int{{d, e}}, repack.Sleeping, 1
		},
		append(but(0, act(repack.Suspend, d, 1, nowhere, 0, 7))[:3], act(repack.Resume, c, 1, 1, 7, 12)), "node 1 carries 2 transfers at 3, its limit is 1",
	},
	{
		"a gang apart", func(in *repack.Instance) { in.Gangs, in.VMs[d].Want = [][]int{{a}, {d, e, c}}, repack.Sleeping },
		but(0, act(repack.Suspend, d, 1, nowhere, 1, 5))[:3], "VM c ends sleeping, must be running\ngang 1: one suspend starts at 1, another at 0",
	},
	{
		"a gang together", func(in *repack.Instance) { in.Gangs, in.VMs[d].Want = [][]int{{d, e, c}}, repack.Sleeping },
		append(but(0, act(repack.Suspend, d, 1, nowhere, 0, 5))[:3], act(repack.Resume, c, 1, 1, 5, 10)), "",
	},
	{
		"what a gang leaves is taken until the last has left", func(in *repack.Instance) {
			in.Gangs, in.VMs[d].Want = [][]int{{d, e}}, repack.Sleeping
		},
		append(but(0, act(repack.Suspend, d, 1, nowhere, 0, 9))[:3], act(repack.Resume, c, 1, 1, 8, 13)), "node 1 is over capacity at 8: cpu 12 of 10",
	},
	{
		"moving while paused", func(in *repack.Instance) {
			in.Gangs, in.VMs[a].Paused, in.VMs[d].Paused, in.VMs[d].Want = [][]int{{a, d}}, true, true, repack.Running
			in.VMs[b].Want, in.VMs[c].Want, in.VMs[e].Want = repack.Ready, repack.Sleeping, repack.Running
			in.Nodes[1].Capacity[0] = 12
		},
		[]repack.Action{act(repack.Migrate, a, 0, 1, 0, 8), act(repack.Migrate, d, 1, 0, 1, 9)},
		"gang 0: one migrate starts at 0, another at 1",
	},
	{
		"moving live", func(in *repack.Instance) {
			in.Gangs, in.VMs[d].Want = [][]int{{a, d}}, repack.Running
			in.VMs[b].Want, in.VMs[c].Want, in.VMs[e].Want = repack.Ready, repack.Sleeping, repack.Running
			in.Nodes[1].Capacity[0] = 12
		},
		[]repack.Action{act(repack.Migrate, a, 0, 1, 0, 8), act(repack.Migrate, d, 1, 0, 1, 9)},
		"",
	},
}

func TestFaults(t *testing.T) {
	for _, c := range faults {
		t.Run(c.name, func(t *testing.T) {
			in := cluster()
			if c.change != nil {
				c.change(in)
			}
			report, err := repack.Check(in, &repack.Plan{Actions: c.actions})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(report.Faults, "\n"); got != c.want || report.Valid() != (c.want == "") {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// What is too much at first may come down, and only that.
func TestOverloadFromTheStart(t *testing.T) {
	for _, x := range []struct {
		name    string
		actions []repack.Action
		want    string
	}{
		{"stays", nil, "node 0 stays over capacity: cpu 16 of 10"},
		{"comes down", []repack.Action{act(repack.Migrate, 1, 0, 1, 0, 8), act(repack.Migrate, 2, 0, 1, 8, 16)}, ""},
		{"comes down in part", []repack.Action{act(repack.Migrate, 1, 0, 1, 0, 8)}, "node 0 stays over capacity: cpu 12 of 10"},
		{
			"takes in between",
			[]repack.Action{act(repack.Migrate, 1, 0, 1, 0, 8), act(repack.Migrate, 2, 0, 1, 0, 8), act(repack.Migrate, 4, 1, 0, 7, 15), act(repack.Migrate, 3, 0, 1, 8, 16)},
			"node 0 is over capacity at 7: cpu 18 of 10",
		},
		{
			"rises again",
			[]repack.Action{act(repack.Migrate, 1, 0, 1, 0, 8), act(repack.Migrate, 4, 1, 0, 9, 17), act(repack.Migrate, 2, 0, 1, 17, 25), act(repack.Migrate, 3, 0, 1, 17, 25)},
			"node 0 is over capacity at 9: cpu 14 of 10",
		},
		{
			"takes less than what leaves", []repack.Action{act(repack.Migrate, 1, 0, 1, 0, 8), act(repack.Migrate, 4, 1, 0, 8, 16), act(repack.Migrate, 2, 0, 1, 8, 16)}, "",
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			in := cluster()
			in.Nodes[1].Capacity[0] = 20
			in.VMs = slices.Concat(in.VMs[:1], in.VMs[:1], in.VMs[:1], in.VMs[:1], in.VMs[:1])
			in.VMs[4].Host, in.VMs[4].Now, in.VMs[4].Next = 1, []int64{2, 10}, []int64{2, 10}
			if over := in.Overloaded(); !slices.Equal(over, []int{0}) {
				t.Fatalf("overloaded: %v", over)
			}
			report, err := repack.Check(in, &repack.Plan{Actions: x.actions})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(report.Faults, "\n"); got != x.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, x.want)
			}
		})
	}
}

// says is a rule with these breaches, that amends the demand of a.
type says struct {
	list []repack.Breach
	err  error
}

func (s says) String() string                         { return "says()" }
func (s says) Check(*repack.Timeline) []repack.Breach { return s.list }
func (s says) Post(repack.ConstraintStore)            {}
func (s says) Amend(in *repack.Instance) (err error)  { in.VMs[a].Want = repack.Ready; return s.err }

func TestRulesAreChecked(t *testing.T) {
	in := cluster()
	list := []repack.Breach{{Text: "one", At: repack.Forever}, {Text: "two", At: 3, More: 1}}
	in.Rules = []repack.Posted{{Rule: says{list: list}, Penalty: 5}}
	report, err := repack.Check(in, &repack.Plan{Actions: right()})
	if err != nil || !report.Valid() || !slices.Equal(report.Broken, []string{"says(): one", "says(): two at 3"}) || report.Figures.Penalty != 15 {
		t.Errorf("soft: %+v, %v", report, err)
	}
	in.Rules[0].Penalty = 0
	report, err = repack.Check(in, &repack.Plan{Actions: right()})
	if err != nil || !slices.Equal(report.Faults, []string{"VM a ends running, must be ready", "says(): one", "says(): two at 3"}) || report.Figures.Penalty != 0 {
		t.Errorf("hard: %+v, %v", report, err)
	}
	if in.VMs[a].Want != repack.Running {
		t.Error("the instance itself has changed")
	}
	wrong := errors.New("wrong")
	in.Rules[0].Rule = says{err: wrong}
	if _, err := repack.Check(in, &repack.Plan{}); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
}

func TestFigures(t *testing.T) {
	in := cluster()
	in.VMs[a].Next, in.VMs[b].Weight = []int64{5, 10}, 10
	report, err := repack.Check(in, &repack.Plan{Actions: and(
		act(repack.NodeOn, nowhere, nowhere, 2, 0, 2), act(repack.Migrate, b, 0, 2, 2, 10), act(repack.Allocate, a, nowhere, 0, 9, 9),
	)})
	if err != nil || !report.Valid() {
		t.Fatal(report.Faults, err)
	}
	f := report.Figures
	want := repack.Figures{Objective: 2 + 4 + 10 + 7 + 100, All: 2 + 4 + 10 + 7 + 100 + 2, Makespan: 10, Migrations: 1, Cost: 40, GrowthDelay: 9, NodesUsed: 3}
	for _, k := range []repack.Kind{repack.Shutdown, repack.Suspend, repack.Boot, repack.Resume, repack.NodeOn, repack.Migrate, repack.Allocate} {
		want.Count[k] = 1
	}
	if f != want {
		t.Errorf("got %+v, want %+v", f, want)
	}
}

// The timeline of a VM that is moved while it grows, and of one that grows where
// it is.
func TestStays(t *testing.T) {
	in := cluster()
	in.VMs[a].Next, in.VMs[d].Next, in.VMs[d].Want = []int64{5, 10}, []int64{3, 12}, repack.Running
	line, faults := repack.Trace(in, &repack.Plan{Actions: []repack.Action{
		act(repack.Migrate, a, 0, 1, 1, 9), act(repack.Migrate, a, 1, 0, 10, 18), act(repack.Resume, c, 1, 0, 0, 6), act(repack.Suspend, e, 1, 1, 3, 7),
	}})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	var got []string
	for _, stays := range line.Stays {
		for _, s := range stays {
			to := fmt.Sprint(s.To)
			if s.To == repack.Forever {
				to = "…"
			}
			got = append(got, fmt.Sprintf("%s on %d [%d,%s) %v %t", in.VMName(s.VM), s.Node, s.From, to, s.Need, s.Inherited))
		}
	}
	want := []string{
		"VM a on 0 [0,9) [4 10] true", "VM a on 1 [1,18) [5 10] false", "VM a on 0 [10,…) [5 10] false",
		"VM c on 0 [0,…) [4 10] false",
		"VM d on 1 [0,18) [4 10] true", "VM d on 1 [18,…) [3 12] true",
		"VM e on 1 [0,7) [4 10] true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if line.Growth[d] != 18 || line.Growth[a] != 0 || line.Makespan != 18 {
		t.Errorf("growth %v, makespan %d", line.Growth, line.Makespan)
	}
}

// Whatever is in a plan, it is judged.
func FuzzCheck(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 8, 1, 1, 1, 0, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &repack.Plan{}
		for ; len(data) >= 6; data = data[6:] {
			x := func(i int) int { return int(int8(data[i])) }
			p.Actions = append(p.Actions, act(repack.Kind(data[0]%10), x(1), x(2), x(3), repack.Ticks(x(4)), repack.Ticks(x(5)), x(1), x(4)))
		}
		in := cluster()
		in.Gangs, in.VMs[a].Paused = [][]int{{a, c}, {d, e}}, true
		if _, err := repack.Check(in, p); err != nil {
			t.Fatal(err)
		}
	})
}
