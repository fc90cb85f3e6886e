package day_test

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy/day"
	"vjob/energy/dpm"
)

// run runs the paper's experiment with and without hosts being switched.
func run(t *testing.T, change func(*day.Config)) (without, with day.Result) {
	t.Helper()
	c := day.Paper
	c.Seed = 1
	if change != nil {
		change(&c)
	}
	var err error
	if without, err = day.Run(c); err != nil {
		t.Fatal(err)
	}
	set := dpm.Default
	set.Trials = 0
	c.Manage = &set
	if with, err = day.Run(c); err != nil {
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

// The energy is the sum over the minutes, and no host draws less than off or more than
// full.
func TestEnergyAddsUp(t *testing.T) {
	_, with := run(t, func(c *day.Config) { c.Length = 24 * time.Hour })
	sum := 0.0
	for _, m := range with.Minutes {
		sum += float64(m.Power.Over(time.Minute))
		off := float64(day.Paper.Power.Standby) * float64(day.Paper.Hosts-m.On)
		if p := float64(m.Power); p < off+180*float64(m.On)-1 || p > 300*float64(day.Paper.Hosts) || m.Delivered > m.Demand+1e-6 {
			t.Fatalf("%+v", m)
		}
	}
	if math.Abs(sum-float64(with.Energy)) > 1 {
		t.Errorf("%.0f J, the minutes have %.0f", with.Energy, sum)
	}
}

func TestBadConfig(t *testing.T) {
	for field, change := range map[string]func(*day.Config){
		"nodes":      func(c *day.Config) { c.Hosts = 0 },
		"vms":        func(c *day.Config) { c.VMs = 1_000_000 },
		"mhz":        func(c *day.Config) { c.Host.CPU = 0 },
		"hours":      func(c *day.Config) { c.Length = 0 },
		"every":      func(c *day.Config) { c.Every = 0 },
		"idle power": func(c *day.Config) { c.Power.Idle = 400 },
		"target":     func(c *day.Config) { c.Manage = &dpm.Settings{} },
	} {
		c := day.Paper
		change(&c)
		_, err := day.Run(c)
		var bad *cluster.FieldError
		if !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
