package drs

import (
	"fmt"
	"io"
	"time"

	"vjob/internal/chart"
	"vjob/papers/figure"
)

// Charts draws figures 5, 6 and 8 to 13 from our runs.
func Charts() []figure.Chart {
	first := table1Mean()
	o := testbedRun()
	byHost := func(of func(s *sample) []float64) (lines []chart.Line) {
		for h := range of(&o.samples[0]) {
			lines = append(lines, o.line("", func(s *sample) float64 { return of(s)[h] }))
		}
		return lines
	}
	byPool := func(of func(s *sample) []float64) (lines []chart.Line) {
		for p, pool := range testbed(1, nil).pools {
			lines = append(lines, o.line(pool.name, func(s *sample) float64 { return 100 * of(s)[p] }))
		}
		return lines
	}
	const subtitle = "32 hosts, 1,280 VMs; the load comes to 640 of them at 0"
	lines := func(name, title, y string, limit float64, list []chart.Line) figure.Chart {
		l := &chart.Lines{Title: title, Subtitle: subtitle, Y: y, End: o.end(), Limit: limit, Lines: list}
		return figure.Chart{Name: "drs-" + name + ".svg", Draw: func(w io.Writer) error { return chart.WriteLines(w, l) }}
	}
	return []figure.Chart{
		payloadChart(&first), movesChart(),
		lines("figure8", "CPU load of each host", "normalised CPU entitlement", 1, byHost(func(s *sample) []float64 { return s.cpu })),
		lines("figure9", "Memory load of each host", "normalised memory entitlement", 0, byHost(func(s *sample) []float64 { return s.memory })),
		lines("figure10", "Imbalance of the cluster", "standard deviation of the CPU loads", 0.05,
			[]chart.Line{o.line("imbalance", func(s *sample) float64 { return s.imbalance.Of[0] })}),
		roundsChart(&o),
		lines("figure12", "Mean happiness by pool", "% of the CPU entitlement received", 0, byPool(func(s *sample) []float64 { return s.happiness })),
		lines("figure13", "Happy VMs by pool", "% of VMs that receive 95 % of it", 0, byPool(func(s *sample) []float64 { return s.happy })),
	}
}

// end is the length of the charts, from the load on.
func (o *outcome) end() time.Duration { return o.samples[len(o.samples)-1].at - loadAt }

// line is a quantity every minute from the load on.
func (o *outcome) line(name string, of func(s *sample) float64) chart.Line {
	l := chart.Line{Name: name}
	for i := range o.samples {
		if s := &o.samples[i]; s.at >= loadAt && s.at%time.Minute == 0 {
			l.Points = append(l.Points, chart.Point{At: s.at - loadAt, Value: of(s)})
		}
	}
	return l
}

// payloadChart is figure 5: the payloads without and with DRS.
func payloadChart(s *summary) figure.Chart {
	b := &chart.Amounts{Title: "Payload without and with DRS", Subtitle: fmt.Sprintf("30 hosts, 400 VMs, the mean of %d seeds", seeds), Unit: "% of the cluster"}
	for _, of := range []struct {
		name   string
		values [2]float64
	}{{"CPU", s.cpu}, {"memory", s.memory}} {
		for k, with := range []string{"without", "with"} {
			b.Amounts = append(b.Amounts, chart.Amount{
				Name: of.name + " " + with, Value: of.values[k], Text: fmt.Sprintf("%.2f", of.values[k]), Secondary: k == 0,
			})
		}
	}
	return amountsChart("figure5", b)
}

// movesChart is figure 6: the migrations without and with cost-benefit analysis.
func movesChart() figure.Chart {
	b := &chart.Amounts{
		Title:    "Migrations without and with cost-benefit analysis",
		Subtitle: fmt.Sprintf("15 hosts, 25 VMs, power management, the mean of %d seeds", seeds), Unit: "migrations",
	}
	for i := range experiments2 {
		s := table2Mean(&experiments2[i])
		for k, with := range []string{"without", "with"} {
			b.Amounts = append(b.Amounts, chart.Amount{
				Name: experiments2[i].name + " " + with, Value: s.migrations[k], Text: fmt.Sprintf("%.0f", s.migrations[k]), Secondary: k == 0,
			})
		}
	}
	return amountsChart("figure6", b)
}

// roundsChart is figure 11: the migrations of each round.
func roundsChart(o *outcome) figure.Chart {
	b := &chart.Amounts{Title: "Migrations of each round", Subtitle: "32 hosts, 1,280 VMs; rounds with any", Unit: "migrations"}
	for i, r := range o.rounds {
		if r.moves > 0 {
			b.Amounts = append(b.Amounts, chart.Amount{Name: fmt.Sprintf("round %d", i+1), Value: float64(r.moves), Text: fmt.Sprint(r.moves)})
		}
	}
	return amountsChart("figure11", b)
}

func amountsChart(name string, b *chart.Amounts) figure.Chart {
	return figure.Chart{Name: "drs-" + name + ".svg", Draw: func(w io.Writer) error { return chart.WriteAmounts(w, b) }}
}
