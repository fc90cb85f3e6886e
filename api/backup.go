package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gin-gonic/gin"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Copier writes a consistent copy of the database to a new file, during operation.
type Copier interface {
	Backup(ctx context.Context, path string) error
}

// backupDir is the pattern of the directories in which copies are made.
const backupDir = "backup-*"

// mediaSQLite is the media type of a copy.
const mediaSQLite = "application/vnd.sqlite3"

// backup answers GET /v1/backup with a copy of the database. The copy is complete before the
// first byte is sent, and its length is in the header, so that the caller detects a truncated one.
func (s *Server) backup(c *gin.Context, caller Subject) error {
	if s.copier == nil {
		return fmt.Errorf("back-up: the database of this server cannot be copied: %w", cluster.ErrUnavailable)
	}
	out := s.newStreamWriter(c, caller)
	act := s.auditEntry(caller, journal.AuditBackup, "", "the whole database")
	err := s.withAudit(c.Request.Context(), act, func(act journal.Audit) error { return s.accounts.WriteAudit(c.Request.Context(), act) })
	if err != nil {
		return err
	}
	copied, err := s.copy(c.Request.Context())
	if err != nil {
		return err
	}
	defer copied.Close() //nolint:errcheck // it was only read
	info, err := copied.Stat()
	if err != nil {
		return err
	}
	c.Header("Content-Type", mediaSQLite)
	c.Header("Content-Length", strconv.FormatInt(info.Size(), 10))
	c.Header("Content-Disposition", `attachment; filename="vjob-`+s.now().UTC().Format("20060102T150405Z")+`.db"`)
	c.Status(http.StatusOK)
	_, err = io.Copy(out, copied)
	return err
}

// copy makes a copy and unlinks it, so that closing it frees the disk. It makes one copy at a
// time, since each takes as much disk as the database.
func (s *Server) copy(ctx context.Context) (*os.File, error) {
	if !s.copying.TryLock() {
		return nil, fmt.Errorf("back-up: another one is under way: try again when it has ended: %w", cluster.ErrUnavailable)
	}
	defer s.copying.Unlock()
	dir, err := os.MkdirTemp(s.scratch, backupDir)
	if err != nil {
		return nil, fmt.Errorf("back-up: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the next start sweeps
	path := filepath.Join(dir, "vjob.db")
	if err := s.copier.Backup(ctx, path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// SweepBackups removes the unfinished back-ups of a killed daemon from a directory.
func SweepBackups(scratch string) error {
	left, err := filepath.Glob(filepath.Join(scratch, backupDir))
	if err != nil {
		return fmt.Errorf("sweep back-ups: %w", err)
	}
	for _, dir := range left {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("sweep back-ups: %w", err)
		}
	}
	return nil
}
