package libvirt

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sparse makes a raw disk of a size that takes no room.
func sparse(t *testing.T, path string, size int64) {
	t.Helper()
	write(t, path, nil)
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// The numbers are those of QEMU's docs/interop/qcow2.txt.
func TestOverlayFormat(t *testing.T) {
	dir := t.TempDir()
	const chunk = 512 << 20 // what an entry of the level 1 table describes
	for _, tt := range []struct {
		size, guest int64
		entries     uint64
	}{
		{1, 512, 1},
		{512, 512, 1},
		{513, 1024, 1},
		{chunk, chunk, 1},
		{chunk + 1, chunk + 512, 2},
		{3*chunk - 1, 3 * chunk, 3},
		{4 << 40, 4 << 40, 8192},
	} {
		raw, over := filepath.Join(dir, "raw"), filepath.Join(dir, "over")
		sparse(t, raw, tt.size)
		if err := createOverlay(t.Context(), over, raw, "raw"); err != nil {
			t.Errorf("a disk of %d bytes: %v", tt.size, err)
			continue
		}
		text, err := os.ReadFile(over)
		if err != nil || len(text) != 4<<16 {
			t.Fatalf("%d bytes, %v", len(text), err)
		}
		number := func(at, bytes int) uint64 {
			return binary.BigEndian.Uint64(append(make([]byte, 8-bytes), text[at:at+bytes]...))
		}
		for _, f := range []struct {
			name      string
			at, bytes int
			want      uint64
		}{
			{"magic", 0, 4, 0x514649fb},
			{"version", 4, 4, 3},
			{"length of the backing file's name", 16, 4, uint64(len(raw))},
			{"bits of a cluster", 20, 4, 16},
			{"size of the disk", 24, 8, uint64(tt.guest)},
			{"encryption", 32, 4, 0},
			{"entries of the level 1 table", 36, 4, tt.entries},
			{"level 1 table", 40, 8, 3 << 16},
			{"refcount table", 48, 8, 1 << 16},
			{"clusters of the refcount table", 56, 4, 1},
			{"snapshots", 60, 4, 0},
			{"incompatible features", 72, 8, 0},
			{"bits of a refcount, as a power of 2", 96, 4, 4},
			{"length of the header", 100, 4, 104},
			{"extension: format of the backing file", 104, 4, 0xe2792aca},
			{"its length", 108, 4, 3},
			{"its text", 112, 8, 'r'<<56 | 'a'<<48 | 'w'<<40},
			{"end of extensions", 120, 4, 0},
			{"first refcount block", 1 << 16, 8, 2 << 16},
			{"second refcount block", 1<<16 + 8, 8, 0},
			{"refcounts of the clusters in use", 2 << 16, 8, 1<<48 | 1<<32 | 1<<16 | 1},
			{"refcounts of the next", 2<<16 + 8, 8, 0},
			{"first entry of the level 1 table", 3 << 16, 8, 0},
		} {
			if got := number(f.at, f.bytes); got != f.want {
				t.Errorf("a disk of %d bytes: %s is %#x, want %#x", tt.size, f.name, got, f.want)
			}
		}
		if err := os.Remove(over); err != nil {
			t.Fatal(err)
		}
	}
}

// A disk that an overlay cannot describe gets none.
func TestDisksWithoutOverlay(t *testing.T) {
	dir := t.TempDir()
	over, disk := filepath.Join(dir, "over"), filepath.Join(dir, "disk")
	deep := filepath.Join(dir, strings.Repeat("d", 200), strings.Repeat("d", 200), strings.Repeat("d", 200), strings.Repeat("d", 200))
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(deep, strings.Repeat("n", 1024-len(deep)-1))
	sparse(t, long, 512)
	sparse(t, long[:1023], 512)
	qcow := func(magic uint32, size int64, length int) func() {
		return func() {
			head := make([]byte, 32)
			binary.BigEndian.PutUint32(head, magic)
			binary.BigEndian.PutUint64(head[24:], uint64(size))
			write(t, disk, head[:length])
		}
	}
	for _, tt := range []struct {
		name, disk, format string
		make               func()
		fits, cut          bool // cut: no size can be read
	}{
		{"empty", disk, "raw", func() { sparse(t, disk, 0) }, false, false},
		{"one byte", disk, "raw", func() { sparse(t, disk, 1) }, true, false},
		{"too large", disk, "raw", func() { sparse(t, disk, 4<<40+1) }, false, false},
		{"a name of 1023 bytes", long[:1023], "raw", func() {}, true, false},
		{"a name of 1024 bytes", long, "raw", func() {}, false, false},
		{"qcow2", disk, "qcow2", qcow(0x514649fb, 512, 32), true, false},
		{"qcow2 of no size", disk, "qcow2", qcow(0x514649fb, 0, 32), false, false},
		{"qcow2 of a size below 0", disk, "qcow2", qcow(0x514649fb, -1, 32), false, false},
		{"another format", disk, "qcow2", qcow(0x514649fc, 512, 32), false, true},
		{"a header that is cut off", disk, "qcow2", qcow(0x514649fb, 512, 31), false, true},
		{"an empty file as qcow2", disk, "qcow2", qcow(0, 0, 0), false, true},
	} {
		tt.make()
		err := createOverlay(t.Context(), over, tt.disk, tt.format)
		if fits := err == nil; fits != tt.fits || !fits && !errors.Is(err, errNotQcow) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if _, err := diskSize(tt.disk, tt.format); tt.cut && !errors.Is(err, errNotQcow) {
			t.Errorf("%s: its size is known, %v", tt.name, err)
		}
		if err := os.Remove(over); err == nil != tt.fits {
			t.Errorf("%s: there is an overlay: %t", tt.name, err == nil)
		}
	}
}
