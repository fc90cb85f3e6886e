package api_test

import (
	"strings"
	"testing"
	"time"

	"vjob/api"
	"vjob/api/wire"
	"vjob/cluster"
)

func submissionWithTerms(t wire.Terms) *wire.Submission {
	return &wire.Submission{Count: 2, Template: &wire.VMSpec{CPUMilli: 1000, MemoryMiB: 512}, WalltimeSeconds: 3600, Terms: t}
}

func TestTerms(t *testing.T) {
	when := time.Date(2026, 12, 1, 8, 0, 0, 0, time.FixedZone("", 3600))
	s, err := api.Submission(submissionWithTerms(wire.Terms{
		Queue: "night", Deadline: &when, Yields: "end", Unmet: "hold", MinRunSeconds: 60, FlexibleSeconds: 7200, After: []wire.Dependency{{On: 12}, {On: 13, When: "afternotok"}},
		Shapes: []wire.Shape{{Count: 1, Template: &wire.VMSpec{CPUMilli: 2000, MemoryMiB: 512}, WalltimeSeconds: 7200}},
	}), 10)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case s.Queue != "night", !s.Deadline.Equal(when), s.Preemption != cluster.ByEnd, s.Unmet != cluster.UnmetHolds, s.MinRun != time.Minute, s.Flexible != 2*time.Hour,
		len(s.After) != 2, s.After[0] != cluster.Dependency{On: 12}, s.After[1].When != cluster.AfterNotOK:
		t.Errorf("%+v", s.Terms)
	case len(s.Shapes) != 2, len(s.Shapes[0].VMs) != 2, s.Shapes[0].Walltime != time.Hour, len(s.Shapes[1].VMs) != 1, s.Shapes[1].Walltime != 2*time.Hour:
		t.Errorf("%+v", s.Shapes)
	}
}

func TestBadTerms(t *testing.T) {
	one := &wire.VMSpec{CPUMilli: 1000, MemoryMiB: 512}
	for field, terms := range map[string]wire.Terms{
		"queue":                      {Queue: "no such\nqueue"},
		"project":                    {Project: "-x"},
		"floor":                      {Floor: 1.5},
		"min_run_seconds":            {MinRunSeconds: -1},
		"flexible_seconds":           {FlexibleSeconds: 31 * 86_400},
		"yields":                     {Yields: "perhaps"},
		"unmet":                      {Unmet: "cry"},
		"after[0].when":              {After: []wire.Dependency{{On: 1, When: "before"}}},
		"after[0].on":                {After: []wire.Dependency{{}}},
		"inner":                      {Inner: -3},
		"notify[0]":                  {Notify: []string{"ann"}},
		"notify[1]":                  {Notify: []string{"mail:ann@example.org", "https://user:secret@example.org/"}},
		"labels.9x":                  {Labels: map[string]string{"9x": "a"}},
		"shapes[0].walltime_seconds": {Shapes: []wire.Shape{{Count: 1, Template: one}}},
		"shapes[0].count":            {Shapes: []wire.Shape{{Count: 1000, Template: one, WalltimeSeconds: 1}}},
	} {
		_, err := api.Submission(submissionWithTerms(terms), 10)
		if err == nil || !strings.HasPrefix(err.Error(), field+": ") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Times are RFC 3339, and errors name the field.
func TestDecodeTimes(t *testing.T) {
	var s wire.Submission
	if err := api.Decode([]byte(`{"deadline":"2026-12-01T08:00:00+01:00"}`), &s, api.Bounds{}); err != nil || s.Deadline == nil {
		t.Error(err)
	}
	for _, text := range []string{`{"deadline":"tomorrow"}`, `{"deadline":3}`, `{"deadline":{}}`, `{"deadline":[]}`} {
		if err := api.Decode([]byte(text), &s, api.Bounds{}); err == nil || !strings.HasPrefix(err.Error(), "deadline: ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
