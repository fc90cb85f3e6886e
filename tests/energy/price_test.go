package energy_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"vjob/api"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy/price"
	"vjob/hypervisor/simulated"
	"vjob/queue"
	"vjob/sim/swf"
)

// dailyPrices are prices by the hour for some days: cheap at night and when the sun is high,
// dear in the morning and in the evening, as on many days of a market with much sun.
func dailyPrices(t *testing.T, from time.Time, days int) *price.Series {
	t.Helper()
	var b strings.Builder
	b.WriteString("time,EUR/MWh\n")
	for h := range 24 * days {
		hour := float64(h % 24)
		v := 80 + 45*math.Exp(-(hour-8)*(hour-8)/6) + 60*math.Exp(-(hour-19)*(hour-19)/6) - 55*math.Exp(-(hour-13)*(hour-13)/5) - 20*math.Exp(-(hour-3)*(hour-3)/8)
		fmt.Fprintf(&b, "%s,%.1f\n", from.Add(time.Duration(h)*time.Hour).Format(time.RFC3339), v)
	}
	s, err := price.Parse(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// priced is what a run of the day came to.
type priced struct {
	vjobs api.EnergyReport
	waits time.Duration // from submission to start, on average
	long  time.Duration
}

// withPrices runs the jobs of a day, each with so much slack.
func withPrices(t *testing.T, jobs []swf.Job, slack time.Duration) (p priced) {
	t.Helper()
	start := simulated.New(simulated.Config{Nodes: []simulated.Node{{ID: "n", Capacity: cluster.Resources{CPU: 1, Memory: 1}}}}).Now().Truncate(time.Hour)
	series := dailyPrices(t, start, 30)
	d := newDay(t, queue.EASY{}, series)
	d.flexible = slack
	p.long = d.run(jobs)
	p.vjobs = api.AccountEnergy(d.store.Energy(journal.EnergyFilter{From: start, To: start.AddDate(0, 0, 30), By: journal.ByOwner}), series)
	n := 0
	for _, row := range d.store.VJobs() {
		if row.Started.IsZero() {
			continue
		}
		p.waits += row.Started.Sub(row.Submitted)
		n++
	}
	p.waits /= time.Duration(max(1, n))
	return p
}

// A day on which vjobs may wait for a lower price: all come to their ends, and what they
// draw costs less the longer they may wait. Without -full it is a part of the jobs.
func TestADayWithPrices(t *testing.T) {
	jobs := busiest(t)
	slacks := []time.Duration{0, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour}
	if !*whole {
		jobs, slacks = jobs[:len(jobs)/4], []time.Duration{0, 6 * time.Hour}
	}
	t.Log("| slack | all jobs done | energy of vjobs | cost | EUR/MWh | saved | mean wait |")
	first := 0.0
	for i, slack := range slacks {
		p := withPrices(t, jobs, slack)
		l := &p.vjobs.Lines[0]
		mean := 1000 * l.Cost / l.Energy.KWh()
		if i == 0 {
			first = mean
		}
		t.Logf("| %s | %s | %.1f kWh | %.2f EUR | %.1f | %.1f %% | %s |", slack, p.long.Round(time.Minute), l.Energy.KWh(), l.Cost, mean,
			100*(1-mean/first), p.waits.Round(time.Minute))
		if i == 0 {
			if l.Cost != l.AtOnce {
				t.Errorf("without slack it costs %v instead of %v", l.Cost, l.AtOnce)
			}
			continue
		}
		if mean >= first {
			t.Errorf("with a slack of %s it costs %.1f EUR/MWh, without %.1f", slack, mean, first)
		}
	}
}
