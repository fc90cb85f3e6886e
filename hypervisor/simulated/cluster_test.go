package simulated_test

import (
	"errors"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

var begin = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// manualCluster is a cluster; the test advances its time.
type manualCluster struct {
	*simulated.Cluster
	t   *testing.T
	op  hypervisor.OpID
	now time.Time
	// replies by operation, and the number of hints by node.
	replies map[hypervisor.OpID]*simulated.Reply
	hints   map[cluster.NodeID]int
}

func newManualCluster(t *testing.T, edit func(*simulated.Config)) *manualCluster {
	t.Helper()
	cfg := simulated.Config{Start: begin, Profile: simulated.Thesis, Seed: 1}
	for _, id := range []cluster.NodeID{"n1", "n2", "n3"} {
		cfg.Nodes = append(cfg.Nodes, simulated.Node{
			ID: id, Capacity: cluster.Resources{CPU: 2 * cluster.CPU, Memory: 4 * cluster.GiB},
		})
	}
	if edit != nil {
		edit(&cfg)
	}
	return &manualCluster{
		Cluster: simulated.New(cfg), t: t, now: begin,
		replies: map[hypervisor.OpID]*simulated.Reply{}, hints: map[cluster.NodeID]int{},
	}
}

func vm(job, rank int) cluster.VMID { return cluster.VMID{VJob: cluster.VJobID(job), Rank: rank} }

func imageOf(id cluster.VMID) hypervisor.ImageID {
	return hypervisor.ImageID{VM: id, Generation: 1, Attempt: 1}
}

// start begins a call and returns its number.
func (b *manualCluster) start(call hypervisor.Call) hypervisor.OpID {
	b.op++
	call.Op = b.op
	if call.Image.Attempt == 0 {
		call.Image = imageOf(call.VM)
	}
	b.Begin(b.now, call)
	return b.op
}

// pass advances time and collects replies and hints.
func (b *manualCluster) pass(to time.Time) {
	b.now = to
	for _, h := range b.Advance(to) {
		if h.Reply != nil {
			b.replies[h.Reply.Op] = h.Reply
		} else {
			b.hints[h.Hint]++
		}
	}
}

// reply advances until an operation is answered; nil after a timeout.
func (b *manualCluster) reply(op hypervisor.OpID, within time.Duration) *simulated.Reply {
	b.t.Helper()
	for limit := b.now.Add(within); b.replies[op] == nil; {
		next, ok := b.Next()
		if !ok || next.After(limit) {
			b.pass(limit)
			break
		}
		b.pass(next)
	}
	return b.replies[op]
}

// do carries out a call and expects an answer with that error.
func (b *manualCluster) do(call hypervisor.Call, want error) *simulated.Reply {
	b.t.Helper()
	r := b.reply(b.start(call), time.Hour)
	if r == nil {
		b.t.Fatalf("%s %s on %s: no answer", call.Verb, call.VM, call.Node)
	}
	if !errors.Is(r.Err, want) {
		b.t.Fatalf("%s %s on %s: error %v, want %v", call.Verb, call.VM, call.Node, r.Err, want)
	}
	return r
}

// wait lets time pass.
func (b *manualCluster) wait(d time.Duration) {
	b.pass(b.now.Add(d))
}

// copies is the states and jobs of the copies of a VM, by node.
func (b *manualCluster) copies(id cluster.VMID) map[cluster.NodeID]string {
	m := map[cluster.NodeID]string{}
	for _, c := range b.Truth().Copies {
		if c.VM == id {
			text := c.State.String()
			if c.Job != hypervisor.JobNone {
				text += "/" + c.Job.String()
			}
			m[c.Node] = text
		}
	}
	return m
}

func (b *manualCluster) want(id cluster.VMID, want map[cluster.NodeID]string) {
	b.t.Helper()
	got := b.copies(id)
	same := len(got) == len(want)
	for node, state := range want {
		same = same && got[node] == state
	}
	if !same {
		b.t.Fatalf("copies of %s: %v, want %v", id, got, want)
	}
}

// on is a set of copies, as pairs of node and state.
func on(pairs ...string) map[cluster.NodeID]string {
	m := map[cluster.NodeID]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[cluster.NodeID(pairs[i])] = pairs[i+1]
	}
	return m
}

func machine(memory cluster.MiB, members int, steps ...cluster.Step) *hypervisor.Machine {
	m := &hypervisor.Machine{
		Name: "test", Members: members,
		Reserved: cluster.Resources{CPU: cluster.CPU, Memory: memory},
	}
	if steps != nil {
		m.Payload.Program = &cluster.Program{Steps: steps}
	}
	return m
}

func (b *manualCluster) boot(id cluster.VMID, node cluster.NodeID, m *hypervisor.Machine) {
	b.t.Helper()
	b.do(hypervisor.Call{
		Verb: hypervisor.Boot, VM: id, Node: node, Machine: m, Stamp: hypervisor.Stamp{Incarnation: 1, Epoch: 1},
	}, nil)
}

func TestSuspendAndResumeElsewhereTakesTheThesisTimes(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	b.boot(id, "n1", machine(cluster.GiB, 1))
	if got := b.now.Sub(begin); got != 6*time.Second {
		t.Fatalf("boot took %s", got)
	}
	b.wait(10 * time.Second)
	from := b.now
	b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: id, Node: "n1"}, nil)
	b.do(hypervisor.Call{Verb: hypervisor.Save, VM: id, Node: "n1"}, nil)
	b.want(id, on())
	sealed := b.do(hypervisor.Call{Verb: hypervisor.Seal, VM: id, Node: "n1"}, nil)
	if got := b.now.Sub(from); got != 50*time.Second+10*time.Millisecond {
		t.Fatalf("suspend took %s", got)
	}
	from = b.now
	b.do(hypervisor.Call{Verb: hypervisor.Restore, VM: id, Node: "n2", Checksum: sealed.Receipt.Checksum, Attempt: 1}, nil)
	b.want(id, on("n2", "paused"))
	b.do(hypervisor.Call{Verb: hypervisor.Unpause, VM: id, Node: "n2"}, nil)
	if got := b.now.Sub(from); got != 135*time.Second+10*time.Millisecond {
		t.Fatalf("remote resume took %s", got)
	}
	b.want(id, on("n2", "running"))
	if ran := b.Truth().Copies[0].Ran; ran != 16*time.Second+10*time.Millisecond {
		t.Fatalf("the guest has run for %s, want 16.01s", ran)
	}
}

func TestApplicationEndsWhenEveryMemberIsDone(t *testing.T) {
	b := newManualCluster(t, nil)
	busy := func(d time.Duration, after ...cluster.StepRef) cluster.Step {
		return cluster.Step{CPU: cluster.CPU, Duration: d, After: after}
	}
	first := b.start(hypervisor.Call{Verb: hypervisor.Boot, VM: vm(1, 0), Node: "n1", Machine: machine(512, 2, busy(100*time.Second))})
	b.start(hypervisor.Call{Verb: hypervisor.Boot, VM: vm(1, 1), Node: "n2", Machine: machine(512, 2, busy(50*time.Second, cluster.StepRef{Rank: 0, Index: 0}))})
	b.reply(first, time.Minute)
	view, _ := b.Look(b.now.Add(time.Second), "n2")
	if c, _ := view.Copy(vm(1, 1)); c.CPU != 0 {
		t.Errorf("a guest that waits for a peer demands %s CPU", c.CPU)
	}
	b.now = begin.Add(6*time.Second + 100*time.Second + time.Millisecond)
	b.pass(b.now)
	view, _ = b.Look(b.now, "n2")
	if c, _ := view.Copy(vm(1, 1)); c.CPU != cluster.CPU {
		t.Errorf("after the end of its peer a guest demands %s CPU", c.CPU)
	}
	b.now = begin.Add(6*time.Second + 150*time.Second + 24*time.Second)
	b.pass(b.now)
	b.want(vm(1, 0), on("n1", "running"))
	b.wait(time.Second)
	b.want(vm(1, 0), on())
	b.want(vm(1, 1), on())
	view, _ = b.Look(b.now, "n1")
	if len(view.Endings) != 1 || view.Endings[0].Cause != hypervisor.CauseShutdown {
		t.Fatalf("endings %+v", view.Endings)
	}
}

func TestOverloadedNodeSlowsItsGuestsDown(t *testing.T) {
	b := newManualCluster(t, nil)
	for i := range 4 { // a demand of 4 CPU on 2
		b.start(hypervisor.Call{
			Verb: hypervisor.Boot, VM: vm(i+1, 0), Node: "n1",
			Machine: machine(512, 1, cluster.Step{CPU: cluster.CPU, Duration: 100 * time.Second}),
		})
	}
	b.now = begin.Add(6*time.Second + 200*time.Second + 24*time.Second)
	b.pass(b.now)
	b.want(vm(1, 0), on("n1", "running"))
	b.wait(time.Second + time.Millisecond)
	b.want(vm(1, 0), on())
}

func TestLockstepAdvancesOnlyWhileEveryMemberGetsItsDemand(t *testing.T) {
	b := newManualCluster(t, nil)
	for rank := range 2 {
		m := machine(512, 2, cluster.Step{CPU: cluster.CPU, Duration: 100 * time.Second})
		m.Payload.Program.Lockstep = true
		node := cluster.NodeID([]string{"n1", "n2"}[rank])
		b.start(hypervisor.Call{Verb: hypervisor.Boot, VM: vm(1, rank), Node: node, Machine: m})
	}
	b.wait(16 * time.Second) // 10 s of progress
	b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: vm(1, 1), Node: "n2"}, nil)
	b.wait(time.Hour)
	b.do(hypervisor.Call{Verb: hypervisor.Unpause, VM: vm(1, 1), Node: "n2"}, nil)
	b.wait(80 * time.Second)
	b.want(vm(1, 0), on("n1", "running"))
	// Two more guests overload n1: rank 0 gets two thirds, and the application stops.
	for i := range 2 {
		b.boot(vm(2+i, 0), "n1", machine(512, 1))
	}
	b.wait(time.Hour)
	b.want(vm(1, 0), on("n1", "running"))
	b.do(hypervisor.Call{Verb: hypervisor.Destroy, VM: vm(2, 0), Node: "n1"}, nil)
	b.wait(time.Minute)
	b.want(vm(1, 0), on())
	b.want(vm(1, 1), on())
}
