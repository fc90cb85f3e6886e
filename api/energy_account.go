package api

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/account"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

func energyEndpoints() []endpoint {
	return []endpoint{
		{
			method: "GET", path: "/v1/energy", operation: "getEnergy",
			summary: "Energy drawn in a period and its cost; users see their own vjobs",
			access:  authenticated, verb: Read, status: 200, result: wire.EnergyAccount{}, handle: (*Server).energyAccount,
			query: []param{
				{name: "from", kind: "string", what: "start, RFC 3339; hours of UTC count that begin in the period; default: a week before its end"},
				{name: "to", kind: "string", what: "end, RFC 3339; default: now"},
				{name: "by", kind: "string", what: "owner, project, queue, vjob or node (administrators); default: owner"},
			},
		},
		{
			method: "GET", path: "/v1/energy/consolidation", operation: "getConsolidation",
			summary: "The last searches for placements that draw less, their results, and why no VM was moved",
			access:  administrator, verb: Read, status: 200, result: wire.Consolidation{}, handle: (*Server).consolidation,
		},
		{
			method: "GET", path: "/v1/prices", operation: "getPrices", summary: "What energy costs, in money or in carbon",
			access: authenticated, verb: Read, status: 200, result: wire.Prices{}, handle: (*Server).prices,
		},
		{
			method: "PUT", path: "/v1/prices", operation: "setPrices", summary: "Replace the stated prices of energy, or check others",
			access: administrator, verb: Change, body: wire.PricesChange{}, status: 204, handle: (*Server).setPrices,
		},
	}
}

// Periods of GET /v1/energy: the default, and the longest, which is shorter by vjob and by node.
const (
	defaultPeriod     = 7 * 24 * time.Hour
	maxPeriod         = 366 * 24 * time.Hour
	maxDetailedPeriod = 32 * 24 * time.Hour
)

// energyAccount answers GET /v1/energy.
func (s *Server) energyAccount(c *gin.Context, caller Subject) error {
	f, err := s.parseEnergyFilter(c, caller)
	if err != nil {
		return err
	}
	rows, err := s.reader.Energy(c.Request.Context(), f)
	if err != nil {
		return err
	}
	prices := s.snapshot().Prices.Series
	a, unit := account.Of(rows, prices), prices.Unit().Of
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

func wireEnergy(l *account.Line, unit string) wire.EnergyLine {
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

// parseEnergyFilter reads what is asked for. Hours count that begin in the time.
func (s *Server) parseEnergyFilter(c *gin.Context, caller Subject) (f journal.EnergyFilter, err error) {
	f.Owner, f.By = caller.Viewer(), journal.EnergyBy(c.DefaultQuery("by", string(journal.ByOwner)))
	if !slices.Contains([]journal.EnergyBy{journal.ByOwner, journal.ByProject, journal.ByQueue, journal.ByVJob, journal.ByNode}, f.By) {
		return f, cluster.BadField("by", string(f.By), "owner, project, queue, vjob or node")
	}
	if f.By == journal.ByNode && f.Owner != "" {
		return f, fmt.Errorf("by: only administrators see the energy of nodes: %w", cluster.ErrForbidden)
	}
	if f.To, err = queryInstant(c, "to", s.now()); err != nil {
		return f, err
	}
	if f.From, err = queryInstant(c, "from", f.To.Add(-defaultPeriod)); err != nil {
		return f, err
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

// queryInstant reads an instant, or returns the default. Years are limited to those that the
// database can store.
func queryInstant(c *gin.Context, key string, otherwise time.Time) (time.Time, error) {
	text, ok := c.GetQuery(key)
	if !ok {
		return otherwise.UTC(), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		return t, cluster.BadField(key, text, "an instant such as 2026-11-22T00:00:00Z")
	}
	return t.UTC(), nil
}
