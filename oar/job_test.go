package oar_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/oar"
)

// A record survives the round trip through the labels of its vjob.
func TestRecord(t *testing.T) {
	r := oar.Record{
		Name: "run 1", Command: "sleep 1", Script: true, Directory: "/home/ann", Queue: "default", Types: []string{"besteffort", "deadline=2037-01-01 10:00"},
		Properties: "mem > 64", Wanted: "/network_address=2", Interactive: true, Stdout: "o", Stderr: "e", Checkpoint: 60, Signal: 12, Resubmits: 3,
		InitialRequest: "oarsub 'sleep 1'",
	}
	got, ok := oar.RecordOf(r.Labels())
	if !ok || !reflect.DeepEqual(got, r) {
		t.Errorf("%+v became %+v", r, got)
	}
	if _, ok := oar.RecordOf(map[string]string{"purpose": "x"}); ok {
		t.Error("labels without the prefix are read as a record")
	}
	r.Command = strings.Repeat("é", 5000) + "\x00"
	if got := r.Labels()["oar.command"]; len(got) > 8<<10 || !strings.HasSuffix(got, "…") || strings.ContainsRune(got, 0) {
		t.Errorf("a command of %d bytes", len(got))
	}
}

// The message begins like OAR's, and tells why a waiting job waits.
func TestMessage(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for want, v := range map[string]oar.JobView{
		"R=3,W=2:0:0,J=B (waits: needs 6 CPU more)": {VJob: &cluster.VJob{Walltime: 2 * time.Hour, Terms: &cluster.Terms{}}, Why: "waits: needs 6 CPU more", Reserved: cluster.Resources{CPU: 2500}},
		"R=8,W=1:0:0,J=R,N=x,P=p1": {VJob: &cluster.VJob{
			State: cluster.Running, Name: "other", Walltime: time.Hour,
			Terms: &cluster.Terms{Project: "p1", Reservation: at, Labels: (&oar.Record{Name: "x", Queue: "default"}).Labels()},
		}, Why: "runs", Reserved: cluster.Resources{CPU: 8000}},
		"R=1,W=0:0:0,J=I,Q=admin,T=noop": {VJob: &cluster.VJob{State: cluster.Running, Terms: &cluster.Terms{Labels: (&oar.Record{Interactive: true, Queue: "admin", Types: []string{"noop"}}).Labels()}}, Reserved: cluster.Resources{CPU: 1000}},
	} {
		if j := oar.JobOf(&v, nil); j.Message != want {
			t.Errorf("%s, want %s", j.Message, want)
		}
	}
}

// Lists are never null; nodes are sorted and unique.
func TestOf(t *testing.T) {
	v := oar.JobView{
		VJob:         &cluster.VJob{ID: 7, Owner: "ann", State: cluster.Running, Array: 5, Index: 3, Parameter: "100", Terms: &cluster.Terms{After: []cluster.Dependency{{On: 4}}, Output: "%x.%j.out", Labels: (&oar.Record{Command: "./prog", Stdout: "x.%jobid%.out", Name: "x"}).Labels()}},
		OutputFolder: "/srv/ann",
		Nodes:        []cluster.NodeID{"n2", "n1", "", "n2"}, Started: time.Unix(100, 0),
	}
	j := oar.JobOf(&v, map[cluster.NodeID]int{"n1": 1, "n2": 2})
	if !reflect.DeepEqual(j.Nodes, []string{"n1", "n2"}) || !reflect.DeepEqual(j.Resources, []int{1, 2}) || !reflect.DeepEqual(j.Dependencies, []int64{4}) {
		t.Errorf("%v %v %v", j.Nodes, j.Resources, j.Dependencies)
	}
	if j.ArrayID != 5 || j.ArrayIndex != 3 || j.Command != "./prog 100" || j.Stdout != "/srv/ann/vjob.7.out" || j.Stderr != j.Stdout || j.Scheduled != 100 || *j.Name != "x" {
		t.Errorf("%+v", j)
	}
	if empty := oar.JobOf(&oar.JobView{VJob: &cluster.VJob{Terms: &cluster.Terms{}}}, nil); empty.Types == nil || empty.Nodes == nil || empty.Events == nil || empty.Dependencies == nil || empty.Name != nil {
		t.Errorf("%+v", empty)
	}
}

// A job that ended before it was seen running has run: only its exit code tells that its command failed.
func TestShortJob(t *testing.T) {
	for want, v := range map[oar.State]*cluster.VJob{
		oar.StateTerminated: {State: cluster.Failed, Outcome: cluster.Unsuccessful, Terms: &cluster.Terms{}},
		oar.StateError:      {State: cluster.Failed, Terms: &cluster.Terms{}},
	} {
		if got := (&oar.JobView{VJob: v}).State(); got != want {
			t.Errorf("outcome %s: %s, want %s", v.Outcome, got, want)
		}
	}
}

// A job that shares its processors counts with all of them.
func TestSharers(t *testing.T) {
	for text, want := range map[string]int{"timesharing=*,*": 2, "timesharing=user,*": 1, "timesharing=*,name": 1, "noop": 1} {
		if got := oar.Sharers([]string{"besteffort", text}); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	v := oar.JobView{VJob: &cluster.VJob{Walltime: time.Hour, Terms: &cluster.Terms{Labels: (&oar.Record{Types: []string{"timesharing=*,*"}}).Labels()}}, Reserved: cluster.Resources{CPU: 4000}}
	if j := oar.JobOf(&v, nil); !strings.HasPrefix(j.Message, "R=8,") {
		t.Errorf("%s", j.Message)
	}
}
