package admin

import (
	"os"
	"path/filepath"
	"testing"
)

// TestKeepFails: a copy that was cut short leaves nothing.
func TestKeepFails(t *testing.T) {
	dir := t.TempDir()
	err := keep(filepath.Join(dir, "copy.db"), iotestErr{})
	if left, _ := os.ReadDir(dir); err == nil || len(left) != 0 {
		t.Errorf("%v, left behind: %v", err, left)
	}
}

type iotestErr struct{}

func (iotestErr) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }
