package db_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/db"
	"vjob/hypervisor"
	"vjob/scheduler/admission"
	"vjob/tests/storetest"
)

// labelled has vjob 1 of physics, 2 and 3 as an array of two of biology, and 4 without anything, submitted an hour apart;
// 4 has ended and was on n2.
func labelled(t *testing.T) *db.DB {
	t.Helper()
	d := newDB(t)
	first, sweep, last := storetest.Submission("Climate", 1), storetest.Submission("sweep", 1), storetest.Submission("", 1)
	first.Terms = cluster.Terms{Project: "physics", Queue: "batch", Labels: map[string]string{"campaign": "7", "x.y": ""}, Comment: "the Second run"}
	sweep.Terms, sweep.Array = cluster.Terms{Project: "biology", Queue: "batch", Labels: map[string]string{"campaign": "8"}}, []string{"--fast", "--slow"}
	last.Terms = cluster.Terms{Queue: "urgent"}
	for i, s := range []admission.Submission{first, sweep, last} {
		s.At = storetest.Start.Add(time.Duration(i) * time.Hour)
		submitted(t)(d.Submit(t.Context(), s))
	}
	step := journal.Step{
		VJobs: []journal.VJobChange{{ID: 4, State: cluster.Terminated, Outcome: cluster.Deleted, Version: 1, Ended: storetest.Start.Add(5 * time.Hour)}},
		Intents: []journal.Intent{{
			At:   storetest.Start,
			Call: hypervisor.Call{Op: 1, Verb: hypervisor.Boot, VM: cluster.VMID{VJob: 4}, Node: "n2", Stamp: hypervisor.Stamp{Incarnation: 1, Epoch: 1}},
		}},
	}
	if err := d.Commit(t.Context(), step); err != nil {
		t.Fatal(err)
	}
	return d
}

// Every condition narrows a list, alone and beside others.
func TestFilter(t *testing.T) {
	d := labelled(t)
	hour := func(n int) time.Time { return storetest.Start.Add(time.Duration(n) * time.Hour) }
	for name, c := range map[string]struct {
		filter journal.Filter
		want   string
	}{
		"all":                          {journal.Filter{}, "1 2 3 4"},
		"ended":                        {journal.Filter{Ended: true}, "4"},
		"outcome":                      {journal.Filter{Outcomes: []cluster.Outcome{cluster.Broken, cluster.Deleted}}, "4"},
		"another outcome":              {journal.Filter{Outcomes: []cluster.Outcome{cluster.Completed}}, ""},
		"project":                      {journal.Filter{Project: "biology"}, "2 3"},
		"queue":                        {journal.Filter{Queue: "batch"}, "1 2 3"},
		"queue and project":            {journal.Filter{Queue: "batch", Project: "physics"}, "1"},
		"name of a vjob":               {journal.Filter{Name: "Climate"}, "1"},
		"name of an array":             {journal.Filter{Name: "sweep"}, "2 3"},
		"name of an element":           {journal.Filter{Name: "sweep[2]"}, "3"},
		"name in another case":         {journal.Filter{Name: "climate"}, ""},
		"label":                        {journal.Filter{Labels: []journal.Label{{Name: "campaign", Value: "8"}}}, "2 3"},
		"label with any value":         {journal.Filter{Labels: []journal.Label{{Name: "campaign", Any: true}}}, "1 2 3"},
		"label without a value":        {journal.Filter{Labels: []journal.Label{{Name: "x.y"}}}, "1"},
		"labels":                       {journal.Filter{Labels: []journal.Label{{Name: "x.y", Any: true}, {Name: "campaign", Value: "8"}}}, ""},
		"node of an ended vjob":        {journal.Filter{Node: "n2"}, "4"},
		"another node":                 {journal.Filter{Node: "n1"}, ""},
		"match of a name":              {journal.Filter{Match: "CLIM"}, "1"},
		"match of a comment":           {journal.Filter{Match: "second"}, "1"},
		"match of a parameter":         {journal.Filter{Match: "-SLOW"}, "3"},
		"match is no pattern":          {journal.Filter{Match: "%"}, ""},
		"match of no quote":            {journal.Filter{Match: "' OR 1=1 --"}, ""},
		"prefix of a name":             {journal.Filter{Prefix: "swe"}, "2 3"},
		"prefix of a number":           {journal.Filter{Prefix: "4"}, "4"},
		"prefix is no pattern":         {journal.Filter{Prefix: "_"}, ""},
		"index":                        {journal.Filter{Array: 2, Indexes: []cluster.IndexRange{{First: 2, Last: 9}}}, "3"},
		"indexes":                      {journal.Filter{Indexes: []cluster.IndexRange{{First: 1, Last: 1}, {First: 2, Last: 2}}}, "2 3"},
		"submitted since":              {journal.Filter{Submitted: journal.Period{Since: hour(1)}}, "2 3 4"},
		"submitted until":              {journal.Filter{Submitted: journal.Period{Until: hour(1)}}, "1"},
		"submitted within":             {journal.Filter{Submitted: journal.Period{Since: hour(1), Until: hour(2)}}, "2 3"},
		"ended since":                  {journal.Filter{Finished: journal.Period{Since: hour(5)}}, "4"},
		"ended before":                 {journal.Filter{Finished: journal.Period{Until: hour(5)}}, ""},
		"everything of one, with more": {journal.Filter{Owner: "alice", Live: true, Match: "climate", Labels: []journal.Label{{Name: "campaign", Value: "7"}}, Fold: true, Terms: true}, "1"},
		"folded":                       {journal.Filter{Labels: []journal.Label{{Name: "campaign", Value: "8"}}, Fold: true}, "2"},
	} {
		rows, total, err := d.VJobs(t.Context(), c.filter)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := make([]string, len(rows))
		for i, row := range rows {
			got[i] = row.ID.String()
		}
		if text := strings.Join(got, " "); text != c.want || total != len(rows) {
			t.Errorf("%s: %q of %d, want %q", name, text, total, c.want)
		}
	}
}

// A vjob is found by the node of its VM while it runs there, and by the one to which it moves.
func TestFilterByNode(t *testing.T) {
	d := newDB(t)
	submitted(t)(d.Submit(t.Context(), storetest.Submission("a", 2)))
	if rows, _, err := d.VJobs(t.Context(), journal.Filter{Node: "n1"}); err != nil || len(rows) != 0 {
		t.Fatalf("before it has a place: %d, %v", len(rows), err)
	}
	kept, err := d.VJob(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	g := kept.Gang
	g.Phase, g.Members[0].Node, g.Members[1].Node, g.Members[1].Next = gang.Active, "n1", "n1", "n3"
	if err := d.Commit(t.Context(), journal.Step{Gangs: []gang.Record{g}}); err != nil {
		t.Fatal(err)
	}
	for node, want := range map[cluster.NodeID]int{"n1": 1, "n3": 1, "n2": 0} {
		if rows, _, err := d.VJobs(t.Context(), journal.Filter{Node: node}); err != nil || len(rows) != want {
			t.Errorf("%s: %d vjobs, %v, want %d", node, len(rows), err, want)
		}
	}
}
