package scheduler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// hourly are prices by the hour from the epoch on.
func hourly(values ...float64) string {
	text := "time,EUR/kWh\n"
	for i, v := range values {
		text += fmt.Sprintf("%s,%v\n", epoch.Add(time.Duration(i)*time.Hour).Format(time.RFC3339), v)
	}
	return text
}

// flexible is a vjob of an hour on one processor that may start three hours late.
func flexible(id cluster.VJobID, at time.Time) *cluster.VJob {
	job := &cluster.VJob{ID: id, Owner: "u", Walltime: time.Hour, Submitted: at, Terms: &cluster.Terms{}}
	job.Flexible = cluster.Seconds(3 * time.Hour)
	job.VMs = []cluster.VM{{ID: cluster.VMID{VJob: id}, Reserved: cluster.Resources{CPU: 1000, Memory: 1024}}}
	return job
}

// started reports whether a plan has started a vjob.
func (r *rig) started(id cluster.VJobID) bool {
	for _, p := range r.plans {
		for _, g := range p.Plan.Gangs {
			if g.VJob == id && g.Kind == cluster.Boot {
				return true
			}
		}
	}
	return false
}

// A flexible vjob waits for the cheapest hour within its slack, says for what, is foreseen
// to start then, and does. Others do not wait for it, and it waits for nothing that saves
// too little.
func TestFlexibleVJobsWaitForTheCheapestHour(t *testing.T) {
	l := state2()
	set := lit(&l)
	set.Energy.ShiftSaves = 0.1
	r := mount(t, set, l)
	r.drain()
	if err := r.core.Power.SetPrices(r.now, hourly(10, 8, 2, 9, 0, 0), "root"); err != nil {
		t.Fatal(err)
	}
	rigid := flexible(4, r.now)
	rigid.Flexible = 0
	r.core.VJobs.Submitted(r.now, flexible(3, r.now), rigid)
	r.at(time.Second)
	if r.started(3) || !r.started(4) {
		t.Fatalf("started: 3 %v, 4 %v", r.started(3), r.started(4))
	}
	// A node of four processors draws 300 W when they are busy.
	const want = "waits: until 2026-01-01 02:00 UTC, when its energy costs 0.075 EUR instead of 0.375 at once (80 % less)"
	got := r.core.Snapshot().VJob(3).Reason
	if got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	answer, err := r.core.Forecast(r.now)
	if err != nil {
		t.Fatal(err)
	}
	for i, job := range answer().VJobs {
		if job.ID == 3 {
			if b := answer().Estimates[i]; !b.Start.Equal(epoch.Add(2*time.Hour)) || !b.End.Equal(epoch.Add(3*time.Hour)) || b.Why() != got {
				t.Errorf("foreseen from %s to %s: %s", b.Start, b.End, b.Why())
			}
		}
	}
	if r.at(110 * time.Minute); r.started(3) {
		t.Error("it has started too early")
	}
	if r.at(2*time.Hour + time.Second); !r.started(3) {
		t.Error("it has not started when it is cheapest")
	}
}

func TestWhoDoesNotWaitForAPrice(t *testing.T) {
	for name, change := range map[string]func(*cluster.VJob) (prices string){
		"no prices":          func(*cluster.VJob) string { return "" },
		"too little to save": func(*cluster.VJob) string { return hourly(10, 9.5, 9.5, 9.5, 9.5) },
		"an old price": func(j *cluster.VJob) string {
			j.Submitted = j.Submitted.Add(-4 * time.Hour)
			return hourly(10, 1, 1, 1, 1)
		},
		"a deadline":       func(j *cluster.VJob) string { j.Deadline = j.Submitted.Add(time.Hour); return hourly(10, 1, 1, 1, 1) },
		"no walltime":      func(j *cluster.VJob) string { j.Walltime = 0; return hourly(10, 1, 1, 1, 1) },
		"nothing is known": func(j *cluster.VJob) string { j.Walltime = 20 * time.Hour; return hourly(10, 1, 1, 1, 1) },
	} {
		l := state2()
		set := lit(&l)
		set.Energy.ShiftSaves = 0.1
		r := mount(t, set, l)
		job := flexible(3, r.now)
		if err := r.core.Power.SetPrices(r.now, change(job), "root"); err != nil {
			t.Fatal(err)
		}
		r.core.VJobs.Submitted(r.now, job)
		r.drain()
		if r.at(time.Second); !r.started(3) {
			t.Errorf("%s: it waits: %s", name, r.core.Snapshot().VJob(3).Reason)
		}
	}
}

// Prices are written down, survive a start, and what is wrong with them changes nothing.
func TestPricesAreKept(t *testing.T) {
	r := mount(t, settings(), journal.Loaded{Epoch: 1, NextOp: 1, NextPlan: 1})
	text := hourly(1, 2)
	if err := r.core.Power.SetPrices(r.now, text, "root"); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"x", hourly(1), text + "a,b\n"} {
		if err := r.core.Power.SetPrices(r.now, bad, "eve"); err == nil || !strings.Contains(err.Error(), "csv.") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if now := r.core.Snapshot().Prices; now.By != "root" || now.Series == nil {
		t.Errorf("then they are %+v", now)
	}
	step := r.core.Flush(r.now).Step
	if step.Prices == nil || step.Prices.Text != text || len(step.Events) == 0 || step.Events[len(step.Events)-1].Kind != journal.EventPrices {
		t.Errorf("%+v", step)
	}
	again := mount(t, settings(), journal.Loaded{Epoch: 2, NextOp: 1, NextPlan: 1, Prices: *step.Prices})
	if now := again.core.Snapshot().Prices; now.By != "root" || len(now.Series.Values()) != 2 {
		t.Errorf("after a start they are %+v", now)
	}
	if err := again.core.Power.SetPrices(r.now, "", "root"); err != nil || again.core.Snapshot().Prices.Series != nil {
		t.Errorf("%v", err)
	}
}
