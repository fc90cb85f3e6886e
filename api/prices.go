package api

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/ctxswitch/journal"
)

// prices answers GET /v1/prices.
func (s *Server) prices(c *gin.Context, _ Subject) error {
	now := s.snapshot().Prices
	out := wire.Prices{Values: []float64{}}
	if series := now.Series; series != nil {
		out = wire.Prices{
			Unit: series.Unit().String(), From: instant(series.From()), Until: instant(series.Until()),
			StepSeconds: int64(series.Step() / time.Second), Values: series.Values(), StatedBy: now.By, StatedAt: instant(now.At),
		}
		if value, known := series.At(s.now()); known {
			out.Now = &value
		}
	}
	return answer(c, http.StatusOK, out)
}

// setPrices answers PUT /v1/prices.
func (s *Server) setPrices(c *gin.Context, caller Subject) error {
	var change wire.PricesChange
	if err := s.readBody(c, &change); err != nil {
		return err
	}
	var err error
	if change.Check {
		err = s.scheduler.CheckPrices(c.Request.Context(), change.CSV)
	} else {
		err = s.withAudit(c.Request.Context(), s.auditEntry(caller, journal.AuditPrices, "", truncate(change.CSV)), func(act journal.Audit) error {
			return s.scheduler.SetPrices(c.Request.Context(), change.CSV, act)
		})
	}
	if err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	return nil
}
