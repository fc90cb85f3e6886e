package settings_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vjob/cluster"
	"vjob/energy"
)

const models = `
energy:
  models:
    big: {idle: 120W, full: 0.4kW, standby: 8W, measured: [{load: 0.5, power: 300W}], boot: {energy: 25kJ, time: 2m}, shutdown: {energy: 2Wh, time: 40s}}
    small: {idle: 40W, full: 90W}
  label: class
  model: small
`

// The model of a node is its own, else that of its label, else the one of all nodes.
func TestPowerModels(t *testing.T) {
	s, err := read(t, models+`
nodes:
  - {name: 'a[1-2]', cpu: 4, memory: 8GiB, labels: {class: big}}
  - {name: b, cpu: 4, memory: 8GiB, labels: {class: big}, power_model: small}
  - {name: c, cpu: 4, memory: 8GiB}
`)
	if err != nil {
		t.Fatal(err)
	}
	big := energy.Power{
		Idle: 120, Full: 400, Standby: 8, Measured: []energy.Point{{Load: 0.5, Power: 300}},
		On: energy.Switch{Energy: 25_000, Time: 2 * time.Minute}, Off: energy.Switch{Energy: 7200, Time: 40 * time.Second},
	}
	small := energy.Power{Idle: 40, Full: 90}
	want := map[cluster.NodeID]energy.Power{"a1": big, "a2": big, "b": small, "c": small}
	if diff := cmp.Diff(want, s.Power()); diff != "" {
		t.Errorf("%s", diff)
	}
	if text, err := s.YAML(); err != nil || !strings.Contains(string(text), "400W") {
		t.Errorf("%v in\n%s", err, text)
	}
}

// Without models the power of no node is known.
func TestNoPowerModels(t *testing.T) {
	s, err := read(t, "")
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Power(); len(p) != 0 {
		t.Errorf("%+v", p)
	}
}

func TestBadPowerModels(t *testing.T) {
	for text, want := range map[string]string{
		"energy: {models: {x: {idle: 200W, full: 100W}}}":                                                                 "energy.models.x",
		"energy: {models: {x: {idle: -1W, full: 100W}}}":                                                                  "-1W",
		"energy: {models: {x: {idle: NaN, full: 100W}}}":                                                                  "NaN",
		"energy: {models: {x: {idle: 10W, full: 100W, standby: 20W}}}":                                                    "standby power",
		"energy: {models: {x: {idle: 10W, full: 100W, measured: [{load: 1.5, power: 50W}]}}}":                             "measured load",
		"energy: {models: {x: {idle: 10W, full: 100W, measured: [{load: 0.5, power: 150W}]}}}":                            "measured power",
		"energy: {models: {x: {idle: 10W, full: 100W, boot: {energy: 5kg}}}}":                                             "joules",
		"energy: {models: {x: {idle: 10W, full: 100W}}, model: y}":                                                        "energy.model",
		"energy: {models: {small: {idle: 10W, full: 100W}}}\nnodes: [{name: n, cpu: 1, memory: 1GiB, power_model: smal}]": "such as small",
		"energy: {model: y, budget: 3}":                                                                                   "budget",
	} {
		if _, err := read(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want something about %q", text, err, want)
		}
	}
}
