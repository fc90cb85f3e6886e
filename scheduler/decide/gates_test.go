package decide_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/energy/price"
	"vjob/hypervisor"
	"vjob/scheduler/decide"
)

// A vjob that every gate bars has the reason of the first gate; without that gate, of the second,
// and so on.
func TestGatesHavePrecedence(t *testing.T) {
	w := &world{nodes: []cluster.Node{{ID: "n0", Capacity: cluster.Resources{CPU: 4000, Memory: 8192}}}}
	for id := range cluster.VJobID(3) {
		job := &cluster.VJob{ID: id + 1, Owner: "u", Submitted: epoch, Walltime: time.Hour, Terms: &cluster.Terms{}}
		job.VMs = []cluster.VM{{ID: cluster.VMID{VJob: job.ID}, Reserved: cluster.Resources{CPU: 1000, Memory: 1024}}}
		w.jobs = append(w.jobs, member{job: job})
	}
	paused, array, barred := w.jobs[0].job, w.jobs[1].job, w.jobs[2].job
	w.jobs[0].at, w.jobs[1].at = []cluster.NodeID{"n0"}, []cluster.NodeID{"n0"}
	array.Array, array.MaxConcurrent = 7, 1
	barred.Rules = "spread("
	barred.Array, barred.MaxConcurrent, barred.NotBefore, barred.Flexible = 7, 1, epoch.Add(time.Hour), cluster.Seconds(24*time.Hour)
	f := w.facts()
	f.Waits = map[cluster.VJobID]string{barred.ID: "vjob 9 has not ended"}
	f.Quarantined = map[cluster.VJobID]decide.Quarantined{barred.ID: {Why: "it breaks decisions", Until: epoch.Add(time.Hour)}}
	f.Approvals = decide.Approvals{Starts: map[cluster.VJobID][]cluster.Move{}, Pending: map[cluster.VJobID]string{barred.ID: "recommendation 5"}}
	f.Images = hypervisor.Spaces{"n0": {Pool: "shared"}}
	series, err := price.Parse("time,EUR/MWh\n2026-01-01T00:00:00Z,100\n2026-01-01T12:00:00Z,1\n2026-01-02T00:00:00Z,100\n")
	if err != nil {
		t.Fatal(err)
	}
	f.Prices = series
	find := func(id cluster.VJobID) *execute.Report {
		for i := range f.VJobs {
			if f.VJobs[i].Job.ID == id {
				return &f.VJobs[i]
			}
		}
		return nil
	}
	stuck, own := find(paused.ID), find(barred.ID)
	stuck.Job.State, stuck.Failures = cluster.Paused, 1
	own.Missing, own.Failures, own.Failed, own.Why = "image x is missing", 1, epoch, "no answer"
	for _, gate := range []struct {
		want string
		lift func()
	}{
		{"it is set aside: it breaks decisions", func() { f.Quarantined = nil }},
		{"rules", func() { own.Job.Rules = "" }},
		{"vjob 9 has not ended", func() { f.Waits = nil }},
		{"image x is missing", func() { own.Missing = "" }},
		{"tried 1 time", func() { own.Failures = 0 }},
		{"could not be saved and goes on first", func() { stuck.Failures = 0 }},
		{"as it was asked for", func() { own.Job.NotBefore = time.Time{} }},
		{"when its energy costs", func() { own.Job.Flexible = 0 }},
		{"array 7 runs 1 of its vjobs at once", func() { own.Job.Array = 0 }},
		{"its start has to be approved: recommendation 5", func() { f.Approvals = decide.Approvals{} }},
	} {
		view := decide.NewView(settings(), f)
		d := decided(t, view)
		for i := range d.VJobs {
			if d.VJobs[i].Job.ID == barred.ID && !strings.Contains(d.Verdicts[i].Reason, gate.want) {
				t.Errorf("%q, want %q", d.Verdicts[i].Reason, gate.want)
			}
		}
		gate.lift()
	}
}
