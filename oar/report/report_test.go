package report_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/oar"
	"vjob/oar/report"
	"vjob/tests/golden"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// jobs are a running job, a held one with control characters in its name, and an array of two of which
// one has ended.
func jobs() []oar.Job {
	at := func(minutes int) int64 { return noon.Add(time.Duration(minutes) * time.Minute).Unix() }
	run1, evil := "run1", "a-name-that-is-far-too-long\x1b[2J"
	base := func(id int64, state string) oar.Job {
		return oar.Job{
			ID: id, ArrayID: id, ArrayIndex: 1, Owner: "alice", User: "alice", State: state, Queue: "default", Command: "sleep 1", Type: "PASSIVE",
			Reservation: "None", Walltime: 3600, Submitted: at(-90), Message: "R=8,W=1:0:0,J=B", Project: "default", CPUSet: fmt.Sprintf("alice_%d", id),
			Resources: []int{}, Nodes: []string{}, Types: []string{}, Dependencies: []int64{}, Events: []oar.Event{}, Wanted: "/network_address=2",
		}
	}
	list := []oar.Job{base(1, "Running"), base(5, "Hold"), base(6, "Waiting"), base(7, "Terminated")}
	list[0].Name, list[0].Started, list[0].Scheduled = &run1, at(-61), at(-61)
	list[0].Nodes, list[0].Resources = []string{"node-1", "node-2"}, []int{1, 2}
	list[0].Message += ",N=run1,P=p1"
	list[0].Events = []oar.Event{{ID: 3, Type: "STATE", At: at(-61), Text: "vjob 1 is running: \x1b[31mred"}}
	list[1].Name, list[1].Dependencies, list[1].Owner = &evil, []int64{1, 4}, "a-very-long-name"
	list[2].Scheduled, list[2].Types = at(10), []string{"besteffort", "deadline=2037-01-01"}
	list[3].ArrayID, list[3].ArrayIndex, list[3].Started, list[3].Stopped = 6, 2, at(-30), at(-20)
	return list
}

func nodes() []oar.Resource {
	return []oar.Resource{
		{ID: 1, Node: "node-1", State: "Alive", Draining: "NO", CPUMilli: 4000, MemoryMiB: 8192, Jobs: []int64{1}, Labels: map[string]string{"switch": "sw1", "gpu": "NO"}},
		{ID: 2, Node: "node-2", State: "Suspected", Draining: "YES", CPUMilli: 4000, MemoryMiB: 8192, Jobs: []int64{}},
	}
}

// All formats, as scripts parse them.
func TestFormats(t *testing.T) {
	var b strings.Builder
	show := func(title, text string) { fmt.Fprintf(&b, "== %s\n%s", title, text) }
	data := func(data []byte, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(data) {
			t.Errorf("no JSON: %s", data)
		}
		return string(data)
	}
	list := jobs()
	show("oarstat", report.Table(list, report.Short, noon))
	show("oarstat of nothing", report.Table(nil, report.Short, noon))
	show("oarstat --format 1", report.Table(list, report.Classic, noon))
	show("oarstat --array", report.Table(list, report.Arrays, noon))
	show("oarstat --array --format 1", report.Table(list, report.ClassicArrays, noon))
	show("oarstat -c", report.Table(list, report.Compact, noon))
	show("oarstat -s", report.States(list))
	show("oarstat -s -J", data(report.StatesJSON(list)))
	show("oarstat -e", report.Events(list, noon))
	show("oarstat -f", report.Full(list, noon))
	two, three := data(report.JSON(list, 2)), data(report.JSON(list[:1], 3))
	show("oarstat -J", two)
	show("oarstat -J --format 3", three)
	show("oarstat -J of nothing", data(report.JSON(nil, 2)))
	yaml, err := report.YAML([]byte(two))
	if err != nil {
		t.Fatal(err)
	}
	show("oarstat -Y", yaml)
	perl, err := report.Perl([]byte(three))
	if err != nil {
		t.Fatal(err)
	}
	show("oarstat -D", perl+"\n")
	show("oarstat -g", data(report.Gantt(list, nodes(), noon.Unix()-86400, noon.Unix()+86400)))
	show("oarstat --accounting", report.Accounting(report.Used(list, noon.Unix()-86400, noon.Unix(), noon.Unix()), noon))
	show("oarnodes", report.Nodes(nodes()))
	show("oarnodes -s", report.NodeStates(nodes()))
	show("oarnodes -l", report.NodeNames(nodes()))
	show("oarqueue", report.Queues([]oar.Queue{{Name: "default", Priority: 2, Policy: "conservative", State: "Active"}}, "policy"))
	if i := strings.IndexFunc(b.String(), func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }); i >= 0 {
		t.Errorf("a terminal would obey %q", b.String()[i:i+10])
	}
	golden.Same(t, "testdata/formats.golden", b.String())
}

// Any JSON converts to YAML and Perl.
func FuzzDump(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":null}],"c":"- x: y"}`, `[]`, `"it's"`, `{"a":{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		if _, err := report.YAML(data); err != nil {
			t.Errorf("YAML of %s: %v", data, err)
		}
		if _, err := report.Perl(data); err != nil {
			t.Errorf("Perl of %s: %v", data, err)
		}
	})
}
