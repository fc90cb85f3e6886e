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

// How many failed logins are written down: one a minute of each address, and so many in all.
const (
	failuresPerAddress = 1.0 / 60
	failuresInTotal    = 1.0
	failureBurst       = 30
)

// failureTime bounds how long a failed login waits until it is written down.
const failureTime = time.Second

func auditEndpoint() endpoint {
	return endpoint{
		method: "GET", path: "/v1/audit", operation: "listAudit", summary: "What administrators have done, changes of tokens, and failed logins: the latest first",
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

// auditEntry is an entry of the audit list. It is written with what it is about, and logged by
// [Server.logAudit] once that is done.
func (s *Server) auditEntry(caller Subject, action journal.AuditAction, object, text string) journal.Audit {
	return journal.Audit{At: s.now().UTC(), By: caller.Name, From: caller.From, Action: action, Object: object, Text: text}
}

// withAudit does something that is written together with its entry, and logs it.
func (s *Server) withAudit(ctx context.Context, act journal.Audit, do func(journal.Audit) error) error {
	if err := do(act); err != nil {
		return err
	}
	s.logAudit(ctx, &act)
	return nil
}

// maxAuditText is how much of a text stands in the audit list.
const maxAuditText = 2000

// truncate is the beginning of a text.
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

// loginFailed notes that credentials were refused, unless that happens too often.
func (s *Server) loginFailed(ctx context.Context, from, why string) {
	if now := s.now(); !s.loginFailureRate.allow(from, now) || !s.totalLoginFailureRate.AllowN(now, 1) {
		return
	}
	a := s.auditEntry(Subject{From: from}, journal.AuditLoginFailed, "", why)
	late, cancel := context.WithTimeout(ctx, failureTime)
	defer cancel()
	if err := s.accounts.WriteAudit(late, a); err != nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "a failed login is not written down", slog.Any("error", err))
	}
	s.logAudit(ctx, &a)
}

// rejectCredentials counts a request without a subject against its address, and notes credentials that
// were refused. The error is what the caller gets.
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
