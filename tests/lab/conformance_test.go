//go:build libvirt_dlopen

package lab_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/libvirt"
	"vjob/tests/conformance"
	"vjob/tests/lab"
)

// The suite that every driver passes, on real hosts: without a lock manager, and
// with one.
func TestConformance(t *testing.T) {
	for _, locks := range []bool{false, true} {
		t.Run(map[bool]string{false: "without_locks", true: "with_locks"}[locks], func(t *testing.T) {
			t.Parallel()
			l := lab.Start(t, lab.Options{Locks: locks, SlowImages: true})
			conformance.Run(t, harness(l, locks))
		})
	}
}

// tick is how often a guest of the suite counts.
const tick = 100 * time.Millisecond

func harness(l *lab.Lab, locks bool) conformance.Harness {
	// Slow enough to be seen and broken on its way, two seconds or so.
	driver := l.Driver(func(c *libvirt.Config) { c.MigrationMiBps = 6 })
	nodes := l.Hosts()
	return conformance.Harness{
		Driver: driver, Nodes: nodes, Machine: machine, Memory: 32, Huge: cluster.TiB,
		Life: time.Second, Counter: newestCount, Locks: locks, Caps: lab.CanCap(), Busy: cluster.CPU, Uses: 12, Converse: echoes,
		Unmanaged:        map[cluster.NodeID][]string{nodes[0]: nil, nodes[1]: {l.Strange(nodes[1])}},
		SpuriousRefusals: 2, // libvirt 9.0: "An error occurred, but the cause is unknown"
		CallTimeout:      patience, Patience: patience, Poll: 20 * time.Millisecond, Moment: 500 * time.Millisecond,
		Hooks: hooks(l, driver),
	}
}

func machine(g conformance.Guest) *hypervisor.Machine {
	words, processors := []string{fmt.Sprintf("tick=%d", tick.Milliseconds()), "fill=12"}, cluster.MilliCPU(1)
	if g.Busy {
		words, processors = append(words, "spin=1"), 2 // it uses one
	}
	if g.Lives > 0 {
		words = append(words, fmt.Sprintf("run=%d", g.Lives/tick), fmt.Sprintf("exit=%d", g.Exit))
	}
	return &hypervisor.Machine{
		Name: "conformance", Members: g.Members,
		Reserved: cluster.Resources{CPU: processors * cluster.CPU, Memory: g.Memory},
		Payload:  cluster.Payload{Image: lab.GuestImage, Command: words},
	}
}

func newestCount(console []byte) (int64, bool) {
	counts := lab.ParseCounts(console)
	if len(counts) == 0 {
		return 0, false
	}
	return int64(counts[len(counts)-1].N), true
}

// echoes types a word and waits until the guest shows it again.
func echoes(line io.ReadWriter) error {
	const word = "hallo"
	if _, err := io.WriteString(line, word); err != nil {
		return err
	}
	seen := make([]byte, len(word))
	if _, err := io.ReadFull(line, seen); err != nil || string(seen) != word {
		return fmt.Errorf("typed %q, saw %q, %w", word, seen, err)
	}
	return nil
}

// on makes a hook of a fault of the lab, which fails the test by itself.
func on(fault func(cluster.NodeID)) func(cluster.NodeID) error {
	return func(node cluster.NodeID) error {
		fault(node)
		return nil
	}
}

// hooks are all faults of the suite.
func hooks(l *lab.Lab, d *libvirt.Driver) conformance.Hooks {
	return conformance.Hooks{
		KillNode: on(l.PowerOff), ReviveNode: on(l.PowerOn),
		FreezeNode: on(l.Freeze), ThawNode: on(l.Thaw),
		CutNode: on(l.CutScheduler), JoinNode: on(l.JoinScheduler),
		KillDaemon: on(func(node cluster.NodeID) {
			l.KillDaemon(node)
			l.RestartDaemon(node)
		}),
		FillDisk:  on(func(cluster.NodeID) { l.Images.Fill(2) }),
		EmptyDisk: on(func(cluster.NodeID) { l.Images.Empty() }),
		SlowStore: on(func(node cluster.NodeID) { l.Images.LimitReads(node, 2048, 0) }), // six seconds for a guest
		FastStore: on(func(node cluster.NodeID) { l.Images.LimitReads(node, 0, 0) }),
		LoseStore: on(func(cluster.NodeID) { l.Images.Unmount() }), RestoreStore: on(func(cluster.NodeID) { l.Images.Mount() }),
		RefuseLoads: on(func(node cluster.NodeID) { l.OtherRelease(node, "pc-i440fx-6.2") }),
		AcceptLoads: on(func(node cluster.NodeID) { l.OtherRelease(node, "") }),
		FlipImage:   func(id hypervisor.ImageID) error { return damage(l, id, flip) },
		TruncateImage: func(id hypervisor.ImageID) error {
			return damage(l, id, func(f *os.File, size int64) error { return f.Truncate(size / 2) })
		},
		Squeeze:   func(vm cluster.VMID, node cluster.NodeID) error { return l.Squeeze(node, vm) },
		KillGuest: func(vm cluster.VMID, node cluster.NodeID) error { return l.KillGuest(node, vm) },
		CutMigration: func(vm cluster.VMID, from, to cluster.NodeID) error {
			go cutWhenUnderWay(l, d, vm, from, to)
			return nil
		},
		LoseFinish: func(_ cluster.VMID, _, to cluster.NodeID) error {
			l.DropFinish(to)
			return nil
		},
	}
}

// damage changes the file of an image.
func damage(l *lab.Lab, id hypervisor.ImageID, change func(f *os.File, size int64) error) error {
	paths, err := filepath.Glob(filepath.Join(l.Config().ImageDir, "*", id.String()))
	if err != nil || len(paths) != 1 {
		return fmt.Errorf("image %s: %v, %w", id, paths, err)
	}
	f, err := os.OpenFile(paths[0], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing is buffered
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	return change(f, size)
}

// flip changes the middle of the file, and its magic word, so that a new seal of
// it is refused too.
func flip(f *os.File, size int64) error {
	for _, at := range []int64{0, size / 2} {
		if _, err := f.WriteAt([]byte{0xff}, at); err != nil {
			return err
		}
	}
	return nil
}

// cutWhenUnderWay cuts the destination off as soon as it has the incoming machine,
// for as long as the migration lasts.
func cutWhenUnderWay(l *lab.Lab, d *libvirt.Driver, vm cluster.VMID, from, to cluster.NodeID) {
	job := func(node cluster.NodeID) hypervisor.Job {
		view, err := d.Look(l.Context(), node)
		if err != nil {
			return hypervisor.JobNone
		}
		c, _ := view.Copy(vm)
		return c.Job
	}
	for deadline := time.Now().Add(patience); job(to) != hypervisor.JobIncoming; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return // the migration did not begin: the case fails
		}
	}
	l.CutLink(to)
	for deadline := time.Now().Add(patience); job(from) != hypervisor.JobNone && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	l.RestoreLink(to)
}
