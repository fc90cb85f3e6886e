package drs_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy/dpm"
	"vjob/energy/price"
	"vjob/papers/drs"
)

// run runs the paper's experiment with and without hosts being switched.
func run(t *testing.T, change func(*drs.Config)) (without, with drs.Result) {
	t.Helper()
	c := drs.Paper
	c.Seed = 1
	if change != nil {
		change(&c)
	}
	var err error
	if without, err = drs.Run(c); err != nil {
		t.Fatal(err)
	}
	set := dpm.Default
	set.Trials = 0
	c.Manage = &set
	if with, err = drs.Run(c); err != nil {
		t.Fatal(err)
	}
	return without, with
}

// The paper's table 3: 31.65 kWh without, 11.97 kWh with, the same CPU delivered.
func TestTable3(t *testing.T) {
	without, with := run(t, nil)
	t.Logf("%.2f kWh without, %.2f kWh with", without.Energy.KWh(), with.Energy.KWh())
	if without.Offs+without.Ons > 0 || with.Offs == 0 || with.Ons == 0 {
		t.Errorf("switched %d and %d times without, %d and %d with", without.Offs, without.Ons, with.Offs, with.Ons)
	}
	if with.Energy > without.Energy/2 {
		t.Errorf("less than half is saved")
	}
	if without.Demand != with.Demand || with.Delivered < 0.999*without.Delivered {
		t.Errorf("of %.0f and %.0f needed %.0f and %.0f are delivered", without.Demand, with.Demand, without.Delivered, with.Delivered)
	}
	again, _ := run(t, nil)
	if !reflect.DeepEqual(again, without) {
		t.Error("the same seed, another result")
	}
}

// With hosts of 64 GHz at least 62 % of the energy is saved as in table 3, with fewer than its 273 migrations.
func TestTable3WithStrongHosts(t *testing.T) {
	without, with := run(t, func(c *drs.Config) { c.Host.CPU = 64_000 })
	if saved := 1 - float64(with.Energy/without.Energy); saved < 0.62 || with.Migrations >= 273 || with.Delivered < 0.999*without.Delivered {
		t.Errorf("%.1f %% saved with %d migrations, %.0f of %.0f delivered", 100*saved, with.Migrations, with.Delivered, without.Delivered)
	}
}

// The energy is the sum over the minutes, and no host draws less than off or more than
// full.
func TestEnergyAddsUp(t *testing.T) {
	_, with := run(t, func(c *drs.Config) { c.Length = 24 * time.Hour })
	sum := 0.0
	for _, m := range with.Minutes {
		sum += float64(m.Power.Over(time.Minute))
		off := float64(drs.Paper.Power.Standby) * float64(drs.Paper.Hosts-m.On)
		if p := float64(m.Power); p < off+180*float64(m.On)-1 || p > 300*float64(drs.Paper.Hosts) || m.Delivered > m.Demand+1e-6 {
			t.Fatalf("%+v", m)
		}
	}
	if math.Abs(sum-float64(with.Energy)) > 1 {
		t.Errorf("%.0f J, the minutes have %.0f", with.Energy, sum)
	}
}

func TestBadConfig(t *testing.T) {
	for field, change := range map[string]func(*drs.Config){
		"nodes":      func(c *drs.Config) { c.Hosts = 0 },
		"vms":        func(c *drs.Config) { c.VMs = 1_000_000 },
		"mhz":        func(c *drs.Config) { c.Host.CPU = 0 },
		"hours":      func(c *drs.Config) { c.Length = 0 },
		"every":      func(c *drs.Config) { c.Every = 0 },
		"idle power": func(c *drs.Config) { c.Power.Idle = 400 },
		"target":     func(c *drs.Config) { c.Manage = &dpm.Settings{} },
	} {
		c := drs.Paper
		change(&c)
		_, err := drs.Run(c)
		var bad *cluster.FieldError
		if !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// prices are cheap for six hours of every day, from noon on.
func prices(t *testing.T) *price.Series {
	t.Helper()
	var text strings.Builder
	text.WriteString("time,EUR/MWh\n")
	for h := range 48 {
		value := 100
		if h%24 >= 12 && h%24 < 18 {
			value = 10
		}
		fmt.Fprintf(&text, "%s,%d\n", time.Date(2026, 6, 20, h, 0, 0, 0, time.UTC).Format(time.RFC3339), value)
	}
	s, err := price.Parse(text.String())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Jobs that may wait are done at a lower price where all nodes stay on, all of them in both
// runs, and the cost is what the power of each minute costs. Where nodes go off, jobs that
// gather in cheap hours can cost more: they want more nodes at once.
func TestJobsWaitForPrices(t *testing.T) {
	batch := func(waits bool) func(*drs.Config) {
		return func(c *drs.Config) {
			c.Prices = prices(t)
			c.Start, c.Since = c.Prices.From(), 16*time.Hour
			c.Batch = drs.Batch{VMs: 200, Lasts: 2 * time.Hour, Slack: 12 * time.Hour, Waits: waits}
		}
	}
	once, _ := run(t, batch(false))
	later, _ := run(t, batch(true))
	if once.Jobs != later.Jobs || once.Jobs < 200 || math.Abs(later.Demand-once.Demand) > 0.01*once.Demand {
		t.Errorf("%d jobs need %.0f, %d that wait %.0f", once.Jobs, once.Demand, later.Jobs, later.Demand)
	}
	if later.Waited == 0 || later.Waited > time.Duration(later.Jobs)*12*time.Hour || later.Cost >= once.Cost {
		t.Errorf("%.2f at once, %.2f with waits of %s", once.Cost, later.Cost, later.Waited)
	}
	sum := 0.0
	for _, m := range later.Minutes {
		value, _ := prices(t).At(prices(t).From().Add(m.At))
		sum += value * float64(m.Power) / 60e6
	}
	if math.Abs(sum-later.Cost) > 1e-6*sum {
		t.Errorf("the minutes cost %.4f, the run %.4f", sum, later.Cost)
	}
}

// What makes no sense of jobs and prices is named.
func TestBatchesAreChecked(t *testing.T) {
	for field, change := range map[string]func(*drs.Config){
		"flexible": func(c *drs.Config) { c.Batch.VMs = c.VMs + 1 },
		"lasts":    func(c *drs.Config) { c.Batch.Lasts = 7 * time.Minute },
		"slack":    func(c *drs.Config) { c.Batch.Slack = 23 * time.Hour },
		"hours":    func(c *drs.Config) { c.Length = 49 * time.Hour },
		"since":    func(c *drs.Config) { c.Since = -time.Hour },
	} {
		c := drs.Paper
		c.Prices = prices(t)
		c.Start, c.Batch = c.Prices.From(), drs.Batch{VMs: 10, Lasts: 2 * time.Hour, Slack: 12 * time.Hour}
		change(&c)
		var bad *cluster.FieldError
		if _, err := drs.Run(c); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
