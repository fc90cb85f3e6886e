package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Copier writes a consistent copy of the database to a new file, during operation.
type Copier interface {
	Backup(ctx context.Context, path string) error
}

// Operator is the daemon for administrators.
type Operator interface {
	// Reload reads the settings again and applies what can change while the daemon runs; with check it only returns the
	// changes. The error is ErrConflict if the settings are right and cannot be applied now.
	Reload(ctx context.Context, by, from string, check bool) (wire.Reload, error)
	// Doctor examines the installation.
	Doctor(ctx context.Context) (wire.Doctor, error)
}

// auditReader reads the audit list.
type auditReader interface {
	// Audit lists entries, the latest first.
	Audit(ctx context.Context, f journal.AuditFilter) ([]journal.Audit, error)
}

// adminHandler answers requests for the audit list and for back-ups.
type adminHandler struct {
	entries   auditReader
	audit     *auditLog
	copier    Copier   // nil: no back-ups
	operator  Operator // nil: no reload
	scratch   string
	streaming *streaming
	now       func() time.Time
	copying   sync.Mutex // held while a back-up is made
}

// listAudit answers GET /v1/audit.
func (h *adminHandler) listAudit(c *gin.Context, _ Subject) error {
	q := queryReader{c: c}
	f := journal.AuditFilter{
		Before: q.cursor(), Limit: q.limit(defaultPage) + 1, Action: journal.AuditAction(c.Query("action")), By: c.Query("by"),
	}
	if q.err != nil {
		return q.err
	}
	entries, err := h.entries.Audit(c.Request.Context(), f)
	if err != nil {
		return err
	}
	entries, next := cut(c, entries, f.Limit-1, func(a *journal.Audit) string { return number(a.ID) })
	list := wire.AuditList{Entries: make([]wire.AuditEntry, len(entries)), Next: next}
	for i, a := range entries {
		list.Entries[i] = wire.AuditEntry{ID: a.ID, At: a.At.UTC(), By: a.By, From: a.From, Action: string(a.Action), Object: a.Object, Text: a.Text}
	}
	return answer(c, http.StatusOK, list)
}

// reload answers POST /v1/admin/reload.
func (h *adminHandler) reload(c *gin.Context, caller Subject) error {
	var order wire.ReloadOrder
	if err := readBody(c, &order); err != nil {
		return err
	}
	if h.operator == nil {
		return fmt.Errorf("reload: this server has no settings to read: %w", cluster.ErrConflict)
	}
	done, err := h.operator.Reload(c.Request.Context(), caller.Name, caller.From, order.Check)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, done)
}

// doctor answers GET /v1/admin/doctor.
func (h *adminHandler) doctor(c *gin.Context, _ Subject) error {
	if h.operator == nil {
		return fmt.Errorf("doctor: this server cannot examine itself: %w", cluster.ErrConflict)
	}
	found, err := h.operator.Doctor(c.Request.Context())
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, found)
}

// backupDir is the pattern of the directories in which copies are made.
const backupDir = "backup-*"

// mediaSQLite is the media type of a copy.
const mediaSQLite = "application/vnd.sqlite3"

// backup answers GET /v1/backup with a copy of the database. The copy is complete before the
// first byte is sent, and its length is in the header, so that the caller detects a truncated one.
func (h *adminHandler) backup(c *gin.Context, caller Subject) error {
	if h.copier == nil {
		return fmt.Errorf("back-up: the database of this server cannot be copied: %w", cluster.ErrUnavailable)
	}
	out := h.streaming.writer(c, caller)
	act := h.audit.entry(caller, journal.AuditBackup, "", "the whole database")
	err := h.audit.do(c.Request.Context(), act, func(act journal.Audit) error { return h.audit.store.WriteAudit(c.Request.Context(), act) })
	if err != nil {
		return err
	}
	copied, err := h.copy(c.Request.Context())
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
	c.Header("Content-Disposition", `attachment; filename="vjob-`+h.now().UTC().Format("20060102T150405Z")+`.db"`)
	c.Status(http.StatusOK)
	_, err = io.Copy(out, copied)
	return err
}

// copy makes a copy and unlinks it, so that closing it frees the disk. It makes one copy at a
// time, since each takes as much disk as the database.
func (h *adminHandler) copy(ctx context.Context) (*os.File, error) {
	if !h.copying.TryLock() {
		return nil, fmt.Errorf("back-up: another one is under way: try again when it has ended: %w", cluster.ErrUnavailable)
	}
	defer h.copying.Unlock()
	dir, err := os.MkdirTemp(h.scratch, backupDir)
	if err != nil {
		return nil, fmt.Errorf("back-up: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the next start sweeps
	path := filepath.Join(dir, "vjob.db")
	if err := h.copier.Backup(ctx, path); err != nil {
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
