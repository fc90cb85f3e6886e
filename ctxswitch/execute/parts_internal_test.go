package execute

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// TestMain fails if a test has written to the history that all gangs share that were never begun.
func TestMain(m *testing.M) {
	code := m.Run()
	if !reflect.DeepEqual(noHistory, history{}) {
		fmt.Printf("FAIL: written without begin: %+v\n", noHistory)
		code = 1
	}
	os.Exit(code)
}

var instant = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// parts are those on which others rest: a gang of one VM that migrates from node a to node b, both of which answer.
func parts() (*batch, *gangs, *nodes, *calls) {
	b, gs := newBatch(instant), newGangs()
	ns := newNodes(b, &DefaultSettings, gs)
	for _, id := range []cluster.NodeID{"a", "b"} {
		ns.set(cluster.Node{ID: id}).seen = true
	}
	id := cluster.VMID{VJob: 1}
	job := &cluster.VJob{ID: 1, VMs: []cluster.VM{{ID: id, Reserved: cluster.Resources{CPU: 1000, Memory: 1024}}}, Terms: &cluster.Terms{}}
	gs.add(newGangState(job, gang.Record{VJob: 1, Members: []gang.Member{{Node: "a", Next: "b"}}}, instant))
	cs := &calls{
		batch: b, settings: &DefaultSettings, gangs: gs, nodes: ns, store: &store{batch: b, settings: &DefaultSettings, gangs: gs},
		ops: map[hypervisor.OpID]*op{},
	}
	return b, gs, ns, cs
}

// Before a VM was seen it demands what it reserves; while it migrates it holds room on both nodes.
func TestVMs(t *testing.T) {
	_, gs, ns, _ := parts()
	vs, vm := &VMs{gangs: gs, nodes: ns}, cluster.VMID{VJob: 1}
	if vs.Demand(vm) != 1000 || vs.MemoryDemand(vm) != 1024 || vs.OnNode(vm) {
		t.Errorf("demand %d, %d", vs.Demand(vm), vs.MemoryDemand(vm))
	}
	if to, on := vs.Destination(vm), vs.Holds(vm); to != "b" || !slices.Equal(on, []cluster.NodeID{"a", "b"}) {
		t.Errorf("it goes to %s and holds %v", to, on)
	}
	if unknown := (cluster.VMID{VJob: 2}); vs.Demand(unknown) != 0 || vs.Use(unknown) != 0 {
		t.Error("an unknown VM demands something")
	}
}

// A look at a node costs no more the more vjobs have ended there.
func TestLooksForgetEndedVJobs(t *testing.T) {
	_, gs, ns, _ := parts()
	ns.updateJobsOnAll(gs.live[1])
	ns.updateSilent(ns.byID["a"])
	if !ns.jobsOn["a"][1] {
		t.Error("node a does not concern vjob 1, which runs there")
	}
	gs.remove(gs.live[1])
	ns.updateSilent(ns.byID["a"])
	if len(ns.jobsOn["a"]) > 0 {
		t.Errorf("node a still concerns %v", ns.jobsOn["a"])
	}
}

// A node is in use while a call is under way there, or a member is or goes there.
func TestPowerStates(t *testing.T) {
	b, gs, ns, cs := parts()
	ps := &PowerStates{batch: b, gangs: gs, nodes: ns, store: cs.store, calls: cs, energy: newEnergyMeter(b, &Hooks{}, gs, ns)}
	cs.open(&op{call: hypervisor.Call{Op: 7, Verb: hypervisor.Migrate, VM: cluster.VMID{VJob: 1}, Node: "a", To: "b"}})
	if why := ps.InUse("b"); !strings.Contains(why, "migrate") {
		t.Errorf("%q with a call under way", why)
	}
	delete(cs.ops, 7)
	if why := ps.InUse("b"); !strings.Contains(why, "vjob 1") {
		t.Errorf("%q with a member on its way", why)
	}
	empty := ns.set(cluster.Node{ID: "c"})
	empty.seen, empty.asOf = true, 1 // a look has begun since the calls of the vjob
	if why := ps.InUse("c"); why != "" {
		t.Errorf("%q on an empty node", why)
	}
	ps.Set(instant, "c", time.Minute, 5)
	if empty.offLookEvery != time.Minute || empty.offWatts != 5 || b.changes != 1 {
		t.Errorf("%+v, %d changes", empty, b.changes)
	}
	if ps.Set(instant, "c", time.Minute, 5); b.changes != 1 {
		t.Error("the same state again is a change")
	}
}

// A reply ends a call; a call without a reply stays, unanswered.
func TestReplies(t *testing.T) {
	b, gs, ns, cs := parts()
	rs := &replies{batch: b, gangs: gs, nodes: ns, calls: cs, unknown: &unknownCopies{batch: b, gangs: gs, calls: cs, copies: map[place]*unknown{}}}
	for id := hypervisor.OpID(1); id <= 2; id++ {
		call := hypervisor.Call{Op: id, Verb: hypervisor.Pause, VM: cluster.VMID{VJob: 9}, Node: "a"}
		cs.open(&op{call: call, deadline: instant.Add(time.Minute)})
	}
	rs.take(Reply{Op: 1, Err: hypervisor.ErrTimeout})
	if o := cs.ops[1]; o == nil || !o.unanswered {
		t.Errorf("without a reply: %+v", o)
	}
	rs.take(Reply{Op: 2, Err: errors.New("refused")})
	rs.take(Reply{Op: 3})
	if _, open := cs.ops[2]; open || len(b.out.Step.Results) != 1 || b.out.Step.Results[0].Error != "refused" {
		t.Errorf("results %+v", b.out.Step.Results)
	}
}
