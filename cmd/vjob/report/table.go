package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

// writeTable prints a report for people.
func writeTable(a *cli.App, r *wire.Report) error {
	var b strings.Builder
	display.Facts(&b, [][2]string{{"time", fmt.Sprintf("from %s until %s", display.Moment(&r.Since), display.Moment(&r.Until))}})
	b.WriteByte('\n')
	period := periodOf(r)
	t := &display.Table{Heads: display.Heads(strings.ToUpper(strings.Join(r.By, " ")) + " >STARTED >ENDED >CPU-H >USED >GIB-H >KWH >CAPACITY >WAIT_MEAN >MEDIAN >P95 >MAX >SLOWDOWN >LOST_CPU-H")}
	zone, err := time.LoadLocation(r.Zone)
	if err != nil {
		zone = time.UTC // the server has a zone that this machine lacks
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		var keys []string
		for _, key := range r.By {
			keys = append(keys, cell(row, key, period, zone))
		}
		t.Row(append(keys, figures(row)...)...)
	}
	keys := slices.Repeat([]string{""}, len(r.By))
	if len(keys) > 0 {
		keys[0] = "all"
	}
	t.Row(append(keys, figures(&r.Total)...)...)
	if err := t.Write(&b, 0); err != nil {
		return err
	}
	if n := r.Total.UnknownUseVJobs; n > 0 {
		fmt.Fprintf(&b, "\n%s ran in this time before use was recorded by the hour: what they used is unknown and not in the sums\n", cluster.Count(n, "vjob"))
	}
	_, err = io.WriteString(a.Out, b.String())
	return err
}

// cell is the name of a group by one key.
func cell(row *wire.ReportRow, key, period string, zone *time.Location) string {
	switch key {
	case period:
		layout := time.DateOnly
		if key == "month" {
			layout = "2006-01"
		}
		return row.Since.In(zone).Format(layout)
	case "user":
		return name(row.User)
	case "project":
		return name(row.Project)
	case "queue":
		return name(row.Queue)
	case "node":
		return name(row.Node)
	default:
		return name(row.Outcome)
	}
}

func name(s *string) string {
	if s == nil || *s == "" {
		return "(none)"
	}
	return *s
}

// figures are the cells of a row after its keys.
func figures(r *wire.ReportRow) []string {
	plus := ""
	if r.UnknownUseVJobs > 0 {
		plus = "+?" // there is more, which is unknown
	}
	unknown := func(v *float64, digits int) string {
		if v == nil {
			return "?"
		}
		return fmt.Sprintf("%.*f", digits, *v)
	}
	none := func(v *float64, show func(float64) string) string {
		if v == nil {
			return "-"
		}
		return show(*v)
	}
	span := func(s float64) string { return display.Span(display.Seconds(s).Round(time.Millisecond)) }
	capacity := unknown(r.CapacityPercent, 1)
	if r.CapacityPercent != nil {
		capacity += " %"
	}
	use := func(v *float64) string {
		if v == nil {
			return "?"
		}
		return fmt.Sprintf("%.2f", *v) + plus
	}
	return []string{
		fmt.Sprint(r.Started), fmt.Sprint(r.Ended), use(r.ReservedCPUHours), use(r.UsedCPUHours), use(r.MemoryGiBHours), unknown(r.EnergyKWh, 3), capacity,
		none(r.WaitMeanSeconds, span), none(r.WaitMedianSeconds, span), none(r.WaitP95Seconds, span), none(r.WaitMaxSeconds, span),
		none(r.SlowdownMedian, func(v float64) string { return fmt.Sprintf("%.2f", v) }), unknown(r.LostCPUHours, 2),
	}
}
