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
	disks := func() map[cluster.VMID]bool {
		ids := map[cluster.VMID]bool{}
		for disk := range b.Truth().DiskEpochs {
			ids[disk.VM] = true
		}
		return ids
	}
	for _, tt := range []struct {
		name string
		pass time.Duration
		live bool
		keep time.Duration

		disk, console bool // of the VM that ended: is it still there?
	}{
		{"young", hypervisor.SweepAge / 2, false, 0, true, true},
		{"live", hypervisor.SweepAge, true, 0, true, true},
		{"console is kept", 0, false, time.Hour, false, true},
		{"live again", time.Hour, true, 0, false, true},
		{"old", 0, false, time.Hour, false, false},
	} {
		b.wait(tt.pass)
		b.Sweep(b.now, func(cluster.VJobID) bool { return tt.live }, tt.keep)
		if ids := disks(); !ids[saved] || !ids[running] || ids[ended] != tt.disk {
			t.Errorf("%s: disks of %v", tt.name, ids)
		}
		for id, want := range map[cluster.VMID]bool{saved: true, running: true, ended: tt.console} {
			if _, err := b.Console(b.now, id); (err == nil) != want || err != nil && !errors.Is(err, cluster.ErrNotFound) {
				t.Errorf("%s: console of %s: %v, want it: %t", tt.name, id, err, want)
			}
		}
	}
}
