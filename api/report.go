package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// reportReader reads what vjobs have used.
type reportReader interface {
	Report(ctx context.Context, f journal.ReportFilter) (journal.Report, error)
}

// reportHandler answers GET /v1/report.
type reportHandler struct {
	reports reportReader
	zone    *time.Location // of the cluster
	now     func() time.Time
}

// Bounds of a report.
const (
	defaultReport    = 30 * 24 * time.Hour
	maxReport        = 20 * 366 * 24 * time.Hour
	maxReportPeriods = 1000
)

// show answers GET /v1/report.
func (h *reportHandler) show(c *gin.Context, caller Subject) error {
	q := queryReader{c: c}
	f := journal.ReportFilter{User: c.Query("user"), Project: c.Query("project"), Queue: c.Query("queue")}
	if own := caller.Viewer(); own != "" {
		if f.User != "" && f.User != own {
			return fmt.Errorf("user: only administrators see the use of others: %w", cluster.ErrForbidden)
		}
		f.User = own
	}
	zone, err := h.zoneOf(c)
	if err != nil {
		return err
	}
	by, period, err := reportKeys(c.DefaultQuery("by", string(journal.ReportUser)))
	if err != nil {
		return err
	}
	f.By = by
	until := q.instant("until", h.now())
	y, m, d := until.In(zone).Add(-defaultReport).Date()
	since := q.instant("since", time.Date(y, m, d, 0, 0, 0, 0, zone))
	if q.err != nil {
		return q.err
	}
	if now := h.now().UTC(); until.After(now) {
		until = now
	}
	if !since.Before(until) || until.Sub(since) > maxReport {
		return cluster.Fault("since", "%s, want an instant before %s (until, at most now), by at most 20 years", since.Format(time.RFC3339), until.Format(time.RFC3339))
	}
	if f.Borders = borders(since, until, period, zone); len(f.Borders) > maxReportPeriods+1 {
		return cluster.Fault("by", "more than %d %ss from %s until %s: choose a longer period or a later since",
			maxReportPeriods, period, since.Format(time.RFC3339), until.Format(time.RFC3339))
	}
	report, err := h.reports.Report(c.Request.Context(), f)
	if err != nil {
		return err
	}
	out := wire.Report{Since: since, Until: until, Zone: zone.String(), By: []string{}, Rows: make([]wire.ReportRow, len(report.Rows)), Total: wireReportRow(&report.Total, nil)}
	for _, key := range f.By {
		out.By = append(out.By, string(key))
	}
	if period != "" {
		out.By = append(out.By, period)
	}
	for i := range report.Rows {
		out.Rows[i] = wireReportRow(&report.Rows[i], f.By)
	}
	return answer(c, http.StatusOK, out)
}

// zoneOf is the time zone in which periods begin: by default that of the cluster.
func (h *reportHandler) zoneOf(c *gin.Context) (*time.Location, error) {
	name, given := c.GetQuery("zone")
	if !given {
		return h.zone, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, cluster.BadField("zone", name, "a time zone, such as UTC or Europe/Paris")
	}
	return zone, nil
}

// Periods by which reports are divided.
const (
	periodDay   = "day"
	periodWeek  = "week"
	periodMonth = "month"
)

// reportKeys reads "user,queue,month".
func reportKeys(text string) (by []journal.ReportKey, period string, err error) {
	for name := range strings.SplitSeq(text, ",") {
		key := journal.ReportKey(strings.TrimSpace(name))
		switch {
		case string(key) == periodDay || string(key) == periodWeek || string(key) == periodMonth:
			if period != "" {
				return nil, "", cluster.Fault("by", "%s and %s, want one period", period, key)
			}
			period = string(key)
		case !slices.Contains(journal.ReportKeys, key):
			return nil, "", cluster.BadField("by", text, "one or more of user, project, queue, node, outcome and one of day, week, month, with commas in between")
		case slices.Contains(by, key):
			return nil, "", cluster.Fault("by", "%s twice, want each once", key)
		default:
			by = append(by, key)
		}
	}
	return by, period, nil
}

// borders divides a time into days, weeks (from Monday) or months of a zone; the first and the last may be shorter.
// There are at most a few more than [maxReportPeriods].
func borders(since, until time.Time, period string, zone *time.Location) []time.Time {
	list := []time.Time{since}
	y, m, d := since.In(zone).Date()
	for n := 1; period != "" && len(list) <= maxReportPeriods+1; n++ {
		var next time.Time
		switch period {
		case periodDay:
			next = time.Date(y, m, d+n, 0, 0, 0, 0, zone)
		case periodWeek:
			sinceMonday := (int(since.In(zone).Weekday()) + 6) % 7
			next = time.Date(y, m, d-sinceMonday+7*n, 0, 0, 0, 0, zone)
		default:
			next = time.Date(y, m+time.Month(n), 1, 0, 0, 0, 0, zone)
		}
		if !next.Before(until) {
			break
		}
		list = append(list, next.UTC())
	}
	return append(list, until)
}

// wireReportRow is a row for JSON.
func wireReportRow(r *journal.ReportRow, by []journal.ReportKey) wire.ReportRow {
	w := wire.ReportRow{
		Since: r.From.UTC(), Until: r.Until.UTC(), UnknownUseVJobs: r.UnknownUse, Started: r.Started, Ended: r.Ended, Outcomes: map[string]int{},
		LostRuns: r.Lost.Runs, LostPreempted: r.Lost.Runs - r.Lost.Requeues - r.Lost.Losses, LostRequeued: r.Lost.Requeues, LostFailed: r.Lost.Losses,
		LostRunningHours: round(r.Lost.Running.Hours(), 1e6),
	}
	for i, key := range by {
		*map[journal.ReportKey]**string{
			journal.ReportUser: &w.User, journal.ReportProject: &w.Project, journal.ReportQueue: &w.Queue, journal.ReportNode: &w.Node, journal.ReportOutcome: &w.Outcome,
		}[key] = &r.Keys[i]
	}
	for outcome, n := range r.Outcomes {
		w.Outcomes[outcome.String()] = n
	}
	figure := func(v, parts float64) *float64 {
		v = round(v, parts)
		return &v
	}
	if r.UnknownUse == 0 || r.Reserved != 0 || r.MemoryTime != 0 {
		w.ReservedCPUHours, w.UsedCPUHours = figure(float64(r.Reserved)/3.6e6, 1e6), figure(float64(r.Used)/3.6e6, 1e6)
		w.MemoryGiBHours = figure(float64(r.MemoryTime)/1024/3600, 1e6)
		if r.CapacityTime != nil && *r.CapacityTime > 0 {
			w.CapacityPercent = figure(100*float64(r.Reserved)/float64(*r.CapacityTime), 1e4)
		}
	}
	if r.Energy != nil {
		w.EnergyKWh = figure(float64(*r.Energy)/3.6e9, 1e6)
	}
	if s := r.Wait; s != nil {
		w.WaitMeanSeconds, w.WaitMedianSeconds = figure(s.Mean.Seconds(), 1e3), figure(s.Median.Seconds(), 1e3)
		w.WaitP95Seconds, w.WaitMaxSeconds = figure(s.P95.Seconds(), 1e3), figure(s.Max.Seconds(), 1e3)
	}
	if s := r.Slowdown; s != nil {
		w.SlowdownMean, w.SlowdownMedian = figure(s.Mean, 1e4), figure(s.Median, 1e4)
	}
	if r.Lost.Unknown == 0 {
		w.LostCPUHours = figure(float64(r.Lost.Reserved)/3.6e6, 1e6)
	}
	return w
}
