package simulated_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

// reopened returns the ground truth of a driver that continues from the content of a state file at
// the same instant.
func reopened(t *testing.T, s simulated.Settings, content []byte) simulated.Truth {
	t.Helper()
	s.StateFile = filepath.Join(t.TempDir(), "cluster.json")
	if err := os.WriteFile(s.StateFile, content, 0o600); err != nil {
		t.Fatal(err)
	}
	d := open(t, s)
	defer closing(t, d)
	return d.Truth()
}

// After a crash at any instant the state file has the effects of all calls that were answered, and
// of a save that was cut off nothing.
func TestStateFileAfterCrashes(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(seed, 0))
		s := settings()
		s.StateFile = filepath.Join(t.TempDir(), "cluster.json")
		d := open(t, s)
		defer closing(t, d)
		folded, size := 0, 0
		for vjob := 1; vjob <= 250; vjob++ {
			do(t, d, booting(vm(vjob, 0), "n1"))
			do(t, d, call([]hypervisor.Verb{hypervisor.Pause, hypervisor.Destroy}[vjob%2], vm(vjob, 0), "n1"))
			if vjob%2 == 0 {
				do(t, d, call(hypervisor.Destroy, vm(vjob, 0), "n1"))
			}
			content, err := os.ReadFile(s.StateFile)
			if err != nil {
				t.Fatal(err)
			}
			if len(content) < size {
				folded++
			}
			size = len(content)
			if random.IntN(10) > 0 {
				continue
			}
			want := d.Truth()
			if got := reopened(t, s, content); !reflect.DeepEqual(got, want) {
				t.Fatalf("vjob %d: after a crash\n%+v\nwant\n%+v", vjob, got, want)
			}
			first := bytes.IndexByte(content, '\n') + 1
			if first == len(content) {
				continue
			}
			cut := first + random.IntN(len(content)-first)
			whole := bytes.LastIndexByte(content[:cut], '\n') + 1
			want = reopened(t, s, content[:whole])
			if got := reopened(t, s, content[:cut]); !reflect.DeepEqual(got, want) {
				t.Fatalf("vjob %d: cut at %d\n%+v\nwant\n%+v", vjob, cut, got, want)
			}
			holed := bytes.Clone(content)
			clear(holed[cut : len(holed)-1]) // a page of the last write did not reach the disk
			if last := bytes.LastIndexByte(content[:len(content)-1], '\n') + 1; cut > last {
				want = reopened(t, s, content[:last])
				if got := reopened(t, s, holed); !reflect.DeepEqual(got, want) {
					t.Fatalf("vjob %d: hole at %d\n%+v\nwant\n%+v", vjob, cut, got, want)
				}
			}
		}
		if folded == 0 {
			t.Error("the changes were never folded")
		}
	})
}

// A state file that is damaged elsewhere than at its end is refused.
func TestDamagedStateFile(t *testing.T) {
	s := settings()
	s.StateFile = filepath.Join(t.TempDir(), "cluster.json")
	synctest.Test(t, func(t *testing.T) {
		d := open(t, s)
		do(t, d, booting(vm(1, 0), "n1"))
		closing(t, d)
	})
	content, err := os.ReadFile(s.StateFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(content, []byte("\n"))
	if len(lines) < 3 {
		t.Fatalf("%d lines", len(lines))
	}
	lines[1][1] = 0
	if err := os.WriteFile(s.StateFile, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := simulated.Open(s); err == nil {
		t.Error("a state file with a damaged line was accepted")
	}
}

// A state file of an earlier version is read, and continued in the new form.
func TestStateFileOfEarlierVersions(t *testing.T) {
	earlier, err := os.ReadFile("testdata/cluster-2026-11.json")
	if err != nil {
		t.Fatal(err)
	}
	s := settings()
	s.StateFile = filepath.Join(t.TempDir(), "cluster.json")
	if err := os.WriteFile(s.StateFile, earlier, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d := open(t, s)
		truth := d.Truth()
		if len(truth.Copies) != 1 || truth.Copies[0].VM != vm(1, 0) || truth.Copies[0].State != hypervisor.CopyPaused ||
			len(truth.Images) != 1 || truth.Images[0].ID != imageOf(vm(2, 0)) || !truth.Images[0].Durable || truth.DiskEpochs[simulated.Disk{VM: vm(3, 0), Incarnation: 1}] != 1 {
			t.Errorf("%+v", truth)
		}
		if view, err := d.Look(t.Context(), "n1"); err != nil || len(view.Endings) != 1 || view.Endings[0].VM != vm(3, 0) {
			t.Errorf("%+v, %v", view, err)
		}
		if text := consoleOf(t, d, vm(3, 0)); !bytes.Contains(text, []byte("booted")) {
			t.Errorf("console %q", text)
		}
		closing(t, d)
	}
}

func consoleOf(t *testing.T, d *simulated.Driver, id cluster.VMID) []byte {
	t.Helper()
	console, err := d.Console(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(console)
	if err := errors.Join(err, console.Close()); err != nil {
		t.Fatal(err)
	}
	return text
}

// What a boot and a stop write does not depend on what ran before; and once VMs have ended and were
// swept, the state file does not know them any more.
func TestStateFileCosts(t *testing.T) {
	appended := func(ended int) (sum int64) {
		s := veteran(t, ended)
		s.Speed = 1
		size := func() int64 {
			info, err := os.Stat(s.StateFile)
			if err != nil {
				t.Fatal(err)
			}
			return info.Size()
		}
		synctest.Test(t, func(t *testing.T) {
			d := open(t, s)
			defer closing(t, d)
			cycle := func(vjob int) {
				do(t, d, booting(vm(vjob, 0), "n1"))
				do(t, d, call(hypervisor.Destroy, vm(vjob, 0), "n1"))
			}
			cycle(1)
			before := size()
			for vjob := 10; vjob < 20; vjob++ {
				cycle(vjob)
			}
			sum = size() - before
			if err := d.Sweep(t.Context(), func(cluster.VJobID) bool { return false }, 0); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * hypervisor.SweepAge)
			if err := d.Sweep(t.Context(), func(cluster.VJobID) bool { return false }, 0); err != nil {
				t.Fatal(err)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			d := open(t, s)
			defer closing(t, d)
			do(t, d, booting(vm(1, 0), "n1"))
		})
		const ending = 150 // bytes: nodes remember the last endings, as many for any past
		if size := size(); size > 10_000+int64(ended*ending) {
			t.Errorf("after a sweep of %d VMs that have ended the state file has %d bytes", ended, size)
		}
		return sum
	}
	few, many := appended(10), appended(2000)
	t.Logf("%d and %d bytes", few, many)
	if many > few*11/10 {
		t.Errorf("ten boots and stops write %d bytes after 10 VMs, and %d after 2,000", few, many)
	}
}
