package drs

import (
	"fmt"

	"vjob/energy/dpm"
	"vjob/papers/figure"
)

// Figures compares a run of the experiment with table 3. The paper does not give the power, the
// memory and the clock rate of its hosts, nor the length of the run, so the energies differ; their
// ratio is what can be compared.
func Figures() ([]figure.Row, error) {
	c := Paper
	c.Seed = 1
	without, err := Run(c)
	if err != nil {
		return nil, err
	}
	manage := dpm.Default
	manage.Trials = 0
	c.Manage = &manage
	with, err := Run(c)
	if err != nil {
		return nil, err
	}
	row := func(what, published, ours string) figure.Row {
		return figure.Row{Where: "Table 3", What: what, Published: published, Ours: ours, Command: "vjob energy day"}
	}
	none := func(where, what, published, why string) figure.Row {
		return figure.Row{Where: where, What: what, Published: published, Command: why}
	}
	const testbed = "needs the testbed"
	return []figure.Row{
		row("energy without DPM", "31.65 kWh", fmt.Sprintf("%.2f kWh", without.Energy.KWh())),
		row("energy with DPM", "11.97 kWh", fmt.Sprintf("%.2f kWh", with.Energy.KWh())),
		row("energy saved by DPM", "62 %", fmt.Sprintf("%.0f %%", 100*(1-float64(with.Energy/without.Energy)))),
		row("CPU delivered with DPM, of that without", "100.4 %", fmt.Sprintf("%.1f %%", 100*with.Delivered/without.Delivered)),
		row("migrations with DPM", "273", fmt.Sprint(with.Migrations)),
		none("Table 1", "CPU payload without and with DRS", "55.68, 73.74", "the clock rate of the hosts is not given"),
		none("Table 2", "migrations without and with cost-benefit analysis", "41, 78, 39 and 25, 27, 16", "the clock rates and limits of the hosts are not given"),
		none("Figure 2", "reservations divided in a pool tree", "8 and 2 GHz, 3 and 5 GHz", "vjob has no pool tree with reservations for VMs"),
		none("Figures 8-13", "imbalance, migrations and entitlements of 1,280 VMs", "267 migrations", testbed),
		none("Figures 14, 15", "power of 8 hosts, idle, with all hosts on and with DPM", "1500 W, 566 W", testbed),
	}, nil
}
