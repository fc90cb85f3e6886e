package energy

import (
	"fmt"
	"strings"
	"time"

	"vjob/cmd/vjob/display"
	"vjob/internal/chart"
	"vjob/papers/drs"
)

// dayFigure draws the runs on one time scale.
func dayFigure(c *drs.Config, runs []*dayRun) *chart.Figure {
	title := "Nodes on, demand and power"
	subtitle := []string{fmt.Sprintf("%d nodes of %.0f GHz, %d VMs", c.Hosts, float64(c.Host.CPU)/1000, c.VMs)}
	if c.Batch.VMs > 0 {
		subtitle = append(subtitle, fmt.Sprintf("%d of them jobs of %s that may wait %s", c.Batch.VMs, display.Span(c.Batch.Lasts), display.Span(c.Batch.Slack)))
	}
	if c.Prices != nil {
		title = "Nodes on, demand, power and its price"
		subtitle = append(subtitle, "from "+c.Start.Format("2006-01-02 15:04 -07:00"))
	}
	f := &chart.Figure{Title: title, Subtitle: strings.Join(append(subtitle, fmt.Sprintf("seed %d", c.Seed)), ", ")}
	for _, r := range runs {
		f.Runs = append(f.Runs, chart.Run{Title: r.Name, Note: r.note(), End: c.Length, Series: r.series(c)})
	}
	return f
}

// note is what a run comes to.
func (r *dayRun) note() string {
	text := fmt.Sprintf("%.1f kWh", r.KWh)
	if r.Price != nil {
		text += fmt.Sprintf(", %.2f %s", r.Price.Cost, r.Price.Unit)
	}
	return text
}

// series are what is drawn of a run, every ten minutes of it.
func (r *dayRun) series(c *drs.Config) []chart.Series {
	nodes := chart.Series{Name: "nodes on", Unit: "nodes", Capacity: float64(c.Hosts)}
	demand := chart.Series{Name: "CPU needed", Unit: "GHz", Capacity: float64(c.Hosts) * float64(c.Host.CPU) / 1000}
	power := chart.Series{Name: "power", Unit: "kW"}
	for k := 0; k < len(r.Minutes); k += 10 {
		m := &r.Minutes[k]
		nodes.Points = append(nodes.Points, chart.Point{At: m.At, Value: float64(m.On)})
		demand.Points = append(demand.Points, chart.Point{At: m.At, Value: m.Demand / 1000})
		power.Points = append(power.Points, chart.Point{At: m.At, Value: float64(m.Power) / 1000})
	}
	list := []chart.Series{nodes, demand, power}
	if c.Prices == nil {
		return list
	}
	prices := chart.Series{Name: "price of energy", Unit: c.Prices.Unit().String()}
	for at := time.Duration(0); at < c.Length; at += c.Prices.Step() {
		value, _ := c.Prices.At(c.Start.Add(at))
		prices.Points = append(prices.Points, chart.Point{At: at, Value: value})
	}
	return append(list, prices)
}
