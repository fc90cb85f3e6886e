package solve_test

import (
	"slices"
	"strings"
	"testing"

	"vjob/repack"
	"vjob/repack/solve"
)

// The verdicts and reasons of problems without a plan, one of each kind.
func TestVerdicts(t *testing.T) {
	set := func(vms ...int) map[string]any { return map[string]any{"vms": vms} }
	for _, c := range []struct {
		name string
		make func(t *testing.T) *repack.Instance
		want string
	}{
		{"too large for every node", func(*testing.T) *repack.Instance {
			in := bare(10, 12)
			in.VMs = []repack.VM{ready(13)}
			return in
		}, `impossible
VM 0 (13 mem) can be on no node: its rules and the states of the nodes leave 2, and none of those is large enough`},
		{"no node allowed", func(t *testing.T) *repack.Instance {
			t.Helper()
			in := bare(10, 10)
			in.VMs = []repack.VM{ready(1)}
			in.Rules = []repack.Posted{postedGuard(t, in, "ban", false, map[string]any{"vms": []int{0}, "nodes": []int{0, 1}})}
			return in
		}, `impossible
VM 0 (1 mem) can be on no node: its rules and the states of the nodes leave none`},
		{"too much in all", func(*testing.T) *repack.Instance {
			in := bare(10, 10)
			in.VMs = []repack.VM{running(0, 8, 8), running(1, 8, 8), ready(7)}
			return in
		}, `impossible
3 VMs need 23 mem, and the capacity of the 2 nodes that may host them is 20: 3 are missing; add 1 node, or let some VMs wait`},
		{"too much for a fence", func(t *testing.T) *repack.Instance {
			t.Helper()
			in := bare(10, 10)
			in.VMs = []repack.VM{running(0, 6, 6), ready(5)}
			in.Rules = []repack.Posted{postedGuard(t, in, "fence", false, map[string]any{"vms": []int{0, 1}, "nodes": []int{0}})}
			return in
		}, `impossible
2 VMs need 11 mem, and the capacity of the 1 node that may host them is 10: 1 are missing; add 1 node, or let some VMs wait`},
		{"demands of one size", func(*testing.T) *repack.Instance {
			in := bare(7, 7)
			in.VMs = []repack.VM{running(0, 6, 6), running(1, 6, 6), ready(2)}
			return in
		}, `impossible
3 VMs need 14 mem, and of the 14 of the 2 nodes only 12 can be used, as all demands are multiples of 2: 2 are missing; add 1 node, or let some VMs wait`},
		{"spread over too few", func(t *testing.T) *repack.Instance {
			t.Helper()
			in := bare(10, 10)
			in.VMs = []repack.VM{running(0, 1, 1), running(1, 1, 1), ready(1)}
			in.Rules = []repack.Posted{postedGuard(t, in, "spread", false, set(0, 1, 2))}
			return in
		}, `impossible
spread({VM 0, VM 1, VM 2}): 3 VMs run, and only 2 nodes may host any of them`},
		{"quotas", func(t *testing.T) *repack.Instance {
			t.Helper()
			in := bare(10, 10)
			in.VMs = []repack.VM{running(0, 1, 1), running(1, 1, 1), ready(1)}
			for n := range 2 {
				in.Rules = append(in.Rules, postedGuard(t, in, "capacity", false, map[string]any{"nodes": []int{n}, "max": int64(1)}))
			}
			return in
		}, `impossible
3 VMs are to run, and the rules leave room for 2: capacity({node 0}, 1); capacity({node 1}, 1)`},
		{"too many on", func(t *testing.T) *repack.Instance {
			t.Helper()
			in := bare(10, 10)
			in.Nodes[1].Want = repack.AnyState
			in.VMs = []repack.VM{running(1, 1, 1)}
			in.VMs[0].Want = repack.Sleeping
			in.Rules = []repack.Posted{postedGuard(t, in, "maxOnline", false, map[string]any{"nodes": []int{0, 1}, "max": int64(1)})}
			return in
		}, `impossible
maxOnline({node 0, node 1}, 1): 1 of the nodes are to be online, and 1 others keep VMs that are to sleep`},
		{"to sleep on a node that goes off", func(*testing.T) *repack.Instance {
			in := bare(10, 10)
			in.Nodes[1].Want = repack.Offline
			in.VMs = []repack.VM{running(1, 1, 1)}
			in.VMs[0].Want = repack.Sleeping
			return in
		}, `impossible
VM 0 is to sleep on node 1, which is to go offline: resume it elsewhere first`},
		{"to sleep without having run", func(*testing.T) *repack.Instance {
			in := bare(10)
			in.VMs = []repack.VM{ready(1)}
			in.VMs[0].Want = repack.Sleeping
			return in
		}, `impossible
VM 0 is ready and is to be sleeping: no action does that`},
		{"to stay and to stop", func(*testing.T) *repack.Instance {
			in := bare(10)
			in.VMs = []repack.VM{running(0, 1, 1)}
			in.VMs[0].Want, in.VMs[0].Stays = repack.Ready, true
			return in
		}, `impossible
VM 0 is running and is to be ready, and to stay as it is`},
		{"rules that contradict each other", func(t *testing.T) *repack.Instance {
			t.Helper()
			in := bare(10)
			in.VMs = []repack.VM{running(0, 1, 1)}
			in.Rules = []repack.Posted{postedGuard(t, in, "running", false, set(0)), postedGuard(t, in, "ready", false, set(0))}
			return in
		}, `impossible
running({VM 0}) and ready({VM 0}) contradict each other: VM 0 cannot end running and ready`},
		{"no packing", func(*testing.T) *repack.Instance {
			in := bare(10, 10, 10)
			in.VMs = []repack.VM{ready(6), ready(6), ready(6), ready(5), ready(1)}
			return in
		}, `impossible
VM 3 (5 mem) has no place: node 1 comes closest and lacks 1 mem
with 1 more nodes as large as the largest there is a plan (objective 5)`},
		{"a rule in the way", func(t *testing.T) *repack.Instance {
			t.Helper()
			in := bare(10, 10)
			in.VMs = []repack.VM{ready(6), ready(5), ready(2)}
			in.Rules = []repack.Posted{postedGuard(t, in, "gather", false, set(0, 1))}
			return in
		}, `impossible
VM 1 (5 mem) has no place: node 0 comes closest and lacks 3 mem
without gather({VM 0, VM 1}) there is a plan (objective 3)`},
		{"too late", func(t *testing.T) *repack.Instance {
			t.Helper()
			in := bare(10)
			in.VMs = []repack.VM{ready(6)}
			in.Rules = []repack.Posted{postedGuard(t, in, "deadline", true, map[string]any{"vms": []int{0}, "at": repack.Ticks(0)})}
			return in
		}, `impossible
every plan found breaks a time by which an action is due
without deadline({VM 0}, 0) there is a plan (objective 1)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := solved(t, seed(1), c.make(t), solve.Options{Iterations: 100, Explain: true})
			if got := strings.TrimSpace(resultText(r)); got != c.want {
				t.Errorf("got\n%s\nmust be\n%s", got, c.want)
			}
		})
	}
}

// Two VMs that change places with no third node are stuck, and are not if they may
// sleep for a while.
func TestSwap(t *testing.T) {
	in := bare(10, 10)
	in.VMs = []repack.VM{running(0, 6, 6), running(1, 6, 6)}
	for vm := range in.VMs {
		in.Rules = append(in.Rules, postedGuard(t, in, "fence", false, map[string]any{"vms": []int{vm}, "nodes": []int{1 - vm}}))
	}
	r := solved(t, seed(1), in, solve.Options{Iterations: 10})
	if got := resultText(r); !strings.HasPrefix(got, "impossible\n") || !strings.Contains(got, "(sleepable)") {
		t.Errorf("got\n%s", got)
	}
	sleepable := *in
	sleepable.VMs = slices.Clone(in.VMs)
	for vm := range in.VMs {
		sleepable.VMs[vm].Sleepable = true
	}
	r = solved(t, seed(1), &sleepable, solve.Options{Iterations: 10})
	if got := planText(r.Plan); got != ""+
		" 0  0-4 suspend VM 1 from node 1\n"+
		" 1  4-7 migrate VM 0 from node 0 to node 1 after [0]\n"+
		" 2  7-13 resume VM 1 from node 1 to node 0 after [0 1]\n" {
		t.Errorf("got\n%s", got)
	}
}

// An invalid instance is an error.
func TestNoInstance(t *testing.T) {
	in := bare(10)
	in.VMs = []repack.VM{running(1, 1, 1)}
	if _, err := solve.Solve(in, solve.Options{}); err == nil || err.Error() != "VM 0: running on node 1, which does not exist" {
		t.Errorf("got %v", err)
	}
}

// When the time is up before there is a plan, that is what is said, and soon.
func TestOutOfTime(t *testing.T) {
	in := bare(10, 10, 10, 10)
	for range 30 { // a packing that there is not, too large to look at all of it
		in.VMs = append(in.VMs, ready(0), ready(0))
	}
	for range 4 {
		in.VMs = append(in.VMs, ready(6))
	}
	in.VMs = append(in.VMs, ready(5), ready(5), ready(1))
	in.Nodes = append(in.Nodes, repack.Node{Capacity: []int64{5}})
	asked := 0
	r, err := solve.Solve(in, solve.Options{Stop: func() bool { asked++; return asked > 3 }, Explain: true}) // else it is proved at once
	if err != nil || r.Verdict != solve.OutOfTime || len(r.Why) == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// An aborted search does not wait for a first plan, and its verdict is that the time was up.
func TestAbort(t *testing.T) {
	takes := repack.Durations{Boot: 1, Shutdown: 1, Suspend: 2, ResumeLocal: 2, ResumeRemote: 4, Migrate: 3}
	vm := func(need int64) repack.VM {
		return repack.VM{Want: repack.Running, Host: repack.Nowhere, Now: []int64{need}, Next: []int64{need}, Weight: 1, Takes: takes}
	}
	in := &repack.Instance{Dims: []string{"cpu"}, VMs: []repack.VM{vm(4)}}
	for n := range 10 { // too many for an exhaustive search
		in.Nodes = append(in.Nodes, repack.Node{Capacity: []int64{8}})
		for range 3 {
			v := vm(2)
			v.State, v.Host = repack.Running, n
			in.VMs = append(in.VMs, v)
		}
	}
	for _, aborted := range []bool{false, true} {
		r, err := solve.Solve(in, solve.Options{Abort: func() bool { return aborted }})
		want := solve.Solved
		if aborted {
			want = solve.OutOfTime
		}
		if err != nil || r.Verdict != want {
			t.Errorf("aborted %t: verdict %d, %v", aborted, r.Verdict, err)
		}
	}
}
