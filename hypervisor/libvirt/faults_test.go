//go:build linux && (amd64 || arm64)

package libvirt

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// faultBench is the files that a driver shares with its nodes. VM 12.3 has an image on h1.
type faultBench struct {
	*testing.T
	dir   string
	store *imageStore
	path  string // of the image
	cfg   Config
}

func newFaultBench(t *testing.T) *faultBench {
	t.Helper()
	b := &faultBench{T: t, dir: quickDir(t)}
	for _, name := range []string{"images", "seeds", "consoles", "leases"} {
		if err := os.Mkdir(filepath.Join(b.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b.cfg = storeConfig(filepath.Join(b.dir, "images"), "this").withDefaults()
	b.cfg.SeedDir, b.cfg.ConsoleDir = filepath.Join(b.dir, "seeds"), filepath.Join(b.dir, "consoles")
	b.cfg.Lease = &Lease{Path: b.dir, Lockspace: "leases"}
	write(t, filepath.Join(b.dir, "base.raw"), make([]byte, 512))
	write(t, filepath.Join(b.dir, "base.qcow2"), []byte("QFI\xfb\x00\x00\x00\x03"+strings.Repeat("\x00", 22)+"\x10\x00"))
	b.cfg.Images = []CatalogueImage{
		{ID: "disk", Kind: KindDisk, Disk: filepath.Join(b.dir, "base.raw"), Format: "raw"},
		{ID: "qcow2", Kind: KindDisk, Disk: filepath.Join(b.dir, "base.qcow2"), Format: "qcow2"},
	}
	b.store = markedStore(t, b.cfg.ImageDir)
	b.path = b.store.path("h1", first)
	write(t, b.path, savedImage())
	return b
}

// quickDir is a folder in memory if possible: others take long to sync.
func quickDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "vjob") //nolint:usetesting // TempDir may be on a disk
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	deep := filepath.Join(dir, strings.Repeat("x", 32-len(dir))) // of one length: overlays hold paths
	if err := os.Mkdir(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	return deep
}

// savedImage is an image of incarnation 4 of VM 12.3.
var savedImage = sync.OnceValue(func() []byte {
	d, err := validConfig().withDefaults().domain(first.VM, hypervisor.Stamp{Incarnation: 4, Epoch: 7}, 0,
		hypervisor.Machine{Reserved: cluster.Resources{Memory: 8}, Payload: cluster.Payload{Image: "counter"}})
	if err != nil {
		panic(err)
	}
	text, err := d.Marshal()
	if err != nil {
		panic(err)
	}
	image := saveFile(magicComplete)
	binary.LittleEndian.PutUint32(image[20:], uint32(len(text)))
	return append(append(image[:headerBytes], text...), make([]byte, 4096)...)
})

// must makes a step of a preparation.
func (b *faultBench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// state is what each file holds.
func (b *faultBench) state() map[string]string {
	b.Helper()
	files := map[string]string{}
	b.must(filepath.WalkDir(b.dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		sum := sha256.Sum256(bytes.ReplaceAll(text, []byte(b.dir), nil))
		if strings.HasSuffix(path, ".iso") { // it tells the time
			sum = [sha256.Size]byte{}
		}
		files[strings.TrimPrefix(path, b.dir+"/")] = fmt.Sprintf("%d bytes %.4x", len(text), sum)
		return err
	}))
	return files
}

// names are the image, its links and its notes, in all folders.
func (b *faultBench) names() string {
	b.Helper()
	paths, err := filepath.Glob(filepath.Join(b.cfg.ImageDir, "*", first.String()+"*"))
	b.must(err)
	for i, path := range paths {
		dir, name := filepath.Split(path)
		name = strings.TrimPrefix(name, first.String()+".")
		if len(name) > 64 {
			name = "seal"
		}
		paths[i] = filepath.Base(dir) + ":" + name
	}
	return strings.Join(paths, " ")
}

// faultCase is an operation each call of which fails in turn.
type faultCase struct {
	name    string
	prepare func(b *faultBench)
	do      func(b *faultBench) (string, error) // the answer
	class   error                               // of the error that a failed call becomes; nil: as the call says
	is      error                               // what the operation says when no call fails
	may     []string                            // answers besides that count as right
	left    string                              // the image's files when it has ended
	never   string                              // a call that it must not make
	skips   bool                                // it may pass over an image that it cannot see now
}

var faultCases = []faultCase{
	{
		name: "folder", class: hypervisor.ErrNoImage,
		do: func(b *faultBench) (string, error) {
			root, err := b.store.folder("h1")
			if err != nil {
				return "", err
			}
			return "", root.Close()
		},
	},
	{
		name: "list", class: hypervisor.ErrNoImage,
		prepare: func(b *faultBench) { b.must(b.store.revoke(first, 1)) },
		do: func(b *faultBench) (string, error) {
			s, err := b.store.list()
			for i := range s.Images {
				s.Images[i].Written, s.Images[i].Hardware = time.Time{}, nil
			}
			return fmt.Sprint(s.Images, len(s.Free)), err
		},
	},
	{
		name: "unused", class: hypervisor.ErrNoImage,
		do: func(b *faultBench) (string, error) {
			return "", b.store.checkUnused(hypervisor.ImageID{VM: first.VM, Generation: 2, Attempt: 1})
		},
	},
	{
		name: "used", class: hypervisor.ErrNoImage, is: hypervisor.ErrExists,
		do: func(b *faultBench) (string, error) { return "", b.store.checkUnused(first) },
	},
	{
		name: "seal", class: hypervisor.ErrNoImage,
		do:  sealed,
		may: []string{unknownIncarnation},
	},
	{
		name: "seal again", class: hypervisor.ErrNoImage,
		prepare: func(b *faultBench) { seal(b.T, b.store) },
		may:     []string{unknownIncarnation},
		do:      sealed,
	},
	{
		name: "seal what has changed", class: hypervisor.ErrNoImage, is: hypervisor.ErrBadImage,
		prepare: func(b *faultBench) {
			seal(b.T, b.store)
			write(b.T, b.path, saveFile(magicComplete))
		},
		do: sealed,
	},
	{
		name: "verify", class: hypervisor.ErrNoImage,
		do: func(b *faultBench) (string, error) { return verified(b, savedImage()) },
	},
	{
		name: "verify what has changed", class: hypervisor.ErrNoImage, is: hypervisor.ErrBadImage,
		do: func(b *faultBench) (string, error) { return verified(b, saveFile(magicComplete)) },
	},
	{
		name: "license", class: hypervisor.ErrNoImage,
		prepare: func(b *faultBench) { b.must(b.store.revoke(first, 1)) }, left: "h1:12.3.g1.a1 h1:r2 h1:x1",
		do: licensed,
	},
	{
		name: "license once more", class: hypervisor.ErrNoImage,
		prepare: func(b *faultBench) { _, err := licensed(b); b.must(err) },
		do:      licensed,
	},
	{
		name: "license what is revoked", class: hypervisor.ErrNoImage, is: errRevoked,
		prepare: func(b *faultBench) { b.must(b.store.revoke(first, 2)) }, never: "link",
		do: licensed,
	},
	{
		name: "revoke", class: hypervisor.ErrNoImage,
		prepare: func(b *faultBench) {
			seal(b.T, b.store)
			for _, attempt := range []int{1, 2, 3} {
				_, err := b.store.linkForAttempt(b.path, attempt)
				b.must(err)
			}
			write(b.T, b.path+".rest", nil)
			write(b.T, b.store.path("h2", first)+".r1", nil)
		},
		left: "h1:12.3.g1.a1 h1:r3 h1:rest h1:seal h1:x2",
		do:   func(b *faultBench) (string, error) { return "", b.store.revoke(first, 2) },
	},
	{
		name: "discard", class: hypervisor.ErrNoImage,
		prepare: func(b *faultBench) {
			seal(b.T, b.store)
			b.must(b.store.revoke(first, 1))
			_, err := b.store.linkForAttempt(b.path, 2)
			b.must(err)
			write(b.T, b.store.path("h2", first)+".x1", nil) // of a save to there that left nothing
			write(b.T, b.path+".r", nil)
			write(b.T, b.path+".old", nil)
		},
		left: "h1:old h1:r",
		do:   func(b *faultBench) (string, error) { return "", b.store.discard(first) },
	},
	{
		name: "init", prepare: func(b *faultBench) {
			b.must(os.RemoveAll(b.store.nodeDir("h2")))
			write(b.T, filepath.Join(b.store.nodeDir("h1"), markerName), []byte("other\n"))
		},
		do: func(b *faultBench) (string, error) {
			_, err := InitStore(b.Context(), b.cfg, true)
			return "", err
		},
	},
	{
		name: "prepare", do: func(b *faultBench) (string, error) {
			return "", b.cfg.prepare(b.Context(), first.VM, hypervisor.Stamp{Incarnation: 1}, cluster.Payload{Image: "disk"})
		},
	},
	{
		name: "prepare over qcow2", do: func(b *faultBench) (string, error) {
			return "", b.cfg.prepare(b.Context(), first.VM, hypervisor.Stamp{Incarnation: 1}, cluster.Payload{Image: "qcow2"})
		},
	},
	{
		name: "sweep", skips: true,
		prepare: func(b *faultBench) {
			for _, name := range []string{
				"images/h1/2.0.g1.a1.x3", "images/h2/2.0.g1.a1.r4", "consoles/2.0.console", "seeds/2.0.i1.qcow2", "leases/vjob-2-0",
				"images/h1/12.3.g1.a1.x3", "seeds/12.3.i1.qcow2", "leases/vjob-12-3",
			} {
				write(b.T, filepath.Join(b.dir, name), []byte("x"))
			}
		},
		do: func(b *faultBench) (string, error) {
			s := sweep{
				cfg: b.cfg, store: b.store, now: time.Now().Add(2 * week), live: func(cluster.VJobID) bool { return false }, keepConsoles: week,
			}
			return "", s.run(b.Context())
		},
	},
}

// unknownIncarnation is the answer of a seal that cannot read the description in the image.
const unknownIncarnation = "5402 bytes sha256:5691, incarnation 0"

func sealed(b *faultBench) (string, error) {
	r, err := b.store.seal(b.Context(), first)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d bytes %.11s, incarnation %d", r.Bytes, r.Checksum, r.Incarnation), nil
}

func verified(b *faultBench, content []byte) (string, error) {
	path, err := b.store.verify(b.Context(), first, fmt.Sprintf("%s%x", checksumPrefix, sha256.Sum256(content)))
	return strings.TrimPrefix(path, b.dir), err
}

func licensed(b *faultBench) (string, error) {
	link, err := b.store.linkForAttempt(b.path, 2)
	return strings.TrimPrefix(link, b.dir), err
}

// Whatever call of the file system fails, an operation says so or does without that call;
// it tears nothing, and does its work when it is repeated. Only what was lost for good is
// called bad.
func TestFaults(t *testing.T) {
	for _, c := range faultCases {
		t.Run(c.name, func(t *testing.T) {
			clean := c.fresh(t)
			var calls []string
			var want string
			var err error
			watch(t, clean.dir, func(call string) fault {
				calls = append(calls, call)
				return fault{}
			}, func() { want, err = c.do(clean) })
			if !errors.Is(err, c.is) {
				t.Fatalf("without a fault: %q, %v", want, err)
			}
			if left := clean.names(); c.left != "" && left != c.left {
				t.Errorf("left is %s, want %s", left, c.left)
			}
			if i := slices.IndexFunc(calls, func(call string) bool { return c.never != "" && strings.HasPrefix(call, c.never) }); i >= 0 {
				t.Errorf("it calls %s", calls[i])
			}
			c.may = append(slices.Clone(c.may), want)
			for i, call := range calls {
				for _, f := range faultsOf(call) {
					if t.Failed() {
						return // they all say the same
					}
					c.fail(t, i, call, f, clean.state())
				}
			}
			t.Logf("%d calls", len(calls))
		})
	}
}

// faultsOf are the ways in which a call can fail. A server of files that is lost may have
// done what was asked.
func faultsOf(call string) []fault {
	broken, lost, full := fault{errno: syscall.EIO}, fault{errno: syscall.EIO, late: true}, fault{errno: syscall.ENOSPC}
	quota := fault{errno: syscall.EDQUOT}
	switch name, _, _ := strings.Cut(call, " "); name {
	case "link", "rename", "mkdir":
		return []fault{broken, lost, full}
	case "unlink":
		return []fault{broken, lost}
	case "create", "write", "sync":
		return []fault{broken, full, quota}
	default:
		return []fault{broken}
	}
}

func (c *faultCase) fresh(t *testing.T) *faultBench {
	t.Helper()
	b := newFaultBench(t)
	if c.prepare != nil {
		c.prepare(b)
	}
	return b
}

// fail makes the call of a number fail, and then repeats the operation without.
func (c *faultCase) fail(t *testing.T, number int, call string, f fault, after map[string]string) {
	t.Helper()
	b := c.fresh(t)
	before, n := b.state(), 0
	var got string
	var err error
	watch(t, b.dir, func(string) fault {
		if n++; n == number+1 {
			return f
		}
		return fault{}
	}, func() { got, err = c.do(b) })
	what := fmt.Sprintf("%s, call %d, fails with %v, late %t", call, number, f.errno, f.late)
	now := b.state()
	removes := strings.HasPrefix(call, "unlink") // what is not removed stays
	for name, content := range now {
		unfinished := unfinishedFile.MatchString(name)
		if unfinished && !removes || !unfinished && content != before[name] && content != after[name] {
			t.Errorf("%s: left is %s: %s", what, name, content)
		}
	}
	class := c.class
	if class == nil {
		class = f.errno
	} else if f.errno != syscall.EIO {
		class = hypervisor.ErrNoSpace
	}
	switch {
	case err == nil && c.skips && !removes && strings.Contains(call, " images/"):
	case err == nil && !removes && !ignored.MatchString(call):
		t.Errorf("%s: the answer is %q without an error", what, got)
	case err == nil && (!slices.Contains(c.may, got) || c.is != nil || !finished(now, after)):
		t.Errorf("%s: the answer is %q, and the files are %v; want %q and %v", what, got, now, c.may, after)
	case err == nil:
	case c.is != nil && errors.Is(err, c.is):
	case !errors.Is(err, class) || !errors.Is(err, f.errno) || errors.Is(err, hypervisor.ErrBadImage):
		t.Errorf("%s: error %v, want %v and why", what, err, class)
	case strings.Count(err.Error(), class.Error()) > 1:
		t.Errorf("%s: the error repeats itself: %v", what, err)
	}
	if open := openBelow(t, b.dir); open != nil {
		t.Errorf("%s: open is still %v", what, open)
	}
	got, err = c.do(b)
	if !errors.Is(err, c.is) || err == nil && !slices.Contains(c.may, got) || !finished(b.state(), after) {
		t.Errorf("%s, and then it is repeated: %q, %v, and the files are %v; want %q and %v", what, got, err, b.state(), c.may, after)
	}
}

// ignored are calls that may fail without an error, if the result is right all the same:
// Go looks at a folder that it opens and at what a rename replaces, and the description in
// an image may be unreadable.
var ignored = regexp.MustCompile(`^(fstat|pread|stat .*(\.iso|/\.vjob-store)$)`)

var unfinishedFile = regexp.MustCompile(`(^|/)\.[^/]+-[0-9]+$`)

// finished compares files, but for those that could not be removed.
func finished(got, want map[string]string) bool {
	got = maps.Clone(got)
	maps.DeleteFunc(got, func(name, _ string) bool { return unfinishedFile.MatchString(name) })
	return maps.Equal(got, want)
}
