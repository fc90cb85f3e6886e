package drs

import (
	"fmt"
	"time"

	"vjob/energy/dpm"
	"vjob/papers/figure"
	"vjob/queue/pool"
)

// Figures compares runs of the experiments with the paper. It does not give the power, the memory and the clock rate of
// its hosts, nor the length of its runs, so that ratios and differences are what can be compared.
func Figures() ([]figure.Row, error) {
	rows, err := table3Rows()
	if err != nil {
		return nil, err
	}
	divided, err := figure2Row()
	if err != nil {
		return nil, err
	}
	rows = append(table1Rows(), append(table2Rows(), append(rows, divided)...)...)
	rows = append(rows, testbedRows()...)
	return append(rows, figure.Row{
		Where: "Figures 14, 15", What: "power of 8 hosts, idle, with all hosts on and with DPM", Published: "1500 W, 566 W",
		Command: "needs the testbed",
	}), nil
}

const command = "go run ./papers drs"

// seeds is how many runs tables 1 and 2 take the mean of.
const seeds = 10

// summary is the mean of some runs, without and with what a table compares.
type summary struct{ cpu, memory, migrations [2]float64 }

func mean(run func(seed uint64, with bool) outcome) (s summary) {
	for seed := range uint64(seeds) {
		for k, with := range []bool{false, true} {
			o := run(seed+1, with)
			s.cpu[k] += o.cpu / seeds
			s.memory[k] += o.memory / seeds
			s.migrations[k] += float64(o.migrations) / seeds
		}
	}
	return s
}

func table1Mean() summary {
	return mean(func(seed uint64, with bool) outcome {
		if !with {
			return table1(seed, nil).run()
		}
		return table1(seed, unlimited()).run()
	})
}

func table2Mean(e *load2) summary {
	return mean(func(seed uint64, with bool) outcome { return table2(e, seed, with).run() })
}

func table1Rows() []figure.Row {
	s := table1Mean()
	row := func(what, published, ours string) figure.Row {
		return figure.Row{Where: "Table 1, figure 5", What: what, Published: published, Ours: ours, Command: command}
	}
	return []figure.Row{
		row("CPU payload without and with DRS", "55.68, 73.74", fmt.Sprintf("%.2f, %.2f", s.cpu[0], s.cpu[1])),
		row("memory payload without and with DRS", "65.94, 94.99", fmt.Sprintf("%.2f, %.2f", s.memory[0], s.memory[1])),
		row("gain of CPU and of memory payload", "18.06, 29.05", fmt.Sprintf("%.2f, %.2f", s.cpu[1]-s.cpu[0], s.memory[1]-s.memory[0])),
		row("migrations", "166", fmt.Sprintf("%.0f", s.migrations[1])),
	}
}

func table2Rows() (rows []figure.Row) {
	published := []struct{ moves, fewer, cpu, memory string }{
		{"41, 25", "39 %", "19.16, 19.25", "15.84, 15.86"}, {"78, 27", "65 %", "18.92, 19.20", "15.84, 15.84"}, {"39, 16", "59 %", "6.67, 6.67", "42.90, 43.05"},
	}
	for i := range experiments2 {
		e, p := &experiments2[i], published[i]
		s := table2Mean(e)
		row := func(what, published, ours string) {
			rows = append(rows, figure.Row{Where: "Table 2, figure 6", What: e.name + ": " + what, Published: published, Ours: ours, Command: command})
		}
		row("migrations without and with cost-benefit analysis", p.moves, fmt.Sprintf("%.0f, %.0f", s.migrations[0], s.migrations[1]))
		row("fewer migrations", p.fewer, fmt.Sprintf("%.0f %%", 100*(1-s.migrations[1]/s.migrations[0])))
		row("CPU payload", p.cpu, fmt.Sprintf("%.2f, %.2f", s.cpu[0], s.cpu[1]))
		row("memory payload", p.memory, fmt.Sprintf("%.2f, %.2f", s.memory[0], s.memory[1]))
	}
	return rows
}

// strongHost is the CPU of hosts with which power management saves as much as published, in MHz. The paper has neither the
// size of its hosts nor what they draw.
const strongHost = 64_000

func table3Rows() ([]figure.Row, error) {
	published := Paper
	published.Seed = 1
	strong := published
	strong.Host.CPU = strongHost
	var rows []figure.Row
	for _, c := range []struct {
		*Config
		hosts, command string
	}{{&published, "", "vjob energy day"}, {&strong, ", hosts of 64 GHz", fmt.Sprintf("vjob energy day --mhz %d", strongHost)}} {
		without, with, err := withManagement(*c.Config)
		if err != nil {
			return nil, err
		}
		row := func(what, published, ours string) {
			rows = append(rows, figure.Row{Where: "Table 3", What: what + c.hosts, Published: published, Ours: ours, Command: c.command})
		}
		row("energy without DPM", "31.65 kWh", fmt.Sprintf("%.2f kWh", without.Energy.KWh()))
		row("energy with DPM", "11.97 kWh", fmt.Sprintf("%.2f kWh", with.Energy.KWh()))
		row("energy saved by DPM", "62 %", fmt.Sprintf("%.0f %%", 100*(1-float64(with.Energy/without.Energy))))
		row("CPU delivered with DPM, of that without", "100.4 %", fmt.Sprintf("%.1f %%", 100*with.Delivered/without.Delivered))
		row("migrations with DPM", "273", fmt.Sprint(with.Migrations))
	}
	return rows, nil
}

// withManagement runs a day without power management and with it.
func withManagement(c Config) (without, with Result, err error) {
	if without, err = Run(c); err != nil {
		return without, with, err
	}
	manage := dpm.Default
	manage.Trials = 0
	c.Manage = &manage
	with, err = Run(c)
	return without, with, err
}

// figure2Row divides the reservation of figure 2 among the two VMs of its first pool.
func figure2Row() (row figure.Row, err error) {
	tree, err := pool.New([]pool.Entry{
		{Parent: -1, Controls: pool.Controls{Limit: pool.Unlimited, Shares: 1}},
		{VM: true, Controls: pool.Controls{Limit: pool.Unlimited, Shares: 1000}},
		{VM: true, Controls: pool.Controls{Limit: pool.Unlimited, Shares: 1000}},
	})
	if err != nil {
		return row, err
	}
	tree.SetDemand(1, 3000)
	tree.SetDemand(2, 7000)
	tree.Divide(8000)
	return figure.Row{
		Where: "Figure 2", What: "8 GHz of a pool among VMs of equal shares that demand 3 and 7 GHz", Published: "3, 5 GHz",
		Ours: fmt.Sprintf("%d, %d GHz", tree.Entitlement(1)/1000, tree.Entitlement(2)/1000), Command: command,
	}, nil
}

func testbedRun() outcome { return testbed(1, testbedSettings()).run() }

func testbedRows() []figure.Row {
	o := testbedRun()
	row := func(where, what, published, ours string) figure.Row {
		return figure.Row{Where: where, What: what, Published: published, Ours: ours, Command: command}
	}
	end := &o.samples[len(o.samples)-1]
	low, high := 1.0, 0.0
	for _, load := range end.memory {
		low, high = min(low, load), max(high, load)
	}
	three := 0
	for _, r := range o.rounds[:3] {
		three += r.moves
	}
	overload := o.sampleAt(loadAt)
	return []figure.Row{
		row("Figure 8", "largest CPU load when the load comes, and 30 minutes later", "above 1, about 0.8", fmt.Sprintf("%.2f, %.2f", overload.peak(), o.sampleAt(loadAt+30*time.Minute).peak())),
		row("Figure 9", "memory loads at the end", "0.14-0.32", fmt.Sprintf("%.2f-%.2f", low, high)),
		row("Figure 10", "imbalance when the load comes", "0.5", fmt.Sprintf("%.2f", o.rounds[0].before.Total)),
		row("Figure 10", "rounds until the imbalance is below 0.1", "6", fmt.Sprint(o.roundsUntil(0.1))),
		row("Figure 10", "rounds until the imbalance is below 0.05", "28", fmt.Sprint(o.roundsUntil(0.05))),
		row("Figure 11", "migrations", "267", fmt.Sprint(o.migrations)),
		row("Figure 11", "migrations of the first three rounds", "186", fmt.Sprint(three)),
		row("Figure 12", "mean happiness by pool when the load comes", "high shares above normal", percents(overload.happiness)),
		row("Figure 12", "mean happiness by pool at the end", "close to 100 % for all", percents(end.happiness)),
		row("Figure 13", "happy VMs by pool at the end", "100 %, 100 %, above 90 %, above 90 %", percents(end.happy)),
	}
}

// sampleAt is the sample of an instant.
func (o *outcome) sampleAt(at time.Duration) *sample { return &o.samples[at/stride] }

func (s *sample) peak() (most float64) {
	for _, load := range s.cpu {
		most = max(most, load)
	}
	return most
}

// roundsUntil is how many rounds have begun when the imbalance of the hosts is below a value for the first time.
func (o *outcome) roundsUntil(value float64) (n int) {
	for i := range o.samples {
		s := &o.samples[i]
		if s.at < loadAt {
			continue
		}
		if s.imbalance.Of[0] < value {
			return n
		}
		if n < len(o.rounds) && o.rounds[n].at == s.at {
			n++
		}
	}
	return -1
}

func percents(list []float64) (text string) {
	for i, v := range list {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%.0f %%", 100*v)
	}
	return text
}
