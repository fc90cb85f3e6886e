package libvirt

import (
	"os"
	"testing"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Only what the last guest has printed tells its exit status, and only if it is the one in question.
func TestTold(t *testing.T) {
	c := Config{ConsoleDir: t.TempDir()}
	vm := cluster.VMID{VJob: 7, Rank: 1}
	prints := func(text string) {
		t.Helper()
		f, err := os.OpenFile(c.consolePath(vm), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	starts := func(incarnation int) {
		t.Helper()
		printed, err := c.printed(vm)
		if err == nil {
			err = c.noteGuest(t.Context(), vm, lastGuest{Incarnation: incarnation, Printed: printed})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		when string
		do   func()
		want map[int]cluster.ExitStatus // by incarnation
	}{
		{"no note", func() { prints("vjob: exit code 9\n") }, map[int]cluster.ExitStatus{0: cluster.UnknownExit, 1: cluster.UnknownExit}},
		{"started", func() { starts(1) }, map[int]cluster.ExitStatus{1: cluster.UnknownExit}},
		{"ended", func() { prints("vjob: exit code 3\n[ 9.1] power down\n") }, map[int]cluster.ExitStatus{0: cluster.UnknownExit, 1: cluster.Exited(3), 2: cluster.UnknownExit}},
		{"started again", func() { starts(2) }, map[int]cluster.ExitStatus{1: cluster.UnknownExit, 2: cluster.UnknownExit}},
		{"ended again", func() { prints("vjob: exit code 0\n") }, map[int]cluster.ExitStatus{1: cluster.UnknownExit, 2: cluster.Exited(0)}},
	} {
		tt.do()
		for incarnation, want := range tt.want {
			if got, err := c.told(hypervisor.Guest{VM: vm, Incarnation: incarnation}); got != want || err != nil {
				t.Errorf("%s: incarnation %d told %q, %v, want %q", tt.when, incarnation, got, err, want)
			}
		}
	}
	if owner, ok := consoleOwner("7.1.guest"); !ok || owner != vm {
		t.Errorf("7.1.guest is swept as a file of %s, %t", owner, ok)
	}
	if err := os.WriteFile(c.guestPath(vm), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.told(hypervisor.Guest{VM: vm, Incarnation: 2}); err == nil {
		t.Error("a damaged note is no error")
	}
}
