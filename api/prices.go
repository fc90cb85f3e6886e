package api

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/ctxswitch/journal"
)

// prices answers GET /v1/prices.
func (h *energyHandler) prices(c *gin.Context, _ Subject) error {
	now := h.snapshot().Prices
	out := wire.Prices{Values: []float64{}}
	if series := now.Series; series != nil {
		out = wire.Prices{
			Unit: series.Unit().String(), From: instant(series.From()), Until: instant(series.Until()),
			StepSeconds: int64(series.Step() / time.Second), Values: series.Values(), StatedBy: now.By, StatedAt: instant(now.At),
		}
		if value, known := series.At(h.now()); known {
			out.Now = &value
		}
	}
	return answerTagged(c, http.StatusOK, now.Revision(), out)
}

// setPrices answers PUT /v1/prices.
func (h *energyHandler) setPrices(c *gin.Context, caller Subject) error {
	var change wire.PricesChange
	if err := readBody(c, &change); err != nil {
		return err
	}
	var err error
	if change.Check {
		err = h.scheduler.CheckPrices(c.Request.Context(), change.CSV)
	} else {
		err = h.audit.do(c.Request.Context(), h.audit.entry(caller, journal.AuditPrices, "", truncate(change.CSV)), func(act journal.Audit) error {
			return h.scheduler.SetPrices(c.Request.Context(), change.CSV, act)
		})
	}
	if err != nil {
		return err
	}
	return noContent(c)
}
