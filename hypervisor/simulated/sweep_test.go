package simulated_test

import (
	"errors"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Of a VM that is saved, one that runs and one that has ended, Sweep removes only what is stored for
// the last, and only after a time.
func TestSweepRemovesWhatHasEnded(t *testing.T) {
	b := newManualCluster(t, nil)
	saved, running, ended := vm(1, 0), vm(2, 0), vm(3, 0)
	b.saved(saved)
	for _, id := range []cluster.VMID{running, ended} {
		b.do(booting(id, "n1"), nil)
	}
	b.do(call(hypervisor.Destroy, ended, "n1"), nil)
	kept := func() map[cluster.VMID]bool {
		t.Helper()
		ids := map[cluster.VMID]bool{}
		for disk := range b.Truth().DiskEpochs {
			id := disk.VM
			ids[id] = true
			if _, err := b.Console(b.now, id); err != nil {
				t.Errorf("console of %s: %v", id, err)
			}
		}
		return ids
	}
	for _, tt := range []struct {
		name string
		pass time.Duration
		live bool
		keep time.Duration
		want bool // that the VM that ended is still known
	}{
		{"young", hypervisor.SweepAge / 2, false, 0, true},
		{"console is kept", hypervisor.SweepAge, false, time.Hour, true},
		{"live", time.Hour, true, 0, true},
		{"old", 0, false, time.Hour, false},
	} {
		b.wait(tt.pass)
		b.Sweep(b.now, func(cluster.VJobID) bool { return tt.live }, tt.keep)
		if ids := kept(); !ids[saved] || !ids[running] || ids[ended] != tt.want {
			t.Errorf("%s: kept %v", tt.name, ids)
		}
	}
	if _, err := b.Console(b.now, ended); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("console of the VM that has ended: %v", err)
	}
}
