package api_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"vjob/api"
	"vjob/db"
)

// A back-up is a database of its own with everything in it, and nothing of it is
// left on the disk of the daemon.
func TestBackup(t *testing.T) {
	scratch := t.TempDir()
	b := newFixture(t, func(c *api.Config) { c.Scratch = scratch })
	b.populate()
	res := b.as("root", "GET", "/v1/backup", "")
	if res.Code != http.StatusOK || res.Header().Get("Content-Length") != strconv.Itoa(res.Body.Len()) {
		t.Fatalf("status %d, %d bytes, header %v", res.Code, res.Body.Len(), res.Header())
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	path := filepath.Join(t.TempDir(), "copy.db")
	b.must(os.WriteFile(path, res.Body.Bytes(), 0o600))
	copied, err := db.Open(path)
	b.must(err)
	defer func() { _ = copied.Close() }()
	job, err := copied.VJob(t.Context(), 2)
	if err != nil || job.Owner != "bob" {
		t.Errorf("vjob 2 is %+v, %v", job, err)
	}
}

// slowCopier holds on until it is let go, and then fails.
type slowCopier struct{ begun, end chan struct{} }

func (s slowCopier) Backup(context.Context, string) error {
	close(s.begun)
	<-s.end
	return errors.New("disk full")
}

func TestBackupTrouble(t *testing.T) {
	scratch := t.TempDir()
	copier := slowCopier{make(chan struct{}), make(chan struct{})}
	b := newFixture(t, func(c *api.Config) { c.Scratch, c.Copier = scratch, copier })
	first := make(chan int)
	go func() { first <- b.as("root", "GET", "/v1/backup", "").Code }()
	<-copier.begun
	if res := b.as("root", "GET", "/v1/backup", ""); res.Code != http.StatusServiceUnavailable {
		t.Errorf("a second one at the same time: %d %s", res.Code, res.Body)
	}
	if err := api.SweepBackups(scratch); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) != 0 {
		t.Errorf("not swept: %v %v", left, err)
	}
	close(copier.end)
	if code := <-first; code != http.StatusInternalServerError {
		t.Errorf("a failed copy: %d", code)
	}
	none := newFixture(t, func(c *api.Config) { c.Copier = nil })
	if res := none.as("root", "GET", "/v1/backup", ""); res.Code != http.StatusServiceUnavailable {
		t.Errorf("no copier: %d", res.Code)
	}
}
