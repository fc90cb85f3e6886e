package cli_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"vjob/api/client"
	"vjob/cmd/vjob/cli"
)

func TestParsePast(t *testing.T) {
	now := time.Date(2026, 11, 24, 10, 30, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"":                     "0001-01-01T00:00:00Z",
		"2h":                   "2026-11-24T08:30:00Z",
		"3d":                   "2026-11-21T10:30:00Z",
		"90m ago":              "2026-11-24T09:00:00Z",
		"2026-11-01":           "2026-11-01T00:00:00Z",
		"2026-11-01 08:00":     "2026-11-01T08:00:00Z",
		"2026-11-01T08:00:30Z": "2026-11-01T08:00:30Z",
		"today":                "2026-11-24T00:00:00Z",
		"today 08:00":          "2026-11-24T08:00:00Z",
		"yesterday":            "2026-11-23T00:00:00Z",
		"yesterday 23:59":      "2026-11-23T23:59:00Z",
		"08:00":                "2026-11-24T08:00:00Z",
		"11:00":                "2026-11-23T11:00:00Z", // the last such
	} {
		got, err := cli.ParsePast("--since", text, now)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%q: %s, %v; want %s", text, got.Format(time.RFC3339), err, want)
		}
	}
	for _, text := range []string{"soon", "-2h", "0h", "tomorrow", "today 25:00", "2026-13-01", " ", "yesterday ", "08:00:00:00", "ago"} {
		if got, err := cli.ParsePast("--since", text, now); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}

func TestParseRef(t *testing.T) {
	for _, text := range []string{"7", "sweep", "sweep[3]", "sweep[3-7]", "1046[2,5-9]", "1046[]", "sweep[]", "a.b-c_1[1]", "7x"} {
		if _, err := cli.ParseRef(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "99999999999999999999", "[3]", "a[", "a]", "a[3", "a[3]x", "a[3][4]", "a[x]", "a[0]", "a[7-3]", "a[3-]", "a[,]", "a[ 3]", "a[+3]", "a[99999999999]"} {
		if ref, err := cli.ParseRef(text); err == nil || cli.ExitCode(err) != cli.ExitInput {
			t.Errorf("%q: %+v, %v", text, ref, err)
		}
	}
}

// TestParseFilter reads filters on one line.
func TestParseFilter(t *testing.T) {
	q, err := cli.ParseFilter(" state:waiting,running owner:ada label:campaign=7 node:n3 storm  front ")
	want := client.VJobQuery{States: []string{"waiting", "running"}, Owner: "ada", Labels: []string{"campaign=7"}, Node: "n3", Match: "storm front"}
	if err != nil || !reflect.DeepEqual(q, want) {
		t.Errorf("%+v, %v, want %+v", q, err, want)
	}
	for text, want := range map[string]string{
		"state:running,x": `"x"`, "colour:red": `filter: "colour:red" is not text, or state:`, "owner:": "owner: missing, want owner:VALUE",
		"label:7=x": "label", "queue:a/b": "queue",
	} {
		if _, err := cli.ParseFilter(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
