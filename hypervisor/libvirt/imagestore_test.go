package libvirt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"vjob/cluster"
	"vjob/hypervisor"
)

var first = hypervisor.ImageID{VM: cluster.VMID{VJob: 12, Rank: 3}, Generation: 1, Attempt: 1}

// newStore is a store of two nodes in which h1 has saved one image.
func newStore(t *testing.T) (*imageStore, string) {
	t.Helper()
	s := markedStore(t, t.TempDir())
	path := s.path("h1", first)
	write(t, path, saveFile(magicComplete))
	return s, path
}

// markedStore is an empty store of two nodes.
func markedStore(t *testing.T, dir string) *imageStore {
	t.Helper()
	cfg := storeConfig(dir, "this")
	if _, err := InitStore(t.Context(), cfg, false); err != nil {
		t.Fatal(err)
	}
	return &imageStore{dir: dir, installation: "this", nodes: []cluster.NodeID{"h1", "h2"}, identify: cfg.withDefaults().identify}
}

func storeConfig(dir, installation string) Config {
	cfg := validConfig()
	cfg.ImageDir, cfg.Installation = dir, installation
	return cfg
}

// saveFile is what libvirt writes, as far as the store reads it.
func saveFile(magic string) []byte {
	b := make([]byte, headerBytes+100+4096)
	copy(b, magic)
	binary.LittleEndian.PutUint32(b[16:], 2)
	binary.LittleEndian.PutUint32(b[20:], 100)
	return b
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func seal(t *testing.T, s *imageStore) string {
	t.Helper()
	r, err := s.seal(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	return r.Checksum
}

// restore is what a restore does with the store.
func restore(ctx context.Context, s *imageStore, attempt int, sum string) error {
	path, err := s.verify(ctx, first, sum)
	if err != nil {
		return err
	}
	link, err := s.linkForAttempt(path, attempt)
	if err != nil {
		return err
	}
	return os.Remove(link)
}

func TestStoreLists(t *testing.T) {
	s, _ := newStore(t)
	second := first
	second.Attempt = 2
	write(t, s.path("h2", second), saveFile(magicPartial))
	short := first
	short.Generation = 2
	write(t, s.path("h2", short), []byte("Libvirt"))
	for _, name := range []string{"12.3.g01.a1", "12.3.g1", "notes.txt", "notes.of.a.user", "12.3.g1.a1.old"} {
		write(t, filepath.Join(s.nodeDir("h1"), name), nil)
	}
	write(t, filepath.Join(s.nodeDir("h1"), first.String()+".r1"), nil)

	store, err := s.list()
	if err != nil {
		t.Fatal(err)
	}
	want := []hypervisor.Image{
		{ID: first, Node: "h1", Bytes: 4096 + 192, Complete: true},
		{ID: second, Node: "h2", Bytes: 4096 + 192},
		{ID: short, Node: "h2", Bytes: 7},
	}
	if len(store.Images) != len(want) {
		t.Fatalf("images: %+v", store.Images)
	}
	for i := range want {
		info, err := os.Stat(s.path(want[i].Node, want[i].ID))
		if err != nil {
			t.Fatal(err)
		}
		want[i].Written = info.ModTime()
		if store.Images[i] != want[i] {
			t.Errorf("image %+v, want %+v", store.Images[i], want[i])
		}
	}
	// How much is free may change between the two looks: others write to this disk too.
	if one, two := store.Free["h1"], store.Free["h2"]; one.Pool != two.Pool || one.Free <= 0 || two.Free <= 0 {
		t.Errorf("free: %+v", store.Free)
	}
}

// Images are listed by VM, generation and attempt, and not by name or node.
func TestStoreListsInOrder(t *testing.T) {
	s := markedStore(t, t.TempDir())
	want := []string{"2.0.g1.a1", "2.0.g2.a2", "2.0.g2.a10", "2.0.g10.a1", "2.10.g1.a1", "10.0.g1.a1"}
	for i, name := range want {
		write(t, filepath.Join(s.nodeDir(s.nodes[i%2]), name), nil)
	}
	both := filepath.Join(s.nodeDir("h2"), want[0])
	write(t, both, nil)
	s.nodes = []cluster.NodeID{"h2", "h1"}
	store, err := s.list()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, image := range store.Images {
		got = append(got, image.ID.String())
	}
	if want = append(want[:1:1], want...); !slices.Equal(got, want) || store.Images[0].Node != "h1" {
		t.Errorf("listed are %v, the first on %s; want %v", got, store.Images[0].Node, want)
	}
	var fsys syscall.Statfs_t
	if err := syscall.Statfs(s.dir, &fsys); err != nil {
		t.Fatal(err)
	}
	free := float64(fsys.Bavail) * float64(fsys.Bsize) / (1 << 20)
	if space := store.Free["h1"]; space.Pool == "" || float64(space.Free) < 0.9*free || float64(space.Free) > 1.1*free {
		t.Errorf("free are %+v, want about %.0f MiB", space, free)
	}
}

// An image is found in whichever folder it lies.
func TestImageOfAnotherNode(t *testing.T) {
	s := markedStore(t, t.TempDir())
	path := s.path("h2", first)
	write(t, path, saveFile(magicComplete))
	sum := seal(t, s)
	if err := restore(t.Context(), s, 1, sum); err != nil {
		t.Error(err)
	}
	if err := s.revoke(first, 1); err != nil {
		t.Error(err)
	}
	if err := restore(t.Context(), s, 1, sum); !errors.Is(err, errRevoked) {
		t.Errorf("a revoked attempt: %v", err)
	}
	if err := s.discard(first); err != nil {
		t.Error(err)
	}
	if left := names(t, s.nodeDir("h2")); left != " /"+markerName {
		t.Errorf("left after a discard: %s", left)
	}
}

// A file that only looks like a note revokes nothing, and stays.
func TestStrangeNotes(t *testing.T) {
	s, path := newStore(t)
	sum := seal(t, s)
	for _, name := range []string{".", ".x", ".r", ".xfoo", ".rfoo", ".y1"} {
		write(t, path+name, nil)
	}
	others := []string{filepath.Join(filepath.Dir(path), "r1"), filepath.Join(filepath.Dir(path), "x9")}
	for _, other := range others {
		write(t, other, nil)
	}
	for _, attempt := range []int{0, 9} {
		if err := restore(t.Context(), s, attempt, sum); err != nil {
			t.Error(err)
		}
	}
	if err := s.revoke(first, 2); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path + ".rfoo"); err != nil {
		t.Error(err)
	}
	if err := s.discard(first); err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(path + "*")
	if want := []string{path + ".", path + ".r", path + ".x", path + ".y1"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left are %v, %v; want %v", left, err, want)
	}
	for _, other := range others {
		if _, err := os.Stat(other); err != nil {
			t.Error(err)
		}
	}
}

// Every seal of an image has to be that of its content.
func TestTwoSeals(t *testing.T) {
	for _, other := range []string{strings.Repeat("0", 64), strings.Repeat("f", 64)} {
		s, path := newStore(t)
		seal(t, s)
		write(t, path+".s"+other, nil)
		if _, err := s.seal(t.Context(), first); !errors.Is(err, hypervisor.ErrBadImage) {
			t.Errorf("an image with the seal %.4s besides: %v", other, err)
		}
	}
}

// An image has a description and, behind it, at least something of its guest.
func TestCompleteImages(t *testing.T) {
	whole, partial := header{XMLBytes: 100}, header{XMLBytes: 100}
	copy(whole.Magic[:], magicComplete)
	copy(partial.Magic[:], magicPartial)
	for _, tt := range []struct {
		head header
		size int64
		want bool
	}{{whole, headerBytes + 101, true}, {whole, headerBytes + 100, false}, {whole, 0, false}, {partial, headerBytes + 101, false}, {header{}, 4096, false}} {
		if got := tt.head.complete(tt.size); got != tt.want {
			t.Errorf("%q with %d bytes: complete %t", tt.head.Magic, tt.size, got)
		}
	}
}

// A description ends with a zero byte; what follows is libvirt's.
func TestDescriptionOfAnImage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image")
	write(t, path, append(make([]byte, headerBytes), "ab\x01c\x00cookie"...))
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // read only
	if text, err := descriptionOf(f, header{XMLBytes: 11}); err != nil || text != "ab\x01c" {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := descriptionOf(f, header{XMLBytes: 12}); err == nil {
		t.Errorf("a description that is cut off: %q", text)
	}
}

func TestChecksumIsOfTheWholeFile(t *testing.T) {
	r := strings.NewReader("abc")
	if _, err := r.ReadByte(); err != nil {
		t.Fatal(err)
	}
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if sum, err := checksum(t.Context(), r); err != nil || sum != want {
		t.Errorf("%s, %v; want %s", sum, err, want)
	}
}

func TestStoreThatIsNotThereIsAnError(t *testing.T) {
	s, _ := newStore(t)
	if err := os.RemoveAll(s.nodeDir("h2")); err != nil {
		t.Fatal(err)
	}
	if store, err := s.list(); err == nil {
		t.Errorf("a store with a missing directory shows %+v", store)
	}
	missing := &imageStore{dir: filepath.Join(s.dir, "missing"), installation: "this", nodes: s.nodes}
	if err := missing.open(); err == nil {
		t.Error("the store made its own directory")
	}
}

func TestSealAndRestore(t *testing.T) {
	s, path := newStore(t)
	sum := seal(t, s)
	if again := seal(t, s); again != sum {
		t.Errorf("sealed %s and then %s", sum, again)
	}
	if err := restore(t.Context(), s, 1, sum); err != nil {
		t.Error(err)
	}
	if err := restore(t.Context(), s, 1, "sha256:0"); !errors.Is(err, hypervisor.ErrBadImage) {
		t.Errorf("another checksum: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := restore(ended, s, 1, sum); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context's end: %v", err)
	}

	content := saveFile(magicComplete)
	content[len(content)-1] ^= 1
	write(t, path, content)
	if err := restore(t.Context(), s, 2, sum); !errors.Is(err, hypervisor.ErrBadImage) {
		t.Errorf("one bit changed: %v", err)
	}
	if _, err := s.seal(t.Context(), first); !errors.Is(err, hypervisor.ErrBadImage) {
		t.Errorf("sealed again after one bit changed: %v", err)
	}
	for name, content := range map[string][]byte{
		"partial": saveFile(magicPartial), "empty": nil, "header only": saveFile(magicComplete)[:headerBytes],
		"another file": bytes.Repeat([]byte("x"), 4096),
	} {
		write(t, path, content)
		if _, err := s.seal(t.Context(), first); !errors.Is(err, hypervisor.ErrBadImage) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRevokeHoldsForEver(t *testing.T) {
	s, path := newStore(t)
	sum := seal(t, s)
	if _, err := s.linkForAttempt(path, 2); err != nil { // a call that is in progress
		t.Fatal(err)
	}
	for range 2 { // the second time it finds its work done
		if err := s.revoke(first, 3); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(linkPath(path, 2)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the link of a revoked attempt: %v", err)
	}
	again := &imageStore{dir: s.dir, installation: "this", nodes: s.nodes} // after a restart
	for attempt := 1; attempt <= 3; attempt++ {
		if err := restore(t.Context(), again, attempt, sum); !errors.Is(err, errRevoked) {
			t.Errorf("attempt %d: %v", attempt, err)
		}
	}
	if err := restore(t.Context(), again, 4, sum); err != nil {
		t.Errorf("a later attempt: %v", err)
	}
	for range 2 {
		if err := again.discard(first); err != nil {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(s.nodeDir("h1"))
	if err != nil || len(left) != 1 || left[0].Name() != markerName {
		t.Errorf("left after a discard: %v, %v", left, err)
	}
	if err := restore(t.Context(), again, 5, sum); !errors.Is(err, hypervisor.ErrNoImage) {
		t.Errorf("restore of nothing: %v", err)
	}
}

// Whatever way a revocation and a restore meet, no link of the attempt is left.
func TestRevokeRacesWithRestore(t *testing.T) {
	s, path := newStore(t)
	for attempt := 1; attempt <= 200; attempt++ {
		var both sync.WaitGroup
		both.Go(func() { _, _ = s.linkForAttempt(path, attempt) })
		both.Go(func() {
			if err := s.revoke(first, attempt); err != nil {
				t.Error(err)
			}
		})
		both.Wait()
		if _, err := os.Stat(linkPath(path, attempt)); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("attempt %d was revoked and has its link: %v", attempt, err)
		}
	}
}

func TestOverlay(t *testing.T) {
	dir := t.TempDir()
	raw, over, twice := filepath.Join(dir, "disk.raw"), filepath.Join(dir, "over"), filepath.Join(dir, "twice")
	write(t, raw, make([]byte, 3<<20+512))
	overlay := func(path, backing, format string) error { return createOverlay(t.Context(), path, backing, format) }
	if err := overlay(over, raw, "raw"); err != nil {
		t.Fatal(err)
	}
	if size, err := diskSize(over, "qcow2"); err != nil || size != 3<<20+512 {
		t.Errorf("size %d, %v", size, err)
	}
	if err := overlay(twice, over, "qcow2"); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(over)
	if err != nil {
		t.Fatal(err)
	}
	offset, length := binary.BigEndian.Uint64(text[8:]), binary.BigEndian.Uint32(text[16:])
	if got := string(text[offset : offset+uint64(length)]); got != raw {
		t.Errorf("backing file %q", got)
	}
	if err := overlay(over+"2", raw, "qcow2"); !errors.Is(err, errNotQcow) {
		t.Errorf("a raw disk as qcow2: %v", err)
	}
	if err := overlay(over, filepath.Join(dir, "missing"), "raw"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no disk: %v", err)
	}
}
