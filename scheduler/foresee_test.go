package scheduler_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue"
)

// Sixteen processors: vjob 1 has four of them for another half an hour, and what is
// submitted needs all.
func TestForesee(t *testing.T) {
	set := settings()
	set.Policy = queue.EASY{}
	l := state(4, 0)
	l.VJobs[0].Walltime = time.Hour
	l.Ran = map[cluster.VJobID]time.Duration{1: 30 * time.Minute}
	r := mount(t, set, l)
	if _, err := r.core.Foresee(r.now); !errors.Is(err, cluster.ErrUnavailable) {
		t.Errorf("before the nodes were looked at: %v", err)
	}
	r.drain()
	for id := cluster.VJobID(2); id <= 4; id++ {
		job := &cluster.VJob{ID: id, Owner: "u", Walltime: time.Hour, Held: id == 3, Submitted: r.now}
		for rank := range 4 {
			job.VMs = append(job.VMs, cluster.VM{ID: cluster.VMID{VJob: id, Rank: rank}, Reserved: cluster.Resources{CPU: 4000, Memory: 1024}})
		}
		r.core.Submitted(r.now, job)
	}
	r.at(time.Second)
	plans := len(r.plans)
	answer, err := r.core.Foresee(r.now)
	if err != nil {
		t.Fatal(err)
	}
	f := answer()
	if f.Nodes != 4 || f.Total.CPU != 16000 || len(f.VJobs) != 4 || len(f.Use) < 4 {
		t.Fatalf("foreseen: %+v", f)
	}
	at := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return t.Sub(epoch).Round(time.Minute).String()
	}
	for i, want := range []string{"0s 30m0s", "30m0s 1h30m0s", "- -", "1h30m0s 2h30m0s"} {
		if got := at(f.Bars[i].Start) + " " + at(f.Bars[i].End); got != want || f.VJobs[i].ID != cluster.VJobID(i+1) {
			t.Errorf("vjob %s: %s, want %s: %s", f.VJobs[i].ID, got, want, f.Bars[i].Why)
		}
	}
	if why := f.Bars[1].Why; !strings.HasSuffix(why, "1 ends at 00:30: then there is room") {
		t.Errorf("it says %q", why)
	}
	if r.drain(); len(r.plans) != plans {
		t.Error("foreseeing changes something")
	}
}
