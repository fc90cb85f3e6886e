package api

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"vjob/ctxswitch/journal"
)

// auditWriter adds entries to the audit list.
type auditWriter interface {
	// WriteAudit adds an entry for an act that changes nothing else in the store.
	WriteAudit(ctx context.Context, a journal.Audit) error
}

// auditLog records the acts of administrators, changes of tokens, and failed logins.
type auditLog struct {
	store auditWriter
	news  *broadcast // an entry comes with an event
	log   *slog.Logger
	now   func() time.Time
}

// entry returns an entry of the audit list. It is stored together with the change that it describes,
// and then logged by logged.
func (l *auditLog) entry(caller Subject, action journal.AuditAction, object, text string) journal.Audit {
	return journal.Audit{At: l.now().UTC(), By: caller.Name, From: caller.From, Action: action, Object: object, Text: text}
}

// do makes a change that is stored together with its entry, and logs the entry.
func (l *auditLog) do(ctx context.Context, act journal.Audit, change func(journal.Audit) error) error {
	if err := change(act); err != nil {
		return err
	}
	l.logged(ctx, &act)
	return nil
}

// logged logs an entry that has been stored.
func (l *auditLog) logged(ctx context.Context, a *journal.Audit) {
	l.news.notify()
	l.log.LogAttrs(ctx, slog.LevelInfo, "audit", slog.String("action", string(a.Action)), slog.String("object", a.Object),
		slog.String("text", a.Text), slog.String("by", a.By), slog.String("from", a.From))
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
