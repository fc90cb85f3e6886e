package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/tests/golden"
)

// priced has prices from two hours before noon on, and what was drawn by then.
func priced() map[string]any {
	from, until := noon.Add(-2*time.Hour), noon.Add(3*time.Hour)
	return map[string]any{
		"/v1/prices": wire.Prices{
			Unit: "EUR/MWh", From: &from, Until: &until, StepSeconds: 3600, Values: []float64{90, 80, 61.5, -3, 20}, Now: new(61.5),
			StatedBy: "root\x1b[2J", StatedAt: &from,
		},
		"/v1/energy": wire.EnergyAccount{
			From: from, Until: noon, By: "project", Unit: "EUR",
			Lines: []wire.EnergyLine{
				{Name: "climate", Joules: 36e6, Cost: new(0.9), CostAtOnce: new(1.2)},
				{Name: "", Joules: 3.6e6, Cost: new(0.1), CostAtOnce: new(0.1), UnpricedJoules: 1.8e6},
			},
			Unused: &wire.EnergyLine{Joules: 7.2e6, Cost: new(0.2), CostAtOnce: new(0.2)},
			Total:  wire.EnergyLine{Joules: 46.8e6, Cost: new(1.2), CostAtOnce: new(1.5), UnpricedJoules: 1.8e6},
		},
	}
}

func TestPrice(t *testing.T) {
	s, _ := against(t, priced())
	golden.Same(t, "testdata/price.golden", s.ok("price"))
	if out := s.ok("price", "show", "-o", "json"); !strings.Contains(out, `"unit": "EUR/MWh"`) {
		t.Errorf("as JSON:\n%s", out)
	}
	s, _ = against(t, map[string]any{"/v1/prices": wire.Prices{Values: []float64{}}})
	if out := s.ok("price"); out != "no prices\n" {
		t.Errorf("without any: %q", out)
	}
	s.input = " \n"
	for _, args := range [][]string{{"price", "set"}, {"price", "set", "/no/such/file"}, {"price", "set", "-"}, {"price", "set", "a", "b"}, {"price", "clear", "now"}} {
		if r := s.run(args...); r.code == cli.ExitOK || r.err == "" || r.out != "" {
			t.Errorf("%v: exit %d, %q, %q", args, r.code, r.out, r.err)
		}
	}
}

func TestEnergyAccount(t *testing.T) {
	s, _ := against(t, priced())
	svg := filepath.Join(t.TempDir(), "a.svg")
	golden.Same(t, "testdata/energy-account.golden", s.ok("energy", "account", "--by", "project", "--from", "2026-11-21 10:00", "--svg", svg))
	drawn, err := os.ReadFile(svg)
	if err != nil || !strings.Contains(string(drawn), "climate: 10.0 kWh") || !strings.Contains(string(drawn), "(no vjob)") {
		t.Errorf("%v: %s", err, drawn)
	}
	if out := s.ok("energy", "account", "-o", "json"); !strings.Contains(out, `"cost_at_once": 1.2`) {
		t.Errorf("as JSON:\n%s", out)
	}
	for _, args := range [][]string{{"--from", "yesterday-ish"}, {"--to", "25:00"}, {"--svg", "/no/such/folder/a.svg"}, {"extra"}} {
		if r := s.run(append([]string{"energy", "account"}, args...)...); r.code == cli.ExitOK || r.err == "" {
			t.Errorf("%v: exit %d, %q", args, r.code, r.err)
		}
	}
}
