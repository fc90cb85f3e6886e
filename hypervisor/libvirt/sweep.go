package libvirt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// sweep is one removal of the files of VMs that are no more. A file goes when its
// name is one that we give, its VM is nobody's and it is old enough.
type sweep struct {
	cfg   Config
	store *imageStore
	now   time.Time
	live  func(cluster.VJobID) bool
	// seen are VMs that some host holds, or seems to: also under a mark that is not
	// ours. Their vjobs are not live when the database was put back from an older
	// copy, and then their files are all that there is.
	seen map[cluster.VMID]bool
	// blind: some host did not say what it holds, so only consoles may go.
	blind        bool
	keepConsoles time.Duration
}

// run sweeps every directory. It goes on after errors and returns them all.
func (s *sweep) run(ctx context.Context) error {
	saved, err := s.store.sweepNotes(ctx, s.now)
	if saved == nil { // it is not known which VMs have an image
		return err
	}
	spared := func(vm cluster.VMID) bool { return s.live(vm.VJob) || s.seen[vm] || saved[vm] }
	errs := []error{err, s.clear(ctx, s.cfg.ConsoleDir, max(s.keepConsoles, hypervisor.SweepAge), spared, consoleOwner)}
	if s.blind {
		return errors.Join(errs...)
	}
	if s.cfg.SeedDir != "" {
		errs = append(errs, s.clear(ctx, s.cfg.SeedDir, hypervisor.SweepAge, spared, seedOwner))
	}
	if l := s.cfg.Lease; l != nil {
		dir := filepath.Join(l.Path, l.Lockspace)
		errs = append(errs, s.clear(ctx, dir, hypervisor.SweepAge, spared, machineOwner))
	}
	return errors.Join(errs...)
}

// clear removes the files of a directory whose owner is not spared and whose last
// change is longer ago than keep.
func (s *sweep) clear(ctx context.Context, dir string, keep time.Duration, spared func(cluster.VMID) bool,
	owner func(name string) (cluster.VMID, bool),
) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(errs, err)...)
		}
		if vm, ok := owner(e.Name()); ok && !spared(vm) {
			errs = append(errs, removeOld(filepath.Join(dir, e.Name()), e, s.now.Add(-keep)))
		}
	}
	return errors.Join(errs...)
}

// removeOld removes a regular file that has not changed since a time.
func removeOld(path string, e fs.DirEntry, since time.Time) error {
	info, err := e.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("sweep: %w", err)
	case !info.Mode().IsRegular() || !info.ModTime().Before(since):
		return nil
	}
	if err := remove(path); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}

// The owner of a file is read from its name, and counts if we would give that name to it:
// that refuses also what cannot be read.

// consoleOwner is the VM of "12.3.console".
func consoleOwner(name string) (cluster.VMID, bool) {
	vm, _ := cluster.ParseVMID(strings.TrimSuffix(name, ".console"))
	return vm, filepath.Base(Config{}.consolePath(vm)) == name
}

// unfinished is what durably leaves of a file when it is killed.
var unfinished = regexp.MustCompile(`^\.(.+)-[0-9]+$`)

// seedOwner is the VM of "12.3.i1.seed.iso" and "12.3.i1.qcow2", whole or not.
func seedOwner(name string) (cluster.VMID, bool) {
	if m := unfinished.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	text, rest, _ := strings.Cut(name, ".i")
	digits, _, _ := strings.Cut(rest, ".")
	vm, _ := cluster.ParseVMID(text)
	incarnation, _ := strconv.Atoi(digits)
	stamp := hypervisor.Stamp{Incarnation: incarnation}
	return vm, name == filepath.Base(Config{}.seedPath(vm, stamp)) || name == filepath.Base(Config{}.overlayPath(vm, stamp))
}

// machineOwner is the VM of "vjob-12-3", the name of a machine and of its lease.
func machineOwner(name string) (cluster.VMID, bool) {
	text := strings.TrimPrefix(name, "vjob-")
	vm, _ := cluster.ParseVMID(strings.ReplaceAll(text, "-", "."))
	return vm, machineName(vm) == name
}

// sweepNotes removes the links and notes of images that no longer exist, as a
// crash in the middle of a discard leaves them, and returns the VMs that have an
// image; nil when that is not known, since a directory could not be read.
func (s *imageStore) sweepNotes(ctx context.Context, now time.Time) (saved map[cluster.VMID]bool, err error) {
	type note struct {
		path  string
		image hypervisor.ImageID
		entry fs.DirEntry
	}
	var notes []note
	saved, images := map[cluster.VMID]bool{}, map[hypervisor.ImageID]bool{}
	for _, node := range s.nodes {
		entries, err := s.entries(node)
		if err != nil {
			return nil, fmt.Errorf("sweep: image folder of node %s: %w", node, err)
		}
		for _, e := range entries {
			id, isNote, ok := imageOwner(e.Name())
			switch {
			case ok && isNote:
				notes = append(notes, note{filepath.Join(s.nodeDir(node), e.Name()), id, e})
			case ok:
				saved[id.VM], images[id] = true, true
			}
		}
	}
	var errs []error
	for _, n := range notes {
		if ctx.Err() != nil {
			return saved, errors.Join(append(errs, ctx.Err())...)
		}
		if images[n.image] {
			continue
		}
		if _, err := s.find(n.image); !errors.Is(err, fs.ErrNotExist) {
			continue // it came after the listing, or cannot be seen now
		}
		errs = append(errs, removeOld(n.path, n.entry, now.Add(-hypervisor.SweepAge)))
	}
	return saved, errors.Join(errs...)
}

// imageOwner is the image of "12.3.g1.a1", or of a note or link beside it.
func imageOwner(name string) (id hypervisor.ImageID, isNote, ok bool) {
	parts := strings.SplitN(name, ".", 5)
	if len(parts) < 4 {
		return id, false, false
	}
	text := strings.Join(parts[:4], ".")
	id, _ = hypervisor.ParseImageID(text)
	if id.String() != text {
		return id, false, false
	}
	if text == name {
		return id, false, true
	}
	kind, value, ok := suffix(name, text)
	return id, true, ok && noteValues[kind].MatchString(value)
}

// noteValues are what notes of each kind hold: an attempt, or a SHA-256.
var noteValues = map[byte]*regexp.Regexp{
	'r': regexp.MustCompile(`^[0-9]+$`),
	'x': regexp.MustCompile(`^[0-9]+$`),
	's': regexp.MustCompile(`^[0-9a-f]{64}$`),
}
