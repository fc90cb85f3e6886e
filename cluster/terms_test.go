package cluster_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/tests/golden"
)

// A term has a name, and a flag has a help text.
func TestTermFields(t *testing.T) {
	names, flags := map[string]bool{}, map[string]bool{}
	for _, f := range cluster.TermFields() {
		if f.Name == "" || names[f.Name] {
			t.Errorf("%+v: the name is missing or taken", f)
		}
		names[f.Name] = true
		if f.Flag == "" {
			continue
		}
		if f.Help == "" || flags[f.Flag] || strings.Count(f.Help, "`")%2 != 0 {
			t.Errorf("%+v: the help is missing, or the flag is taken", f)
		}
		flags[f.Flag] = true
	}
}

// The guide has a table of all terms.
func TestDocumentListsTheTerms(t *testing.T) {
	var b strings.Builder
	b.WriteString("| in files and requests | flag | meaning |\n| --- | --- | --- |\n")
	for _, f := range cluster.TermFields() {
		flag := ""
		if f.Flag != "" {
			flag = "`--" + f.Flag + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, flag, f.Help)
	}
	golden.Passage(t, "../docs/reference/kinds.md", "<!-- terms: written by go test ./cluster -update -->\n", "<!-- end -->\n", b.String())
}

func TestTermFieldCopies(t *testing.T) {
	from, to := cluster.Terms{Queue: "night", Project: "physics"}, cluster.Terms{Queue: "day"}
	for _, f := range cluster.TermFields() {
		if f.Name == "queue" {
			f.Copy(&to, &from)
		}
	}
	if to.Queue != "night" || to.Project != "" {
		t.Errorf("%+v", to)
	}
}

func TestSeconds(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "90": 90 * time.Second, "0.5": time.Second / 2, "-3": -3 * time.Second, "-0.25": -time.Second / 4, "1.000000001": time.Second + 1,
	} {
		var s cluster.Seconds
		if err := json.Unmarshal([]byte(text), &s); err != nil || time.Duration(s) != want {
			t.Errorf("%s: %v, %v", text, time.Duration(s), err)
		}
		if got, err := json.Marshal(cluster.Seconds(want)); err != nil || string(got) != text {
			t.Errorf("%s: written as %s, %v", text, got, err)
		}
	}
	for text, want := range map[string]cluster.Seconds{"1e3": cluster.Seconds(1000 * time.Second), "1e30": 1<<63 - 1, "-1e30": -1 << 63, "99999999999999999999": 1<<63 - 1} {
		var s cluster.Seconds
		if err := json.Unmarshal([]byte(text), &s); err != nil || s != want {
			t.Errorf("%s: %d, %v", text, s, err)
		}
	}
	for _, text := range []string{`"90"`, `true`, `[]`} {
		if err := json.Unmarshal([]byte(text), new(cluster.Seconds)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
	if err := new(cluster.Seconds).UnmarshalText([]byte("NaN")); err == nil {
		t.Error("NaN is read")
	}
}
