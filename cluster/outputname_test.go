package cluster_test

import (
	"errors"
	"strings"
	"testing"

	"vjob/cluster"
)

func TestOutputName(t *testing.T) {
	alone := &cluster.VJob{ID: 12, Name: "sweep", Terms: &cluster.Terms{}}
	member := &cluster.VJob{ID: 14, Name: "sweep[3]", Array: 12, Index: 3, Terms: &cluster.Terms{}}
	unnamed := &cluster.VJob{ID: 12, Terms: &cluster.Terms{}}
	for _, c := range []struct {
		job     *cluster.VJob
		pattern string
		want    string
	}{
		{alone, "run-%j.out", "run-12.out"},
		{alone, "%x/%A_%a.%r", "sweep/12_0.2"},
		{alone, "100%%-%j", "100%-12"},
		{alone, "%%j-%j", "%j-12"},
		{member, "%x-%A_%a-%j", "sweep-12_3-14"},
		{unnamed, "%x%j", "vjob12"},
	} {
		if got := c.job.OutputName(c.pattern, 2); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.pattern, c.job.Name, got, c.want)
		}
	}
	for pattern, want := range map[string]bool{"%j-%r": true, "%j": false, "%%r-%j": false, "%r%j": true} {
		if cluster.OutputByRank(pattern) != want {
			t.Errorf("%s names a file for each VM: %t", pattern, !want)
		}
	}
}

// Refused patterns name the field, the fault and the fix.
func TestOutputPatternsAreChecked(t *testing.T) {
	for pattern, want := range map[string]string{
		"run-%j.out": "", "a/b/%A-%a": "", "%j%%": "", "grüße %j": "",
		"/srv/run-%j.out":               "output: /srv/run-%j.out is absolute: leave out the first /",
		"../run-%j.out":                 ".. in it",
		"a/../%j":                       ".. in it",
		"a//%j":                         "an empty name: leave out the /",
		"%j/":                           "an empty name",
		".ssh/%j":                       "begins with a dot",
		"./%j":                          "begins with a dot",
		"run.out":                       "names one file for many vjobs: put %j into it, or %A and %a, such as run-%j.out",
		"run-%a.out":                    "names one file for many vjobs",
		"run-%%j.out":                   "names one file for many vjobs",
		"run-%j-%N":                     "has %N: want %j (number of the vjob)",
		"run-%j-%ü":                     "has %ü: want",
		"run-%4j":                       "has %4: want",
		"run-%j-%":                      "has a % at the end",
		"%/%j":                          "has a % at the end",
		"run-%j\n":                      "without control characters",
		"run-%j\xff":                    "without control characters",
		strings.Repeat("%j", 300):       "at most 512 bytes",
		strings.Repeat("a", 240) + "%j": "names of at most 255 bytes",
	} {
		for _, terms := range []*cluster.Terms{{Output: pattern}, {Error: pattern}} {
			err := terms.Check()
			if (err == nil) != (want == "") || err != nil && (!errors.Is(err, cluster.ErrInvalid) || terms.Output != "" && !strings.Contains(err.Error(), want)) {
				t.Errorf("%q: %v, want %q", pattern, err, want)
			}
		}
	}
}

func TestErrorsApart(t *testing.T) {
	for _, c := range []struct {
		terms cluster.Terms
		want  bool
	}{
		{cluster.Terms{}, false},
		{cluster.Terms{Output: "%j"}, false},
		{cluster.Terms{Output: "%j", Error: "%j"}, false},
		{cluster.Terms{Output: "%j", Error: "%j.err"}, true},
		{cluster.Terms{Error: "%j.err"}, true},
	} {
		job := &cluster.VJob{ID: 1, VMs: make([]cluster.VM, 1), Terms: &c.terms}
		if job.Payload(0).ErrorsApart != c.want {
			t.Errorf("%+v: apart %t", c.terms, !c.want)
		}
	}
}
