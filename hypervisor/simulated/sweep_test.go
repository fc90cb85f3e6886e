package simulated_test

import (
	"errors"
	"strings"
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

// However young they are, the consoles of vjobs that are gone have a bound together: the oldest leave first, and none of a live one.
func TestSweepBoundsConsoles(t *testing.T) {
	b := newManualCluster(t, nil)
	const count = 1200
	command := "for i in $(seq 1000); do echo " + strings.Repeat("x", 100) + "; done"
	for rank := range count {
		noisy := booting(vm(1+rank, 0), "n1")
		noisy.Machine = script(command, 1)
		b.do(noisy, nil)
		b.wait(time.Minute) // its work ends
	}
	text, err := b.Console(b.now, vm(count, 0))
	if err != nil || count*len(text) < 18<<20 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	b.wait(hypervisor.SweepAge + time.Second)
	b.Sweep(b.now, func(id cluster.VJobID) bool { return id == 1 }, 1000*time.Hour)
	kept, first := 0, 0
	for rank := range count {
		if _, err := b.Console(b.now, vm(1+rank, 0)); err == nil {
			if kept++; rank > 0 && first == 0 {
				first = rank
			}
		}
	}
	if kept != 1+(16<<20)/(256+len(text)) || first != count-kept+1 {
		t.Errorf("%d of %d consoles are kept, from the one of vjob %d on beside that of vjob 1", kept, count, first+1)
	}
}
