package vjobs

import (
	"fmt"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/display"
	"vjob/internal/chart"
)

// scheduleFigure draws a schedule from now on.
func scheduleFigure(s *wire.Schedule, limit int, ahead time.Duration) *chart.Figure {
	rows := s.VJobs
	if limit > 0 && len(rows) > limit {
		rows = rows[:limit]
	}
	if ahead == 0 {
		ahead = lastEnd(s, rows)
	}
	r := chart.Run{Title: "as it is going to be", Note: cluster.Count(len(s.VJobs), "vjob"), End: max(ahead, time.Minute)}
	for i := range rows {
		r.Rows = append(r.Rows, slotRow(s, &rows[i], r.End))
	}
	for _, m := range []struct {
		name, unit string
		capacity   float64
		value      func(u *wire.Use) float64
	}{
		{"CPU", "processors", float64(s.CPUMilli) / 1000, func(u *wire.Use) float64 { return float64(u.CPUMilli) / 1000 }},
		{"Memory", "GiB", float64(s.MemoryMiB) / 1024, func(u *wire.Use) float64 { return float64(u.MemoryMiB) / 1024 }},
		{"Nodes", "nodes", float64(s.Nodes), func(u *wire.Use) float64 { return float64(u.Nodes) }},
	} {
		series := chart.Series{Name: m.name, Unit: m.unit, Capacity: m.capacity}
		for i := range s.Use {
			if at := s.Use[i].At.Sub(s.At); at <= r.End {
				series.Points = append(series.Points, chart.Point{At: at, Value: m.value(&s.Use[i])})
			}
		}
		r.Series = append(r.Series, series)
	}
	return &chart.Figure{
		Title: "Schedule", Subtitle: "from " + s.At.Local().Format("2006-01-02 15:04") + " on, if all vjobs use up their walltimes",
		Runs: []chart.Run{r},
	}
}

func slotRow(s *wire.Schedule, slot *wire.Slot, end time.Duration) chart.Row {
	row := chart.Row{Label: display.Dash(slot.Name)}
	if slot.Name == "" {
		row.Label = fmt.Sprint(slot.ID)
	}
	if slot.Inner != 0 {
		row.Label = "└ " + row.Label
	}
	text := fmt.Sprintf("vjob %d: %s", slot.ID, display.Reason(slot.Why))
	if slot.Start == nil {
		row.Spans = []chart.Span{{State: "waiting", To: end, Text: text}}
		return row
	}
	state := "planned"
	switch {
	case slot.Runs:
		state = "running"
	case slot.Reserved:
		state = "reserved"
	}
	from, to := min(max(0, slot.Start.Sub(s.At)), end), end
	if slot.End != nil {
		to = min(slot.End.Sub(s.At), end)
	}
	if from > 0 {
		row.Spans = append(row.Spans, chart.Span{State: "waiting", To: from, Text: text})
	}
	if from < end {
		row.Spans = append(row.Spans, chart.Span{State: state, From: from, To: to, Text: text})
	}
	return row
}
