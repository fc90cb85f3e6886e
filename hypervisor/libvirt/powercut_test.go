//go:build linux && (amd64 || arm64)

package libvirt

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/internal/fileio"
	"vjob/tests/pace"
	"vjob/tests/powercut"
	"vjob/tests/powercut/disk"
)

var (
	cutCount = flag.Int("cuts", 2000/pace.Slower, "how many power cuts to make in TestPowerCuts")
	cutSeed  = flag.Uint64("seed", 1, "which cuts")
)

// powercutFolder makes the test the program that is recorded.
const powercutFolder = "VJOB_POWERCUT_FOLDER"

// progress is a message of the program about an image: something begins, or was acknowledged.
type progress struct {
	What    string
	Image   hypervisor.ImageID
	Sum     string `json:",omitempty"`
	Attempt int    `json:",omitempty"`
}

// TestPowerCuts cuts the power of an image store and looks for what was sealed, revoked
// and discarded. Then it leaves out each kind of sync in turn, which a cut must reveal.
func TestPowerCuts(t *testing.T) {
	if folder := os.Getenv(powercutFolder); folder != "" {
		if err := (&imageWriter{store: storeIn(folder), random: rand.New(rand.NewPCG(1, 1))}).run(t.Context(), folder); err != nil {
			t.Fatal(err)
		}
		return
	}
	folder, log := t.TempDir(), &disk.Log{}
	write(t, filepath.Join(folder, "base.raw"), make([]byte, 1<<20))
	err := powercut.Record(log, folder, os.Args[0], []string{"-test.run=^TestPowerCuts$"}, append(os.Environ(), powercutFolder+"="+folder))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d operations, %d of them marks", len(log.Ops)-log.Start, len(log.Marks(len(log.Ops))))
	violations := cutPower(t, log, *cutCount)
	for _, v := range violations[:min(len(violations), 10)] {
		t.Error(v)
	}
	t.Logf("seed %d: %d cuts, %d violations", *cutSeed, *cutCount, len(violations))

	for name, forgets := range map[string]func(name string, isFolder bool) bool{
		"of images":        func(name string, _ bool) bool { return strings.Contains(name, ".g") },
		"of overlays":      func(name string, _ bool) bool { return strings.Contains(name, "qcow2") },
		"of node folders":  func(name string, isFolder bool) bool { return isFolder && name != "" },
		"of the top level": func(name string, isFolder bool) bool { return isFolder && name == "" },
	} {
		t.Run("without syncs "+name, func(t *testing.T) {
			violations := cutPower(t, log.Without(forgets), 300)
			if len(violations) == 0 {
				t.Fatal("nothing was lost")
			}
			t.Logf("%d of 300 cuts lost something, as %v", len(violations), violations[0])
		})
	}
}

func cutPower(t *testing.T, log *disk.Log, cuts int) []*powercut.Violation {
	t.Helper()
	c := powercut.Campaign{
		Recordings: []powercut.Recording{{Name: "images", Log: log}}, Seed: *cutSeed, Cuts: cuts,
		Workers: runtime.GOMAXPROCS(0), Folder: t.TempDir(),
		Progress: func(done, violations int) {
			if done%6400 == 0 {
				t.Logf("%d of %d cuts, %d violations", done, cuts, violations)
			}
		},
		Check: func(folder string, _ powercut.Recording, marks []string) error {
			return checkCut(t.Context(), folder, marks)
		},
	}
	violations, err := c.Run()
	if err != nil {
		t.Fatal(err)
	}
	return violations
}

func storeIn(folder string) *imageStore {
	return &imageStore{
		dir: folder, installation: "this", nodes: []cluster.NodeID{"h1", "h2"},
		identify: func(string) (identity, error) { return identity{}, errUnmanaged },
	}
}

// imageWriter acts as a driver and as libvirt.
type imageWriter struct {
	store  *imageStore
	random *rand.Rand
}

// run suspends two VMs several times. Some saves end early, some restores are tried
// twice; what is used up is discarded.
func (s *imageWriter) run(ctx context.Context, folder string) error {
	seeds := filepath.Join(folder, "seeds")
	if err := errors.Join(fileio.MakeDir(seeds), s.initStore(ctx)); err != nil {
		return err
	}
	for rank := range 2 {
		id := hypervisor.ImageID{VM: cluster.VMID{VJob: 12, Rank: rank}}
		over := filepath.Join(seeds, fmt.Sprint(id.VM, ".qcow2"))
		if err := errors.Join(createOverlay(ctx, over, filepath.Join(folder, "base.raw"), "raw"), report("overlay", id, "", 0)); err != nil {
			return err
		}
	}
	for generation := 1; generation <= 5; generation++ {
		for rank := range 2 {
			id := hypervisor.ImageID{VM: cluster.VMID{VJob: 12, Rank: rank}, Generation: generation, Attempt: 1}
			if err := s.suspend(ctx, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// initStore makes and marks the folders, as InitStore does.
func (s *imageWriter) initStore(ctx context.Context) error {
	for _, node := range s.store.nodes {
		f, err := s.store.inspectFolder(node, false)
		if err := errors.Join(err, s.store.writeMarker(ctx, f)); err != nil {
			return err
		}
	}
	return errors.Join(fileio.SyncDir(s.store.dir), report("marked", hypervisor.ImageID{}, "", 0))
}

func (s *imageWriter) suspend(ctx context.Context, id hypervisor.ImageID) error {
	node := s.store.nodes[(id.Generation+id.VM.Rank)%2]
	if id.Generation%2 == 0 { // the first save is broken off
		if err := s.save(ctx, s.store.path(node, id), id, false); err != nil {
			return err
		}
		id.Attempt++
	}
	if err := s.save(ctx, s.store.path(node, id), id, true); err != nil {
		return err
	}
	receipt, err := s.store.seal(ctx, id)
	if err := errors.Join(err, report("sealed", id, receipt.Checksum, 0)); err != nil {
		return err
	}
	if id.Generation%3 == 0 { // an attempt to restore is given up
		_, err := s.store.linkForAttempt(s.store.path(node, id), 4)
		if err := errors.Join(err, s.store.revoke(id, 4), report("revoked", id, "", 4)); err != nil {
			return err
		}
	}
	old := id
	if old.Generation--; old.Generation == 0 {
		return nil
	}
	for old.Attempt = 1; old.Attempt <= 2; old.Attempt++ {
		if err := errors.Join(report("discarding", old, "", 0), s.store.discard(old), report("discarded", old, "", 0)); err != nil {
			return err
		}
	}
	return nil
}

// save is what libvirt does: it syncs the memory of the guest, and then marks the header.
func (s *imageWriter) save(ctx context.Context, path string, id hypervisor.ImageID, whole bool) error {
	content := saveFile(magicPartial)
	memory := make([]byte, 40000)
	for i := range memory {
		memory[i] = byte(s.random.Uint32())
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // as a save that is broken off
	if _, err := f.Write(content); err != nil || !whole {
		return err
	}
	for chunk := range 4 {
		if _, err := f.Write(memory[chunk*10000 : (chunk+1)*10000]); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	copy(content, magicComplete)
	sum, err := checksum(ctx, bytes.NewReader(append(bytes.Clone(content), memory...)))
	if err := errors.Join(err, report("saving", id, checksumPrefix+sum, 0)); err != nil {
		return err
	}
	_, err = f.WriteAt(content[:headerBytes], 0)
	return err
}

func report(what string, id hypervisor.ImageID, sum string, attempt int) error {
	text, err := json.Marshal(progress{what, id, sum, attempt})
	return errors.Join(err, powercut.Say(string(text)))
}

// checkCut opens the store that a cut has left and compares it with what was said.
func checkCut(ctx context.Context, folder string, marks []string) error {
	s := storeIn(folder)
	store, err := s.list()
	if err != nil && len(marks) > 0 { // before the first mark the store was incomplete
		return err
	}
	last, sums, revoked := map[hypervisor.ImageID]string{}, map[hypervisor.ImageID]string{}, map[hypervisor.ImageID]int{}
	for _, text := range marks {
		var w progress
		if err := json.Unmarshal([]byte(text), &w); err != nil {
			return err
		}
		switch w.What {
		case "marked":
		case "overlay":
			if _, err := os.Stat(filepath.Join(folder, "seeds", fmt.Sprint(w.Image.VM, ".qcow2"))); err != nil {
				return err
			}
		case "revoked":
			revoked[w.Image] = w.Attempt
		case "saving":
			sums[w.Image] = w.Sum
		default:
			last[w.Image] = w.What
		}
	}
	for _, image := range store.Images {
		if err := checkImage(ctx, s, image, sums[image.ID], last[image.ID]); err != nil {
			return fmt.Errorf("image %s: %w", image.ID, err)
		}
		delete(last, image.ID)
		if upTo := revoked[image.ID]; upTo > 0 {
			path := s.path(image.Node, image.ID)
			if link, err := s.linkForAttempt(path, upTo); !errors.Is(err, errRevoked) {
				return fmt.Errorf("attempt %d was revoked and has %q, %w", upTo, link, err)
			}
			if _, err := os.Stat(linkPath(path, upTo)); !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("attempt %d was revoked and has a link, %w", upTo, err)
			}
		}
	}
	for id, what := range last {
		if what == "sealed" {
			return fmt.Errorf("image %s was sealed and is gone", id)
		}
	}
	return checkOverlays(filepath.Join(folder, "seeds"))
}

// checkImage looks at an image that is there.
func checkImage(ctx context.Context, s *imageStore, image hypervisor.Image, sum, last string) error {
	path := s.path(image.Node, image.ID)
	seals, err := notes(path, 's')
	if err != nil {
		return err
	}
	switch {
	case last == "discarded":
		return errors.New("it was discarded and is there")
	case last == "sealed" && (!image.Complete || len(seals) != 1):
		return fmt.Errorf("it was sealed: complete %t, seals %v", image.Complete, seals)
	case image.Complete || len(seals) > 0: // also a save or a seal that was not acknowledged
		_, err := s.verify(ctx, image.ID, sum)
		return err
	}
	return nil
}

// checkOverlays checks that files of a final name are complete: a repeated boot uses them.
func checkOverlays(folder string) error {
	overlays, err := filepath.Glob(filepath.Join(folder, "[0-9]*.qcow2"))
	if err != nil {
		return err
	}
	for _, path := range overlays {
		if size, err := diskSize(path, "qcow2"); err != nil || size != 1<<20 {
			return fmt.Errorf("overlay %s of %d bytes, %w", path, size, err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != 4*qcowCluster {
			return fmt.Errorf("overlay %s is cut off, %w", path, err)
		}
	}
	return nil
}
