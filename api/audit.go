package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Rates of the failed logins that are recorded: per address, and in total, a second.
const (
	failuresPerAddress = 1.0 / 60
	failuresInTotal    = 1.0
	failureBurst       = 30
)

// failureTime bounds the time to record a failed login.
const failureTime = time.Second

func auditEndpoint() endpoint {
	return endpoint{
		method: "GET", path: "/v1/audit", operation: "listAudit", summary: "Acts of administrators, changes of tokens, and failed logins: the latest first",
		access: administrator, verb: Read, status: 200, result: wire.AuditList{}, handle: (*Server).listAudit,
		query: []param{
			{name: "before", kind: "integer", what: "only entries with a smaller number"},
			limitParam,
			{name: "action", kind: "string", what: "only entries of this action, such as user.create"},
			{name: "by", kind: "string", what: "only entries of this account"},
		},
	}
}

// listAudit answers GET /v1/audit.
func (s *Server) listAudit(c *gin.Context, _ Subject) error {
	before, err := queryNumber(c, "before", 1, math.MaxInt64, 0)
	if err != nil {
		return err
	}
	limit, err := queryNumber(c, "limit", 1, maxPage, defaultPage)
	if err != nil {
		return err
	}
	entries, err := s.accounts.Audit(c.Request.Context(), journal.AuditFilter{
		Before: before, Limit: int(limit), Action: journal.AuditAction(c.Query("action")), By: c.Query("by"),
	})
	if err != nil {
		return err
	}
	list := wire.AuditList{Entries: make([]wire.AuditEntry, len(entries))}
	for i, a := range entries {
		list.Entries[i] = wire.AuditEntry{ID: a.ID, At: a.At.UTC(), By: a.By, From: a.From, Action: string(a.Action), Object: a.Object, Text: a.Text}
	}
	return answer(c, http.StatusOK, list)
}

// auditEntry returns an entry of the audit list. It is stored together with the change that it
// describes, and then logged by [Server.logAudit].
func (s *Server) auditEntry(caller Subject, action journal.AuditAction, object, text string) journal.Audit {
	return journal.Audit{At: s.now().UTC(), By: caller.Name, From: caller.From, Action: action, Object: object, Text: text}
}

// withAudit makes a change that is stored together with its entry, and logs the entry.
func (s *Server) withAudit(ctx context.Context, act journal.Audit, do func(journal.Audit) error) error {
	if err := do(act); err != nil {
		return err
	}
	s.logAudit(ctx, &act)
	return nil
}

// maxAuditText bounds a text in the audit list, in bytes.
const maxAuditText = 2000

// truncate returns the beginning of a text, at most maxAuditText bytes.
func truncate(text string) string {
	if len(text) <= maxAuditText {
		return text
	}
	return strings.ToValidUTF8(text[:maxAuditText], "") + fmt.Sprintf("… (%d bytes)", len(text))
}

func (s *Server) logAudit(ctx context.Context, a *journal.Audit) {
	s.newEvents.notify()
	s.log.LogAttrs(ctx, slog.LevelInfo, "audit", slog.String("action", string(a.Action)), slog.String("object", a.Object),
		slog.String("text", a.Text), slog.String("by", a.By), slog.String("from", a.From))
}

// loginFailed records refused credentials, within the rates.
func (s *Server) loginFailed(ctx context.Context, from, why string) {
	if now := s.now(); !s.loginFailureRate.allow(from, now) || !s.totalLoginFailureRate.AllowN(now, 1) {
		return
	}
	a := s.auditEntry(Subject{From: from}, journal.AuditLoginFailed, "", why)
	late, cancel := context.WithTimeout(ctx, failureTime)
	defer cancel()
	if err := s.accounts.WriteAudit(late, a); err != nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "cannot record a failed login", slog.Any("error", err))
	}
	s.logAudit(ctx, &a)
}

// rejectCredentials counts an unauthenticated request against its address and records refused
// credentials. It returns the error for the caller.
func (s *Server) rejectCredentials(r *http.Request, err error) error {
	from := origin(r)
	if !s.unauthenticatedRate.allow(peerOf(r), s.now()) {
		return errRate
	}
	switch {
	case errors.Is(err, cluster.ErrForbidden):
		s.loginFailed(r.Context(), from, err.Error())
	case len(r.Header.Values("Authorization")) > 0:
		s.loginFailed(r.Context(), from, "a token that is not valid")
	}
	return err
}
