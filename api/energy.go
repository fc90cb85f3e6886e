package api

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/scheduler"
	"vjob/scheduler/improve"
)

// energyReader reads the energy that was drawn.
type energyReader interface {
	// Energy adds up what was drawn, by the hour.
	Energy(ctx context.Context, f journal.EnergyFilter) ([]journal.EnergyRow, error)
}

// energyService is the part of the scheduler that keeps power budgets and prices.
type energyService interface {
	// SetBudgets replaces the power budgets; a mistake in them is a *cluster.FieldError.
	SetBudgets(ctx context.Context, lines []budget.Budget, act journal.Audit) error
	// CheckBudgets returns the error of SetBudgets for the same budgets, and changes nothing.
	CheckBudgets(ctx context.Context, lines []budget.Budget) error
	// SetPrices replaces the prices of energy, CSV; a mistake in them is a *cluster.FieldError.
	SetPrices(ctx context.Context, text string, act journal.Audit) error
	// CheckPrices returns the error of SetPrices for the same prices, and changes nothing.
	CheckPrices(ctx context.Context, text string) error
}

// energyHandler answers requests for the energy that was drawn, its prices, power budgets, and the
// consolidation of VMs.
type energyHandler struct {
	hours     energyReader
	scheduler energyService
	audit     *auditLog
	snapshot  func() *scheduler.Snapshot
	now       func() time.Time
}

// Periods of GET /v1/energy: the default, and the longest, which is shorter by vjob and by node.
const (
	defaultPeriod     = 7 * 24 * time.Hour
	maxPeriod         = 366 * 24 * time.Hour
	maxDetailedPeriod = 32 * 24 * time.Hour
)

// account answers GET /v1/energy.
func (h *energyHandler) account(c *gin.Context, caller Subject) error {
	f, err := h.filter(c, caller)
	if err != nil {
		return err
	}
	rows, err := h.hours.Energy(c.Request.Context(), f)
	if err != nil {
		return err
	}
	prices := h.snapshot().Prices.Series
	a, unit := AccountEnergy(rows, prices), prices.Unit().Of
	out := wire.EnergyAccount{From: f.From, Until: f.To, By: string(f.By), Unit: unit, Lines: make([]wire.EnergyLine, len(a.Lines)), Total: wireEnergy(&a.Total, unit)}
	for i := range a.Lines {
		out.Lines[i] = wireEnergy(&a.Lines[i], unit)
	}
	if f.By != journal.ByNode && f.Owner == "" {
		unused := wireEnergy(&a.Unused, unit)
		out.Unused = &unused
	}
	return answer(c, http.StatusOK, out)
}

func wireEnergy(l *EnergyLine, unit string) wire.EnergyLine {
	w := wire.EnergyLine{Name: l.Name, Joules: round(float64(l.Energy), 1e3)}
	if unit == "" {
		return w
	}
	cost, once := round(l.Cost, 1e6), round(l.AtOnce, 1e6)
	w.Cost, w.CostAtOnce, w.UnpricedJoules = &cost, &once, round(float64(l.Energy-l.Priced), 1e3)
	return w
}

// round keeps a part of a unit for JSON.
func round(v, parts float64) float64 { return math.Round(v*parts) / parts }

// filter reads the query. The hours count that begin in the period.
func (h *energyHandler) filter(c *gin.Context, caller Subject) (f journal.EnergyFilter, err error) {
	f.Owner, f.By = caller.Viewer(), journal.EnergyBy(c.DefaultQuery("by", string(journal.ByOwner)))
	if !slices.Contains([]journal.EnergyBy{journal.ByOwner, journal.ByProject, journal.ByQueue, journal.ByVJob, journal.ByNode}, f.By) {
		return f, cluster.BadField("by", string(f.By), "owner, project, queue, vjob or node")
	}
	if f.By == journal.ByNode && f.Owner != "" {
		return f, fmt.Errorf("by: only administrators see the energy of nodes: %w", cluster.ErrForbidden)
	}
	q := queryReader{c: c}
	f.To = q.instant("to", h.now())
	f.From = q.instant("from", f.To.Add(-defaultPeriod))
	if q.err != nil {
		return f, q.err
	}
	most := maxPeriod
	if f.By == journal.ByVJob || f.By == journal.ByNode {
		most = maxDetailedPeriod
	}
	if !f.From.Before(f.To) || f.To.Sub(f.From) > most {
		return f, cluster.BadField("from", f.From.Format(time.RFC3339), fmt.Sprintf("before %s, by at most %d days", f.To.Format(time.RFC3339), most/(24*time.Hour)))
	}
	return f, nil
}

// consolidation answers GET /v1/energy/consolidation.
func (h *energyHandler) consolidation(c *gin.Context, _ Subject) error {
	now := h.snapshot().Consolidation
	return answer(c, http.StatusOK, wire.Consolidation{
		Enabled: now.Enabled, NextAt: instant(now.Next), Last: wireSearch(&now.Last), Done: wireSearch(&now.Done),
		Looks: now.Looks, Plans: now.Switches, VMs: now.Moves, SavesJoules: float64(now.Saves), CostsJoules: float64(now.Costs),
	})
}

// wireSearch is a look for JSON; nil: there was none.
func wireSearch(l *improve.ConsolidationLook) *wire.ConsolidationLook {
	if l.At.IsZero() {
		return nil
	}
	w := &wire.ConsolidationLook{
		At: l.At.UTC(), Nodes: l.Nodes, Looks: l.Turns, VMs: []string{}, VJobs: []int64{}, Dark: []string{},
		BeforeWatts: watts(l.Before), AfterWatts: watts(l.After), SavesJoules: float64(l.Saves), CostsJoules: float64(l.Costs),
		YieldBefore: l.Yield[0], YieldAfter: l.Yield[1], Plan: int64(l.PlanID), Why: l.Why,
	}
	for _, m := range l.Moves {
		w.VMs = append(w.VMs, m.VM.String())
	}
	for _, id := range l.VJobs {
		w.VJobs = append(w.VJobs, int64(id))
	}
	for _, id := range l.NodesOff {
		w.Dark = append(w.Dark, string(id))
	}
	return w
}

// watts is power for JSON, to a tenth.
func watts(w energy.Watts) float64 { return math.Round(10*float64(w)) / 10 }
