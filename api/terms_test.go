package api_test

import (
	"strings"
	"testing"
	"time"

	"vjob/api"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/internal/strictjson"
)

func submissionWithTerms(t wire.Terms) *wire.Submission {
	return &wire.Submission{Count: 2, Template: &wire.VMSpec{CPUMilli: 1000, MemoryMiB: 512}, WalltimeSeconds: 3600, Terms: t}
}

func TestTerms(t *testing.T) {
	when := time.Date(2026, 12, 1, 8, 0, 0, 0, time.FixedZone("", 3600))
	s, err := api.Submission(submissionWithTerms(wire.Terms{
		Terms: cluster.Terms{
			Queue: "night", Deadline: when, Preemption: cluster.ByEnd, Unmet: cluster.UnmetHolds, MinRun: cluster.Seconds(time.Minute), Flexible: cluster.Seconds(2 * time.Hour), After: []cluster.Dependency{{On: 12}, {On: 13, When: cluster.AfterNotOK}},
		}, Shapes: []wire.Shape{{Count: 1, Template: &wire.VMSpec{CPUMilli: 2000, MemoryMiB: 512}, WalltimeSeconds: 7200}},
	}), 10)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case s.Queue != "night", !s.Deadline.Equal(when), s.Preemption != cluster.ByEnd, s.Unmet != cluster.UnmetHolds, s.MinRun != cluster.Seconds(time.Minute), s.Flexible != cluster.Seconds(2*time.Hour),
		len(s.After) != 2, s.After[0] != cluster.Dependency{On: 12}, s.After[1].When != cluster.AfterNotOK:
		t.Errorf("%+v", s.Terms)
	case len(s.Shapes) != 2, len(s.Shapes[0].VMs) != 2, s.Shapes[0].Walltime != time.Hour, len(s.Shapes[1].VMs) != 1, s.Shapes[1].Walltime != 2*time.Hour:
		t.Errorf("%+v", s.Shapes)
	}
}

func TestBadTerms(t *testing.T) {
	one := &wire.VMSpec{CPUMilli: 1000, MemoryMiB: 512}
	for field, terms := range map[string]wire.Terms{
		"queue":                      {Terms: cluster.Terms{Queue: "no such\nqueue"}},
		"project":                    {Terms: cluster.Terms{Project: "-x"}},
		"floor":                      {Terms: cluster.Terms{MinShare: 1.5}},
		"min_run_seconds":            {Terms: cluster.Terms{MinRun: -1}},
		"flexible_seconds":           {Terms: cluster.Terms{Flexible: cluster.Seconds(31 * 24 * time.Hour)}},
		"at_once":                    {Terms: cluster.Terms{MaxConcurrent: -1}},
		"yields":                     {Terms: cluster.Terms{BestEffort: true, Preemption: cluster.Never}},
		"after[0].on":                {Terms: cluster.Terms{After: []cluster.Dependency{{}}}},
		"inner":                      {Terms: cluster.Terms{Inner: -3}},
		"notify[0]":                  {Terms: cluster.Terms{Notify: []string{"ann"}}},
		"notify[1]":                  {Terms: cluster.Terms{Notify: []string{"mail:ann@example.org", "https://user:secret@example.org/"}}},
		"comment":                    {Terms: cluster.Terms{Comment: "two\nlines"}},
		"labels.9x":                  {Terms: cluster.Terms{Labels: map[string]string{"9x": "a"}}},
		"shapes[0].walltime_seconds": {Shapes: []wire.Shape{{Count: 1, Template: one}}},
		"shapes[0].count":            {Shapes: []wire.Shape{{Count: 1000, Template: one, WalltimeSeconds: 1}}},
	} {
		_, err := api.Submission(submissionWithTerms(terms), 10)
		if err == nil || !strings.HasPrefix(err.Error(), field+": ") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Enumerations are texts of a list, and durations are numbers of seconds.
func TestDecodeTerms(t *testing.T) {
	var s wire.Submission
	const good = `{"yields":"end","unmet":"run","min_run_seconds":90,"after":[{"on":3,"when":"afterany"}]}`
	err := api.Decode([]byte(good), &s, strictjson.Bounds{})
	if err != nil || s.Preemption != cluster.ByEnd || s.Unmet != cluster.UnmetRuns || s.MinRun != cluster.Seconds(90*time.Second) || s.After[0].When != cluster.AfterAny {
		t.Errorf("%+v, %v", s.Terms, err)
	}
	for text, want := range map[string]string{
		`{"yields":"perhaps"}`:                       `yields: "perhaps" is not one of end, never, suspend`,
		`{"yields":3}`:                               `yields: 3 is not text`,
		`{"unmet":"cry"}`:                            `unmet: "cry" is not one of fail, hold, run`,
		`{"after":[{"on":1,"when":"before"}]}`:       `after[0].when: "before" is not one of any, notok, ok, started`,
		`{"min_run_seconds":"90s"}`:                  `min_run_seconds: "90s" is not a whole number`,
		`{"min_run_seconds":0.5}`:                    `min_run_seconds: 0.5 is not a whole number`,
		`{"min_run_seconds":9223372036854775808000}`: `min_run_seconds: 9223372036854775808000 is not a whole number`,
	} {
		if err := api.Decode([]byte(text), &s, strictjson.Bounds{}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Times are RFC 3339, and errors name the field.
func TestDecodeTimes(t *testing.T) {
	var s wire.Submission
	if err := api.Decode([]byte(`{"deadline":"2026-12-01T08:00:00+01:00"}`), &s, strictjson.Bounds{}); err != nil || s.Deadline.IsZero() {
		t.Error(err)
	}
	for _, text := range []string{`{"deadline":"tomorrow"}`, `{"deadline":3}`, `{"deadline":{}}`, `{"deadline":[]}`} {
		if err := api.Decode([]byte(text), &s, strictjson.Bounds{}); err == nil || !strings.HasPrefix(err.Error(), "deadline: ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
