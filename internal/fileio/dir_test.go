package fileio_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"vjob/internal/fileio"
)

// That the names survive a power cut is tested in tests/powercut.
func TestMakeDir(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name, path string
		want       error
	}{
		{"with those above it", filepath.Join(root, "a", "b"), nil},
		{"that is there", filepath.Join(root, "a", "b"), nil},
		{"in place of a file", file, fs.ErrExist},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := fileio.MakeDir(c.path); !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if info, err := os.Stat(c.path); c.want == nil && (err != nil || !info.IsDir() || info.Mode().Perm() != 0o700) {
				t.Errorf("%v, %v", info, err)
			}
		})
	}
	if err := fileio.SyncDir(filepath.Join(root, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("sync of a missing directory: %v", err)
	}
}
