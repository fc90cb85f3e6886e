package simulated_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

func TestProfilesMatchTheirSources(t *testing.T) {
	for _, tt := range []struct {
		name                                  string
		boot, save, local, remote, moveOneGiB time.Duration
	}{
		{"thesis", 6 * time.Second, 50 * time.Second, 45 * time.Second, 135 * time.Second, 12 * time.Second},
		{"bin-repacking", time.Second, 4 * time.Second, 5 * time.Second, 6 * time.Second, time.Second},
	} {
		p, err := simulated.ProfileNamed(tt.name)
		if err != nil {
			t.Fatal(err)
		}
		suspend := p.Pause + p.Save.Of(cluster.GiB) + p.Seal.Of(cluster.GiB)
		if off := suspend - tt.save; off.Abs() > 10*time.Millisecond {
			t.Errorf("%s: suspend %s, want %s", tt.name, suspend, tt.save)
		}
		got := []time.Duration{p.Boot, p.Restore.Of(cluster.GiB), p.RestoreRemote.Of(cluster.GiB), p.Migrate.Of(cluster.GiB)}
		want := []time.Duration{tt.boot, tt.local, tt.remote, tt.moveOneGiB}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: %v, want %v", tt.name, got, want)
				break
			}
		}
	}
	if _, err := simulated.ProfileNamed("none"); !errors.Is(err, cluster.ErrInvalid) {
		t.Errorf("an unknown profile: %v", err)
	}
}

func TestInvalidConfigurations(t *testing.T) {
	capacity := cluster.Resources{CPU: 1000, Memory: 1024}
	for _, nodes := range [][]simulated.Node{
		nil,
		{{Capacity: capacity}},
		{{ID: "n1", Capacity: capacity}, {ID: "n1", Capacity: capacity}},
		{{ID: "n1", Capacity: cluster.Resources{Memory: 1024}}},
		{{ID: "n1", Capacity: cluster.Resources{CPU: 1000, Memory: -1}}},
	} {
		cfg := simulated.Config{Nodes: nodes}
		if err := cfg.Validate(); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("nodes %+v: %v", nodes, err)
		}
	}
}

func TestCallWaitsForTheJobOfACopyForAtMostHalfAMinute(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	b.paused(id)
	save := b.start(call(hypervisor.Save, id, "n1")) // 48 s
	from := b.now
	b.do(call(hypervisor.Unpause, id, "n1"), hypervisor.ErrRefused) // lab §6: after 30 s
	if waited := b.now.Sub(from); waited != 30*time.Second {
		t.Errorf("waited %s", waited)
	}
	second := b.start(call(hypervisor.Unpause, id, "n1"))
	if r := b.reply(save, time.Minute); r == nil || r.Err != nil {
		t.Fatalf("answer %+v", r)
	}
	if r := b.reply(second, time.Minute); r == nil || !errors.Is(r.Err, hypervisor.ErrNoSuchVM) {
		t.Fatalf("answer %+v", r)
	}
}

func TestCallsForMissingObjects(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	b.do(call(hypervisor.Pause, id, "n9"), hypervisor.ErrUnreachable)
	if _, err := b.Look(b.now, "n9"); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("a look at an unknown node: %v", err)
	}
	b.do(call(hypervisor.Boot, id, "n1"), hypervisor.ErrRefused) // no machine
	big := call(hypervisor.Boot, id, "n1")
	big.Machine = machine(4*cluster.GiB+1, 1)
	b.do(big, hypervisor.ErrNoMemory)
	b.boot(id, "n1", machine(512, 1))
	b.do(migration(id, "n1"), hypervisor.ErrRefused)
	b.do(migration(id, "n9"), hypervisor.ErrRefused)
	b.do(call(hypervisor.Abort, id, "n1"), hypervisor.ErrRefused)
	for _, f := range []simulated.Fault{
		{Kind: simulated.Freeze, Node: "n9"},
		{Kind: simulated.GuestCrashed, VM: vm(9, 0)},
		{Kind: simulated.ImageRot, Image: imageOf(id)},
	} {
		if err := b.Inject(b.now, f); !errors.Is(err, cluster.ErrNotFound) {
			t.Errorf("inject %s: %v", f.Kind, err)
		}
	}
	if nodes := b.Nodes(); len(nodes) != 3 || nodes[0].ID != "n1" || !nodes[0].Hosts() {
		t.Errorf("nodes %+v", nodes)
	}
}

func TestMemoryOfMigratingVMsCountsOnBothNodes(t *testing.T) {
	b := newManualCluster(t, nil) // 4 GiB each
	b.boot(vm(1, 0), "n1", machine(3*cluster.GiB, 1))
	op := b.start(migration(vm(1, 0), "n2"))
	full := call(hypervisor.Boot, vm(2, 0), "n2")
	full.Machine = machine(2*cluster.GiB, 1)
	b.do(full, hypervisor.ErrNoMemory)
	full.Node = "n1"
	b.do(full, hypervisor.ErrNoMemory)
	if r := b.reply(op, time.Minute); r == nil || r.Err != nil {
		t.Fatalf("answer %+v", r)
	}
	b.do(full, nil)
}

func TestGuestWorksDuringItsMigration(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	b.boot(id, "n1", machine(cluster.GiB, 1, cluster.Step{CPU: cluster.CPU, Duration: 100 * time.Second}))
	b.wait(10 * time.Second)
	b.do(migration(id, "n2"), nil) // 12 s
	b.want(id, on("n2", "running"))
	b.pass(begin.Add(131*time.Second - 1)) // boot, work, shutdown
	b.want(id, on("n2", "running"))
	b.wait(1)
	b.want(id, on())
}

func TestEpochsShowStaleMemory(t *testing.T) {
	var fresh []bool
	b := newManualCluster(t, nil)
	b.OnChange = func(ch simulated.Change) {
		if ch.Kind == simulated.Unpaused {
			fresh = append(fresh, ch.MemoryEpoch == ch.DiskEpoch)
		}
	}
	id := vm(1, 0)
	sum := b.saved(id)
	b.do(restore(id, "n1", sum, 1), nil)
	b.do(call(hypervisor.Unpause, id, "n1"), nil)
	b.do(call(hypervisor.Destroy, id, "n1"), nil)
	b.do(restore(id, "n1", sum, 2), nil) // the same image again: its memory is stale
	b.do(call(hypervisor.Unpause, id, "n1"), nil)
	if len(fresh) != 2 || !fresh[0] || fresh[1] {
		t.Fatalf("fresh: %v", fresh)
	}
}

func TestRestoreTakesNewSettings(t *testing.T) {
	b := newManualCluster(t, nil)
	for i := range 2 {
		b.boot(vm(i+1, 0), "n1", machine(512, 1, cluster.Step{CPU: cluster.CPU, Duration: 100 * time.Second}))
	}
	data, err := b.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	cfg := simulated.Config{Nodes: []simulated.Node{
		{ID: "n1", Capacity: cluster.Resources{CPU: cluster.CPU, Memory: 4 * cluster.GiB}}, // half as fast
		{ID: "n4", Capacity: cluster.Resources{CPU: cluster.CPU, Memory: 4 * cluster.GiB}},
	}}
	if b.Cluster, err = simulated.Restore(cfg, data); err != nil {
		t.Fatal(err)
	}
	b.wait(180 * time.Second)
	b.want(vm(1, 0), on("n1", "running"))
	b.wait(time.Minute)
	b.want(vm(1, 0), on())
	if len(b.Nodes()) != 2 {
		t.Errorf("nodes %+v", b.Nodes())
	}
	if _, err := simulated.Restore(cfg, []byte(`{"format":99}`)); !errors.Is(err, cluster.ErrInvalid) {
		t.Errorf("a snapshot of another format: %v", err)
	}
}

func BenchmarkBootAndShutdown(b *testing.B) {
	for _, nodes := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			cfg := simulated.Config{Seed: 1}
			for i := range nodes {
				cfg.Nodes = append(cfg.Nodes, simulated.Node{
					ID:       cluster.NodeID(fmt.Sprintf("n%d", i)),
					Capacity: cluster.Resources{CPU: 8 * cluster.CPU, Memory: 64 * cluster.GiB},
				})
			}
			c := simulated.New(cfg)
			now, vjob := c.Now(), 0
			for b.Loop() { // one VM: boot, work of a minute, shutdown
				vjob++
				c.Begin(now, hypervisor.Call{
					Verb: hypervisor.Boot, VM: vm(vjob, 0), Node: cfg.Nodes[vjob%nodes].ID,
					Machine: machine(512, 1, cluster.Step{CPU: cluster.CPU, Duration: time.Minute}),
				})
				now = now.Add(time.Second)
				c.Advance(now)
			}
		})
	}
}
