package libvirt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// sweep is one removal of the files of VMs that no longer exist. A file is removed if its name
// is one that the driver gives, its VM is not in use, and it is old enough.
type sweep struct {
	cfg   Config
	store *imageStore
	now   time.Time
	live  func(cluster.VJobID) bool
	// held are the VMs that some node holds or seems to hold, also under a foreign mark. Their
	// vjobs are not live after the database was restored from an older backup, and then their
	// files are all that is left.
	held map[cluster.VMID]bool
	// incomplete reports that some node did not answer: only consoles may be removed.
	incomplete   bool
	keepConsoles time.Duration
}

// run sweeps every directory. It continues after errors and returns them all.
func (s *sweep) run(ctx context.Context) error {
	saved, err := s.store.sweepNotes(ctx, s.now)
	if saved == nil { // which VMs have an image is unknown
		return err
	}
	spared := func(vm cluster.VMID) bool { return s.live(vm.VJob) || s.held[vm] || saved[vm] }
	errs := []error{err, s.clear(ctx, s.cfg.ConsoleDir, max(s.keepConsoles, hypervisor.SweepAge), spared, consoleOwner)}
	if s.incomplete {
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

// clear removes the files of a directory that are older than keep, unless their VM is in use.
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

// removeOld removes a regular file that was last changed before an instant.
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

// The functions below parse the VM from the name of a file, and compare the name with the one
// that the driver would give: this also rejects names that cannot be parsed.

// consoleOwner is the VM of "12.3.console", "12.3.errors" and "12.3.guest", also of the temporary file of the last.
func consoleOwner(name string) (cluster.VMID, bool) {
	if m := unfinished.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	vm, _ := cluster.ParseVMID(strings.TrimSuffix(name, filepath.Ext(name)))
	return vm, slices.ContainsFunc([]string{Config{}.consolePath(vm), Config{}.errorsPath(vm), Config{}.guestPath(vm)}, func(path string) bool {
		return name == filepath.Base(path)
	})
}

// unfinished matches the temporary file that durably leaves when it is killed.
var unfinished = regexp.MustCompile(`^\.(.+)-[0-9]+$`)

// seedOwner is the VM of "12.3.i1.seed.iso" and "12.3.i1.qcow2", also of their temporary files.
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
	return vm, cluster.GuestName(vm) == name
}

// sweepNotes removes the links and notes of images that no longer exist, which a crash during a
// discard leaves, and returns the VMs that have an image: nil if a directory could not be read.
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
			continue // the image was written after the listing, or is invisible now
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

// noteValues match the values of notes of each kind: an attempt, or a SHA-256.
var noteValues = map[byte]*regexp.Regexp{
	'r': regexp.MustCompile(`^[0-9]+$`),
	'x': regexp.MustCompile(`^[0-9]+$`),
	's': regexp.MustCompile(`^[0-9a-f]{64}$`),
}
