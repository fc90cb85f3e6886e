package libvirt

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

const (
	seal64 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	week   = 7 * 24 * time.Hour
)

// sweptBench has the directories of a driver; vjob 1 is live.
type sweptBench struct {
	*testing.T
	sweep
	root string
}

func newSweep(t *testing.T) *sweptBench {
	t.Helper()
	b := &sweptBench{T: t, root: t.TempDir()}
	b.cfg = Config{
		ImageDir: filepath.Join(b.root, "images"), ConsoleDir: filepath.Join(b.root, "consoles"),
		SeedDir: filepath.Join(b.root, "seeds"), Lease: &Lease{Path: b.root, Lockspace: "leases"},
	}
	for _, dir := range []string{"images", "consoles", "seeds", "leases"} {
		if err := os.Mkdir(filepath.Join(b.root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b.store = markedStore(t, b.cfg.ImageDir)
	b.now, b.keepConsoles = time.Now(), week
	b.live = func(id cluster.VJobID) bool { return id == 1 }
	return b
}

// file creates a file that was last changed some time ago.
func (b *sweptBench) file(name string, age time.Duration) {
	b.Helper()
	path := filepath.Join(b.root, name)
	write(b.T, path, []byte("x"))
	if err := os.Chtimes(path, b.now, b.now.Add(-age)); err != nil {
		b.Fatal(err)
	}
}

func (b *sweptBench) expect(name string, want bool) {
	b.Helper()
	_, err := os.Lstat(filepath.Join(b.root, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		b.Fatal(err)
	}
	if got := err == nil; got != want {
		b.Errorf("%s: there %t, want %t", name, got, want)
	}
}

func TestSweep(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]bool // and whether they stay
		age   time.Duration
		keep  time.Duration // of consoles; 0: a week
		seen  []cluster.VMID
		blind bool
	}{
		{name: "ended", age: week + time.Hour, files: map[string]bool{
			"consoles/2.0.console": false, "seeds/2.0.i1.seed.iso": false, "seeds/2.0.i3.qcow2": false,
			"seeds/.2.0.i1.seed.iso-123": false, "leases/vjob-2-0": false,
		}},
		{name: "consoles are kept longer", age: time.Hour, files: map[string]bool{
			"consoles/2.0.console": true, "seeds/2.0.i1.seed.iso": false, "seeds/2.0.i1.qcow2": false, "leases/vjob-2-0": false,
		}},
		{name: "young", age: 9 * time.Minute, files: map[string]bool{
			"consoles/2.0.console": true, "seeds/2.0.i1.seed.iso": true, "seeds/2.0.i1.qcow2": true,
			"seeds/.2.0.i1.qcow2-123": true, "leases/vjob-2-0": true, "images/h1/2.0.g1.a1.x2": true,
		}},
		{name: "just old enough", age: 11 * time.Minute, keep: time.Second, files: map[string]bool{
			"consoles/2.0.console": false, "seeds/2.0.i1.qcow2": false, "leases/vjob-2-0": false, "images/h1/2.0.g1.a1.x2": false,
		}},
		{name: "young consoles that are not kept longer", age: 9 * time.Minute, keep: time.Second, files: map[string]bool{
			"consoles/2.0.console": true,
		}},
		{name: "live", age: 2 * week, files: map[string]bool{
			"consoles/1.7.console": true, "seeds/1.7.i1.seed.iso": true, "seeds/1.7.i1.qcow2": true, "leases/vjob-1-7": true,
		}},
		{name: "seen on a host", age: 2 * week, seen: []cluster.VMID{{VJob: 2}}, files: map[string]bool{
			"consoles/2.0.console": true, "seeds/2.0.i1.qcow2": true, "leases/vjob-2-0": true,
			"seeds/2.1.i1.qcow2": false,
		}},
		{name: "has an image", age: 2 * week, files: map[string]bool{
			"images/h2/2.0.g1.a1": true, "consoles/2.0.console": true, "seeds/2.0.i1.qcow2": true, "leases/vjob-2-0": true,
		}},
		{name: "a host is silent", age: 2 * week, blind: true, files: map[string]bool{
			"consoles/2.0.console": false, "seeds/2.0.i1.qcow2": true, "leases/vjob-2-0": true, "images/h1/2.0.g1.a1.r1": false,
		}},
		{name: "images and what is beside them", age: 2 * week, files: map[string]bool{
			"images/h1/2.0.g1.a1": true, "images/h1/2.0.g1.a1.r4": true, "images/h1/2.0.g1.a1.x3": true,
			"images/h1/2.0.g1.a1.s" + seal64: true, "images/h2/2.0.g1.a1.x3": true,
		}},
		{name: "beside images that are gone", age: 2 * week, files: map[string]bool{
			"images/h1/2.0.g1.a1.r4": false, "images/h2/2.0.g1.a1.x3": false, "images/h1/2.0.g1.a1.s" + seal64: false,
			"images/h1/1.0.g1.a1.r4": false, "images/h1/1.0.g1.a2": true,
		}},
		{name: "strange names", age: 2 * week, files: map[string]bool{
			"consoles/2.0.log": true, "consoles/02.0.console": true, "consoles/2.console": true, "consoles/2.0.console~": true,
			"consoles/+2.0.console": true, "consoles/2.0.i1.qcow2": true,
			"seeds/2.0.qcow2": true, "seeds/2.0.i01.qcow2": true, "seeds/2.0.i1.raw": true, "seeds/base.qcow2": true,
			"seeds/2.0.i1.qcow2-1": true, "seeds/.2.0.i1.qcow2-x": true, "seeds/2.0.i1.qcow2.bak": true, "seeds/-2.0.i1.qcow2": true,
			"leases/vjob-2": true, "leases/vjob-2-0-1": true, "leases/vjob-2.0": true, "leases/" + seal64: true, "leases/vm-2-0": true,
			"images/h1/2.0.g1.a1.rx": true, "images/h1/2.0.g1.a1.sff": true, "images/h1/2.0.g1.a1.bak": true,
			"consoles/0.0": true, "consoles/.console": true, "consoles/3-0.console": true,
			"seeds/2.0": true, "seeds/2.0.i1": true, "seeds/2.0.ix.qcow2": true, "seeds/.i1.qcow2": true,
			"leases/2-0": true, "leases/vjob-": true, "leases/vjob-x-0": true,
			"images/h1/2.0.g01.a1.r1": true, "images/h1/notes.txt": true, "images/h1/a": true, "images/2.0.g1.a1.r1": true,
		}},
		{name: "names that are almost an image's", age: 2 * week, files: map[string]bool{
			"images/h1/2.0.g1": true, "images/h1/2.0.g01.a1": true, "images/h1/2.0.gx.a1": true, "seeds/2.0.i1.qcow2": false,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newSweep(t)
			if tt.keep != 0 {
				b.keepConsoles = tt.keep
			}
			b.incomplete, b.held = tt.blind, map[cluster.VMID]bool{}
			for _, vm := range tt.seen {
				b.held[vm] = true
			}
			for name := range tt.files {
				b.file(name, tt.age)
			}
			for range 2 {
				if err := b.run(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for name, stays := range tt.files {
				b.expect(name, stays)
			}
		})
	}
}

func TestSweepTakesOnlyFiles(t *testing.T) {
	b := newSweep(t)
	b.now = b.now.Add(2 * week)
	if err := os.Mkdir(filepath.Join(b.root, "seeds/2.0.i1.qcow2"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(b.root, "seeds/2.1.i1.qcow2")); err != nil {
		t.Fatal(err)
	}
	if err := b.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.expect("seeds/2.0.i1.qcow2", true)
	b.expect("seeds/2.1.i1.qcow2", true)
}

// Images that cannot be seen are not images that are gone: nothing is removed, not even
// what their VMs have printed.
func TestSweepOfAStoreThatIsNotThere(t *testing.T) {
	b := newSweep(t)
	b.file("seeds/2.0.i1.qcow2", 2*week)
	b.file("leases/vjob-2-0", 2*week)
	b.file("images/h1/2.0.g1.a1.r1", 2*week)
	b.file("consoles/2.0.console", 2*week)
	if err := os.Rename(b.store.nodeDir("h2"), filepath.Join(b.root, "away")); err != nil {
		t.Fatal(err)
	}
	err := b.run(t.Context())
	if !errors.Is(err, hypervisor.ErrNoImage) || !strings.Contains(err.Error(), "h2") {
		t.Errorf("error %v", err)
	}
	b.expect("seeds/2.0.i1.qcow2", true)
	b.expect("leases/vjob-2-0", true)
	b.expect("images/h1/2.0.g1.a1.r1", true)
	b.expect("consoles/2.0.console", true)
}

// One directory that is missing does not keep the others from being swept.
func TestSweepGoesOnAfterAnError(t *testing.T) {
	b := newSweep(t)
	b.cfg.ConsoleDir = filepath.Join(b.root, "missing")
	b.file("seeds/2.0.i1.qcow2", time.Hour)
	if err := b.run(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	b.expect("seeds/2.0.i1.qcow2", false)
}

// Without seeds and leases there is nothing to sweep of them.
func TestSweepOfADriverWithoutDisks(t *testing.T) {
	b := newSweep(t)
	b.cfg.SeedDir, b.cfg.Lease = "", nil
	b.file("consoles/2.0.console", 2*week)
	if err := b.run(t.Context()); err != nil {
		t.Error(err)
	}
	b.expect("consoles/2.0.console", false)
}

func TestSweepEndsWithItsContext(t *testing.T) {
	b := newSweep(t)
	b.file("seeds/2.0.i1.qcow2", time.Hour)
	b.file("images/h1/2.0.g1.a1.x2", time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	b.expect("seeds/2.0.i1.qcow2", true)
	b.expect("images/h1/2.0.g1.a1.x2", true)
	notes := newSweep(t)
	notes.file("images/h1/2.0.g1.a1.x2", time.Hour)
	if err := notes.run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with a note alone: error %v", err)
	}
}

// Every name under which the driver writes has an owner that a sweep recognises.
func TestSweepKnowsTheNamesOfTheDriver(t *testing.T) {
	vm, stamp := cluster.VMID{VJob: 12, Rank: 3}, hypervisor.Stamp{Incarnation: 2}
	c := Config{Lease: &Lease{Path: "/shared", Lockspace: "l"}}
	for _, tt := range []struct {
		path  string
		owner func(string) (cluster.VMID, bool)
	}{
		{c.consolePath(vm), consoleOwner},
		{c.errorsPath(vm), consoleOwner},
		{c.seedPath(vm, stamp), seedOwner},
		{c.overlayPath(vm, stamp), seedOwner},
		{c.Lease.leasePath(vm), machineOwner},
	} {
		if got, ok := tt.owner(filepath.Base(tt.path)); !ok || got != vm {
			t.Errorf("%s: %v, %t", tt.path, got, ok)
		}
	}
	for _, name := range []string{first.String(), linkPath(first.String(), 4)} {
		if id, _, ok := imageOwner(name); !ok || id != first {
			t.Errorf("%s: %v, %t", name, id, ok)
		}
	}
}
