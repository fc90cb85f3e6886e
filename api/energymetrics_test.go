package api_test

import (
	"strings"
	"testing"

	"vjob/energy/budget"
	"vjob/energy/power/cycle"
	"vjob/energy/price"
	"vjob/scheduler/nodepower"
	"vjob/scheduler/powercap"
)

// Figures tell how far nodes are on their way off and on, and what budgets leave.
func TestPowerMetrics(t *testing.T) {
	b := newFixture(t)
	for _, none := range []string{"vjob_power_nodes", "vjob_budget_watts", "vjob_energy_price"} {
		if text := b.as("root", "GET", "/metrics", "").Body.String(); strings.Contains(text, none) {
			t.Errorf("there is %s, and nothing to tell", none)
		}
	}
	n := b.scheduler.snap.Nodes[0]
	n.Switch, n.Power = &nodepower.Switch{Phase: cycle.Starting}, powercap.Node{Known: true, Now: 170, Most: 170}
	b.scheduler.snap.Budgets.Limits = []powercap.Limit{
		{Limit: budget.Limit{Watts: 300}, Now: 170, Most: 290}, {Limit: budget.Limit{Watts: 100, Group: budget.Group{Label: "rack", Value: "r1"}}, Most: 150},
	}
	series, err := price.Parse("time,EUR/MWh\n" + epoch.Format("2006-01-02T15:04Z07:00") + ",61.5\n" + epoch.AddDate(0, 0, 1).Format("2006-01-02T15:04Z07:00") + ",1\n")
	if err != nil {
		t.Fatal(err)
	}
	b.scheduler.snap.Prices.Series = series
	text := b.as("root", "GET", "/metrics", "").Body.String()
	for _, want := range []string{
		`vjob_power_nodes{phase="starting"} 1`, `vjob_power_nodes{phase="on"} 0`, `vjob_power_phase_watts{phase="starting"} 170`,
		`vjob_budget_watts{group="",of="headroom"} 10`, `vjob_budget_watts{group="",of="limit"} 300`,
		`vjob_budget_watts{group="rack=r1",of="headroom"} -50`, `vjob_energy_price{unit="EUR/MWh"} 61.5`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
}
