package decide_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/queue"
	"vjob/scheduler/balance"
	"vjob/scheduler/decide"
)

// kept returns settings that keep capacity for the loss of so many nodes.
func kept(nodes int) *decide.Settings {
	s := settings()
	s.Failover = nodes
	return s
}

// four has four nodes of 4 CPU and 8 GiB, and vjobs of VMs of 1 GiB: the number, the CPU of each VM, and where they run.
func four(jobs ...member) *world {
	w := &world{jobs: jobs}
	for i := range 4 {
		w.nodes = append(w.nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", i+1)), Capacity: cluster.Resources{CPU: 4000, Memory: 8192}})
	}
	return w
}

func vjob(id cluster.VJobID, vms int, cpu cluster.MilliCPU, at ...cluster.NodeID) member {
	job := &cluster.VJob{ID: id, Owner: "u", Submitted: epoch, State: cluster.Waiting, Terms: &cluster.Terms{}}
	for rank := range vms {
		job.VMs = append(job.VMs, cluster.VM{ID: cluster.VMID{VJob: id, Rank: rank}, Reserved: cluster.Resources{CPU: cpu, Memory: 1024}})
	}
	return member{job: job, at: at}
}

func TestFailoverKeepsRoom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		world  *world
		nodes  int
		policy queue.Policy
		change func(f *decide.Facts)
		want   map[cluster.VJobID]string // the verdicts
	}{
		{
			"all start without it", four(vjob(1, 4, 4000)), 0,
			queue.FirstFit{},
			nil,
			map[cluster.VJobID]string{1: "runs: there is room"},
		},
		{
			"sums", four(vjob(1, 4, 2000), vjob(2, 2, 2000), vjob(3, 2, 2000)), 1,
			queue.FirstFit{},
			nil,
			map[cluster.VJobID]string{
				1: "runs: there is room", 2: "runs: there is room",
				3: "waits: keeps room for the loss of a node (policy.failover): 4 CPU short; 1st in line",
			},
		},
		{
			"two nodes", four(vjob(1, 4, 2000), vjob(2, 1, 2000)), 2,
			queue.FCFS{},
			nil,
			map[cluster.VJobID]string{
				1: "runs: there is room", 2: "waits: keeps room for the loss of 2 nodes (policy.failover): 2 CPU short; 1st in line",
			},
		},
		{
			"pieces", four(vjob(1, 1, 3000, "n1"), vjob(2, 1, 2000, "n2"), vjob(3, 1, 2000, "n3"), vjob(4, 1, 3000)), 1,
			queue.FCFS{},
			nil,
			map[cluster.VJobID]string{
				1: "runs", 2: "runs", 3: "runs",
				4: "waits: keeps room for the loss of a node (policy.failover): no place for a VM of 3 CPU and 1 GiB of n1; 1st in line",
			},
		},
		{
			"later vjobs that fit", four(vjob(1, 4, 2000, "n1", "n2", "n3", "n4"), vjob(2, 3, 2000), vjob(3, 1, 2000)), 1,
			queue.FirstFit{},
			nil,
			map[cluster.VJobID]string{
				1: "runs", 2: "waits: keeps room for the loss of a node (policy.failover): 2 CPU short; 1st in line", 3: "runs: there is room",
			},
		},
		{
			"none is suspended for it", four(vjob(1, 2, 2000), vjob(2, 4, 3000, "n1", "n2", "n3", "n4")), 1,
			queue.FirstFit{},
			nil,
			map[cluster.VJobID]string{
				1: "runs: there is room", 2: "suspended to make room for 1: the room that is free lies in pieces too small for its VMs, the largest has 4 CPU and 8 GiB",
			},
		},
		{
			"one that would have to be suspended only for it runs on", four(vjob(1, 1, 1000), vjob(2, 4, 3000, "n1", "n2", "n3", "n4")), 1,
			queue.FirstFit{},
			nil,
			map[cluster.VJobID]string{
				1: "waits: keeps room for the loss of a node (policy.failover): 1 CPU short; 1st in line", 2: "runs",
			},
		},
		{
			"what was lost starts again", four(vjob(1, 4, 3000)), 1,
			queue.FirstFit{},
			func(f *decide.Facts) {
				f.Nodes[0].State, f.VJobs[0].Job.Cause = cluster.Down, &cluster.Cause{Kind: cluster.CauseLost}
				f.VJobs[0].Job.VMs = f.VJobs[0].Job.VMs[:3]
				f.VJobs[0].Record.Members = f.VJobs[0].Record.Members[:3]
			},
			map[cluster.VJobID]string{1: "runs: there is room"},
		},
		{
			"a draining node takes nothing", four(vjob(1, 1, 2000, "n1"), vjob(2, 1, 2000, "n2"), vjob(3, 2, 2000)), 1,
			queue.FirstFit{},
			func(f *decide.Facts) { f.Nodes[2].State, f.Nodes[3].State = cluster.Draining, cluster.Draining },
			map[cluster.VJobID]string{
				1: "runs", 2: "runs", 3: "waits: keeps room for the loss of a node (policy.failover): 4 CPU short; 1st in line",
			},
		},
	} {
		f := c.world.facts()
		for i := range f.VJobs {
			if f.VJobs[i].Bound != cluster.VMRunning {
				f.VJobs[i].Job.State, f.VJobs[i].Bound = cluster.Waiting, cluster.VMWaiting
			}
		}
		if c.change != nil {
			c.change(f)
		}
		s := kept(c.nodes)
		s.Policy = c.policy
		d := decided(t, decide.NewView(s, f))
		for i := range d.VJobs {
			id, v := d.VJobs[i].Job.ID, &d.Verdicts[i]
			if v.Reason != c.want[id] {
				t.Errorf("%s: vjob %s %s, want %s", c.name, id, v.Reason, c.want[id])
			}
			if waits := v.Target == queue.Wait; waits != (v.Cause != nil && v.Cause.Kind == cluster.CauseFailover) {
				t.Errorf("%s: vjob %s has cause %+v", c.name, id, v.Cause)
			}
		}
	}
}

// A vjob that is paused in memory goes to disk for one that comes first and would not leave failover capacity beside it. Else
// both would wait for ever.
func TestPausedVJobsMakeRoomForFailover(t *testing.T) {
	t.Parallel()
	w := four(vjob(1, 4, 1000), vjob(2, 4, 1000, "n1", "n2", "n3", "n4"))
	for rank := range w.jobs[1].job.VMs {
		w.jobs[1].job.VMs[rank].Reserved.Memory = 7000
	}
	f := w.facts()
	f.VJobs[0].Job.State, f.VJobs[0].Bound = cluster.Waiting, cluster.VMWaiting
	paused := &f.VJobs[1]
	paused.Job.State, paused.Bound, paused.Record.Phase = cluster.Paused, cluster.VMPaused, gang.Paused
	s := kept(1)
	s.Policy, s.Suspend = queue.FCFS{}, decide.InMemory
	d := decided(t, decide.NewView(s, f))
	if first, second := &d.Verdicts[0], &d.Verdicts[1]; first.Target != queue.Run || second.Target != queue.Suspend || !strings.HasSuffix(second.Reason, "; its memory is wanted, it goes to disk") {
		t.Errorf("vjob 1 %s, vjob 2 %s", first.Reason, second.Reason)
	}
	if d.Plan.Empty() || !d.Failover.Holds {
		t.Errorf("%+v after\n%s", d.Failover, d.Plan.String())
	}
}

// survives reports whether each node can be lost, by trying all places for its VMs.
func survives(w *world, target *cluster.Configuration) bool {
	size := func(vm cluster.VMID) cluster.Resources { return w.of(vm).job.VMs[vm.Rank].Reserved }
	free := map[cluster.NodeID]cluster.Resources{}
	for _, n := range w.nodes {
		free[n.ID] = n.Capacity
		for _, vm := range target.On(n.ID) {
			free[n.ID] = free[n.ID].Minus(size(vm))
		}
	}
	var fits func(vms []cluster.VMID, lost cluster.NodeID) bool
	fits = func(vms []cluster.VMID, lost cluster.NodeID) bool {
		if len(vms) == 0 {
			return true
		}
		need := size(vms[0])
		for _, n := range w.nodes {
			if n.ID == lost || !need.Fits(free[n.ID]) {
				continue
			}
			free[n.ID] = free[n.ID].Minus(need)
			ok := fits(vms[1:], lost)
			free[n.ID] = free[n.ID].Plus(need)
			if ok {
				return true
			}
		}
		return false
	}
	for _, n := range w.nodes {
		if !fits(target.On(n.ID), n.ID) {
			return false
		}
	}
	return true
}

// Whatever a decision starts, the VMs of any node find places on the others, as trying all places shows.
func TestStartsKeepFailover(t *testing.T) {
	started, kept1 := 0, 0
	seeds(t, func(rng *rand.Rand, w *world) {
		s := kept(1)
		s.Policy = []queue.Policy{queue.FirstFit{}, queue.FCFS{}, queue.EASY{}}[rng.IntN(3)]
		v := decide.NewView(s, w.facts())
		d := decided(t, v)
		starts := false
		for i := range d.VJobs {
			starts = starts || d.VJobs[i].Job.State == cluster.Waiting && d.Verdicts[i].Target == queue.Run
		}
		free := decided(t, decide.NewView(settings(), w.facts()))
		for i := range d.VJobs {
			if d.VJobs[i].Job.State == cluster.Running && d.Verdicts[i].Target != queue.Run && free.Verdicts[i].Target == queue.Run && s.Policy == (queue.FirstFit{}) {
				t.Fatalf("vjob %s is suspended for failover capacity: %s", d.VJobs[i].Job.ID, d.Verdicts[i].Reason)
			}
		}
		if !starts {
			kept1++
			return
		}
		started++
		if d.Plan.Target == nil || !survives(w, d.Plan.Target) {
			t.Fatalf("starts %v, and a node cannot be lost", d.Plan.Target)
		}
		if !d.Failover.Holds {
			t.Fatalf("said to be broken: %+v", d.Failover)
		}
	})
	if started < 20 || kept1 < 20 {
		t.Errorf("%d decisions start vjobs, %d do not", started, kept1)
	}
}

// live returns the facts of a world in which all VMs may migrate while they run.
func live(w *world) *decide.Facts {
	f := w.facts()
	for i := range f.Nodes {
		for _, m := range w.jobs {
			for _, vm := range m.job.VMs {
				f.Nodes[i].Locked = append(f.Nodes[i].Locked, vm.ID)
			}
		}
	}
	return f
}

// A VM of 3 CPU on n1 needs n4 if n1 is lost: balance takes one VM there, and not the second one.
func TestBalanceKeepsFailover(t *testing.T) {
	t.Parallel()
	w := four(vjob(1, 1, 3000, "n1"), vjob(2, 4, 1000, "n2", "n2", "n2", "n2"))
	w.nodes = w.nodes[:3]
	for lost, want := range []int{2, 1} {
		s := kept(lost)
		s.Live = true
		d := decided(t, decide.NewView(s, live(w)))
		ask := &decide.BalanceRequest{Settings: balance.Default, Fill: 1, Uses: func(vm cluster.VMID) (now, least, most cluster.MilliCPU) {
			cpu := w.Need(vm).CPU
			return cpu, cpu, cpu
		}}
		ask.CostBenefit = false
		b := d.Balance(ask)
		if len(b.Moves) != want || b.Plan.Empty() {
			t.Errorf("%d lost: %d moves, want %d: %s", lost, len(b.Moves), want, b.Why)
		}
		if lost > 0 && !survives(w, b.Plan.Target) {
			t.Errorf("a node cannot be lost after %v", b.List())
		}
		moves := []cluster.Move{{VM: cluster.VMID{VJob: 2}, From: "n2", To: "n3"}, {VM: cluster.VMID{VJob: 2, Rank: 1}, From: "n2", To: "n3"}}
		_, _, why := d.Relocate(moves)
		if refused := strings.Contains(why, "too little would be left for the loss of a node (policy.failover): no place for a VM of 3 CPU"); refused != (lost > 0) {
			t.Errorf("%d lost: %q", lost, why)
		}
	}
}

// A node is spared only if another one can be lost without it.
func TestNodesThatFailoverNeedsAreNotSpared(t *testing.T) {
	t.Parallel()
	w := four(vjob(1, 2, 2000, "n1", "n2"))
	for _, c := range []struct {
		lost  int
		nodes []cluster.NodeID
		want  bool
	}{
		{0, []cluster.NodeID{"n3", "n4"}, true},
		{1, []cluster.NodeID{"n3", "n4"}, true},
		{1, []cluster.NodeID{"n2", "n3", "n4"}, false},
		{2, []cluster.NodeID{"n4"}, true},
		{2, []cluster.NodeID{"n3", "n4"}, false},
	} {
		if got := decide.NewView(kept(c.lost), w.facts()).Vary().CanEmpty(c.nodes); got != c.want {
			t.Errorf("%d lost, without %v: %t", c.lost, c.nodes, got)
		}
	}
	v := decide.NewView(kept(1), four(vjob(1, 2, 3000, "n1", "n2")).facts()).Vary()
	var off []cluster.Node
	for _, id := range []cluster.NodeID{"n3", "n4"} {
		if err := v.SetNodeState(id, cluster.Offline); err != nil {
			t.Fatal(err)
		}
	}
	off = append(off, v.Nodes()[2:]...)
	if n := v.Replenishing(off); n != 1 {
		t.Errorf("%d nodes come on, want 1", n)
	}
}
