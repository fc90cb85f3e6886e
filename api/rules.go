package api

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// ruleService is the part of the scheduler that keeps the placement rules.
type ruleService interface {
	// SetRules replaces the placement rules of the cluster; a mistake in them is a
	// *cluster.FieldError.
	SetRules(ctx context.Context, text string, act journal.Audit) error
	// CheckRules returns the error of SetRules for the same rules, and changes nothing.
	CheckRules(ctx context.Context, text string) error
}

// ruleHandler answers requests for the placement rules of the cluster.
type ruleHandler struct {
	scheduler ruleService
	audit     *auditLog
	snapshot  func() *scheduler.Snapshot
}

// show answers GET /v1/rules.
func (h *ruleHandler) show(c *gin.Context, _ Subject) error {
	now := h.snapshot().Rules
	return answerTagged(c, http.StatusOK, now.Revision(), wire.Rules{
		Settings: now.Settings, Text: now.Stated.Text, StatedBy: now.Stated.By, Stated: instant(now.Stated.At),
		Broken: append([]string{}, now.Broken...), Dropped: append([]string{}, now.Dropped...),
	})
}

// set answers PUT /v1/rules.
func (h *ruleHandler) set(c *gin.Context, caller Subject) error {
	var change wire.RulesChange
	if err := readBody(c, &change); err != nil {
		return err
	}
	if err := checkRules("text", change.Text); err != nil {
		return err
	}
	var err error
	if change.Check {
		err = h.scheduler.CheckRules(c.Request.Context(), change.Text)
	} else {
		err = h.audit.do(c.Request.Context(), h.audit.entry(caller, journal.AuditRules, "", truncate(change.Text)), func(act journal.Audit) error {
			return h.scheduler.SetRules(c.Request.Context(), change.Text, act)
		})
	}
	if err != nil {
		return err
	}
	return noContent(c)
}
