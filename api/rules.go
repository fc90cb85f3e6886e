package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/ctxswitch/journal"
)

// rules answers GET /v1/rules.
func (s *Server) rules(c *gin.Context, _ Subject) error {
	now := s.snapshot().Rules
	return answer(c, http.StatusOK, wire.Rules{
		Settings: now.Settings, Text: now.Stated.Text, StatedBy: now.Stated.By, Stated: instant(now.Stated.At),
		Broken: append([]string{}, now.Broken...),
	})
}

// setRules answers PUT /v1/rules.
func (s *Server) setRules(c *gin.Context, caller Subject) error {
	var change wire.RulesChange
	if err := s.readBody(c, &change); err != nil {
		return err
	}
	if err := checkRules("text", change.Text); err != nil {
		return err
	}
	var err error
	if change.Check {
		err = s.scheduler.CheckRules(c.Request.Context(), change.Text)
	} else {
		err = s.withAudit(c.Request.Context(), s.auditEntry(caller, journal.AuditRules, "", truncate(change.Text)), func(act journal.Audit) error {
			return s.scheduler.SetRules(c.Request.Context(), change.Text, act)
		})
	}
	if err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	return nil
}
