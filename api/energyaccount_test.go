package api_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vjob/api"
	"vjob/ctxswitch/journal"
	"vjob/energy/price"
)

var start = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)

func hour(n int) time.Time { return start.Add(time.Duration(n) * time.Hour) }

func prices(t *testing.T, values ...float64) *price.Series {
	t.Helper()
	var b strings.Builder
	b.WriteString("time,EUR/kWh\n")
	for i, v := range values {
		fmt.Fprintf(&b, "%s,%v\n", hour(i).Format(time.RFC3339), v)
	}
	s, err := price.Parse(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const kWh = 3_600_000_000 // millijoules

func TestCosts(t *testing.T) {
	rows := []journal.EnergyRow{
		{Hour: hour(0), Name: "ann", Millijoules: 2 * kWh},
		{Hour: hour(2), Name: "bob", Millijoules: kWh, Waited: 2 * time.Hour},
		{Hour: hour(2), Name: "bob", Millijoules: 2 * kWh},
		{Hour: hour(2), Unused: true, Millijoules: kWh},
		{Hour: hour(3), Name: "ann", Millijoules: 4 * kWh}, // the price is unknown
	}
	a := api.AccountEnergy(rows, prices(t, 5, 4, 1))
	got := fmt.Sprintf("%+v", a)
	want := fmt.Sprintf("%+v", api.EnergyReport{
		Lines: []api.EnergyLine{
			{Name: "ann", Energy: 6 * 3.6e6, Priced: 2 * 3.6e6, Cost: 10, AtOnce: 10},
			{Name: "bob", Energy: 3 * 3.6e6, Priced: 3 * 3.6e6, Cost: 3, AtOnce: 7, Compared: 3.6e6},
		},
		Unused: api.EnergyLine{Energy: 3.6e6, Priced: 3.6e6, Cost: 1, AtOnce: 1},
		Total:  api.EnergyLine{Energy: 10 * 3.6e6, Priced: 6 * 3.6e6, Cost: 14, AtOnce: 18, Compared: 3.6e6},
	})
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if a := api.AccountEnergy(rows, nil); a.Total.Priced != 0 || a.Total.Energy != 10*3.6e6 {
		t.Errorf("without prices: %+v", a.Total)
	}
}

// The lines and the unused energy add up to the total.
func TestSums(t *testing.T) {
	for seed := range uint64(100) {
		chance := rand.New(rand.NewPCG(seed, 7))
		var rows []journal.EnergyRow
		sum := 0.0
		for range chance.IntN(60) {
			r := journal.EnergyRow{
				Hour: hour(chance.IntN(8)), Name: string(rune('a' + chance.IntN(4))), Millijoules: chance.Int64N(kWh),
				Waited: time.Duration(chance.IntN(3)) * time.Hour, Unused: chance.IntN(4) == 0,
			}
			rows = append(rows, r)
			sum += float64(r.Millijoules) / 1000
		}
		a := api.AccountEnergy(rows, prices(t, 3, 1, -2, 5))
		parts, costs := a.Unused.Energy, a.Unused.Cost
		for i, l := range a.Lines {
			parts, costs = parts+l.Energy, costs+l.Cost
			if i > 0 && l.Energy > a.Lines[i-1].Energy {
				t.Errorf("seed %d: %s comes after less", seed, l.Name)
			}
		}
		if math.Abs(float64(parts-a.Total.Energy)) > 1e-3 || math.Abs(float64(parts)-sum) > 1e-3 || math.Abs(costs-a.Total.Cost) > 1e-6 {
			t.Errorf("seed %d: parts %v J and %v, all %v J and %v, rows %v J", seed, parts, costs, a.Total.Energy, a.Total.Cost, sum)
		}
	}
}
