package simulated_test

import (
	"errors"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

func call(v hypervisor.Verb, id cluster.VMID, node cluster.NodeID) hypervisor.Call {
	return hypervisor.Call{Verb: v, VM: id, Node: node}
}

// migration is a call that moves a VM away from n1.
func migration(id cluster.VMID, to cluster.NodeID) hypervisor.Call {
	return hypervisor.Call{Verb: hypervisor.Migrate, VM: id, Node: "n1", To: to}
}

// inject injects a fault that must have an effect.
func (b *manualCluster) inject(f simulated.Fault) {
	b.t.Helper()
	if err := b.Inject(b.now, f); err != nil {
		b.t.Fatal(err)
	}
}

// paused boots a VM of 1 GiB on n1 and pauses it.
func (b *manualCluster) paused(id cluster.VMID) {
	b.t.Helper()
	b.boot(id, "n1", machine(cluster.GiB, 1))
	b.do(call(hypervisor.Pause, id, "n1"), nil)
}

// saved boots a VM on n1, pauses, saves and seals it and returns the checksum.
func (b *manualCluster) saved(id cluster.VMID) string {
	b.t.Helper()
	b.paused(id)
	b.do(call(hypervisor.Save, id, "n1"), nil)
	return b.do(call(hypervisor.Seal, id, "n1"), nil).Receipt.Checksum
}

func restore(id cluster.VMID, node cluster.NodeID, sum string, attempt int) hypervisor.Call {
	return hypervisor.Call{Verb: hypervisor.Restore, VM: id, Node: node, Checksum: sum, Attempt: attempt}
}

// image returns the only image of a VM, from the ground truth.
func (b *manualCluster) image(id cluster.VMID) (simulated.TrueImage, bool) {
	for _, i := range b.Truth().Images {
		if i.ID.VM == id {
			return i, true
		}
	}
	return simulated.TrueImage{}, false
}

func TestInterruptedMigrations(t *testing.T) {
	id := vm(1, 0)
	for _, tt := range []struct {
		name   string
		live   bool
		locks  bool
		fault  simulated.Fault
		during bool // inject in the middle, not before
		want   map[cluster.NodeID]string
		err    error
	}{
		{name: "M0 none, paused", want: on("n2", "paused")},
		{name: "M0 none, running", live: true, want: on("n2", "running")},
		{
			name: "M3 source daemon killed, paused", during: true, err: hypervisor.ErrUnreachable,
			fault: simulated.Fault{Kind: simulated.DaemonKilled, Node: "n1", For: time.Second}, want: on("n1", "paused"),
		},
		{
			name: "M7 source daemon killed, running", live: true, during: true, err: hypervisor.ErrUnreachable,
			fault: simulated.Fault{Kind: simulated.DaemonKilled, Node: "n1", For: time.Second}, want: on("n1", "running"),
		},
		{
			name: "M4 destination daemon killed", during: true, err: hypervisor.ErrUnreachable,
			fault: simulated.Fault{Kind: simulated.DaemonKilled, Node: "n2", For: time.Second}, want: on("n1", "paused"),
		},
		{
			name: "M6 destination frozen, running", live: true, during: true, err: hypervisor.ErrUnreachable,
			fault: simulated.Fault{Kind: simulated.Freeze, Node: "n2"}, want: on("n1", "running"),
		},
		{
			name: "destination frozen for a moment", live: true, during: true,
			fault: simulated.Fault{Kind: simulated.Freeze, Node: "n2", For: 20 * time.Second}, want: on("n2", "running"),
		},
		{
			name: "destination loses power", live: true, during: true, err: hypervisor.ErrUnreachable,
			fault: simulated.Fault{Kind: simulated.PowerLoss, Node: "n2"}, want: on("n1", "running"),
		},
		{
			name: "source loses power: gone on both", live: true, during: true, err: hypervisor.ErrUnreachable,
			fault: simulated.Fault{Kind: simulated.PowerLoss, Node: "n1"}, want: on(),
		},
		{
			name: "guest crashes: gone on both", live: true, during: true, err: hypervisor.ErrNoSuchVM,
			fault: simulated.Fault{Kind: simulated.GuestCrashed, VM: id}, want: on(),
		},
		{
			name: "link down in the memory phase", live: true, err: hypervisor.ErrUnreachable,
			fault: simulated.Fault{Kind: simulated.MigrateCut}, want: on("n1", "running"),
		},
		{
			name: "M11 finish lost, running: runs on both", live: true, err: hypervisor.ErrUnreachable,
			fault: simulated.Fault{Kind: simulated.MigrateSplit}, want: on("n1", "running", "n2", "running"),
		},
		{
			name: "M12 finish lost, paused", during: true, err: hypervisor.ErrUnreachable,
			fault: simulated.Fault{Kind: simulated.MigrateSplit}, want: on("n1", "paused", "n2", "paused"),
		},
		{
			name: "M14 finish lost, running, locks", live: true, locks: true, err: hypervisor.ErrUnreachable,
			fault: simulated.Fault{Kind: simulated.MigrateSplit}, want: on("n1", "paused", "n2", "running"),
		},
		{
			name: "destination without power before", err: hypervisor.ErrUnreachable,
			fault: simulated.Fault{Kind: simulated.PowerLoss, Node: "n2"}, want: on("n1", "paused"),
		},
		{
			name: "M1 controller cut off: continues", during: true, err: hypervisor.ErrUnreachable,
			fault: simulated.Fault{Kind: simulated.Partition, Node: "n1"}, want: on("n2", "paused"),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newManualCluster(t, func(c *simulated.Config) { c.Locks = tt.locks })
			b.boot(id, "n1", machine(cluster.GiB, 1))
			if !tt.live {
				b.do(call(hypervisor.Pause, id, "n1"), nil)
			}
			if !tt.during && tt.err != nil {
				b.inject(tt.fault)
			}
			op := b.start(migration(id, "n2"))
			b.wait(5 * time.Second)
			if tt.during {
				b.want(id, both(tt.live))
				b.inject(tt.fault)
			}
			r := b.reply(op, time.Minute)
			if r == nil || !errors.Is(r.Err, tt.err) {
				t.Fatalf("answer %+v, want error %v", r, tt.err)
			}
			b.wait(2 * time.Minute)
			b.want(id, tt.want)
		})
	}
}

// both is a VM in the middle of a migration from n1 to n2.
func both(live bool) map[cluster.NodeID]string {
	if live {
		return on("n1", "running/outgoing", "n2", "paused/incoming")
	}
	return on("n1", "paused/outgoing", "n2", "paused/incoming")
}
