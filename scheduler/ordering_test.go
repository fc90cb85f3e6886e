package scheduler_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/cluster/calendar"
	"vjob/ctxswitch/journal"
	"vjob/queue"
	"vjob/queue/multifactor"
	"vjob/queue/ordering"
	"vjob/queue/quota"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// arranged are settings with fair share and a quota on processors by user: so many, and
// more from 6:00 to 20:00. The tests begin at midnight.
func arranged(tb testing.TB, byNight, byDay int64) scheduler.Settings {
	tb.Helper()
	rules := ordering.DefaultSettings(queue.FirstFit{})
	rules.Rank.FairShare = 1000
	var when calendar.Window
	err := when.UnmarshalText([]byte("06:00-20:00"))
	day := calendar.Entry[quota.Limits]{Name: "day", When: when, Value: quota.Limits{quota.CPU: byDay}}
	limits, err2 := calendar.New(time.UTC, quota.Limits{quota.CPU: byNight}, day)
	book, err3 := quota.New([]quota.Quota{{Name: "cpus", User: quota.Each, Limits: limits}}, rules.Queues.Names())
	if err := errors.Join(err, err2, err3); err != nil {
		tb.Fatal(err)
	}
	rules.Quotas = book
	set := settings()
	set.Ordering = &rules
	return set
}

// Use is charged, and a user with past use comes after one without.
func TestFairShareOutlivesARestart(t *testing.T) {
	set := arranged(t, 1e6, 1e6)
	l := state(4, 6)
	for i, job := range l.VJobs[1:] { // the first one runs, and is u's
		job.Owner = []string{"u", "v"}[i%2]
	}
	standing := func(r *rig) string {
		var b strings.Builder
		for _, job := range l.VJobs[1:] {
			rank := r.core.Snapshot().VJobs.Rank(job.ID)
			fmt.Fprintf(&b, "%s %s: %s\n", job.ID, job.Owner, rank.String())
		}
		return b.String()
	}
	r := mount(t, set, l)
	r.drain()
	for minute := range 90 {
		r.at(time.Duration(minute) * time.Minute)
	}
	sum := int64(0)
	for _, c := range r.spent {
		if c.User != "u" {
			continue // they only boot
		}
		if c.Project != "" || c.Queue != "batch" || !c.Hour.Equal(c.Hour.Truncate(time.Hour)) {
			t.Errorf("charged %+v", c)
		}
		sum += c.CPUTime
	}
	// All but the last minute is written: four processors for 89 minutes.
	if most, least := int64(4*89*60_000), int64(4*88*60_000); sum > most || sum < least {
		t.Errorf("%d ms are charged, want from %d to %d", sum, least, most)
	}
	words := standing(r)
	// u alone has used something, and so just the share of all that have.
	if !strings.Contains(words, "2 u: priority 500 = 500 fair share\n3 v: priority 1000 = 1000 fair share\n") {
		t.Errorf("ranks:\n%s", words)
	}
	l.Charges = r.spent
	again := mount(t, set, l)
	again.drain()
	if after := standing(again); after != words {
		t.Errorf("ranks after a restart:\n%s, want\n%s", after, words)
	}
}

// A quota opens in the morning without any other event.
func TestQuotaOpens(t *testing.T) {
	r := mount(t, arranged(t, 6000, 16_000), state(4, 3))
	r.drain()
	why := func(id cluster.VJobID) string { return r.core.Snapshot().VJob(id).Reason }
	if len(r.plans) != 1 || len(r.plans[0].Plan.Gangs) != 1 {
		t.Fatalf("%d plans", len(r.plans))
	}
	if got, want := why(3), "waits: quota cpus of user u: 6 of 6 CPU are used, it needs 2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	r.at(6*time.Hour - time.Minute)
	if len(r.plans) != 1 {
		t.Errorf("%d plans before the morning", len(r.plans))
	}
	r.at(6 * time.Hour)
	if len(r.plans) != 2 || len(r.plans[1].Plan.Gangs) != 2 {
		t.Errorf("%d plans in the morning", len(r.plans))
	}
}

// What is supposed goes the way of what is submitted, and leaves no trace.
func TestSupposeOrder(t *testing.T) {
	l := state(4, 2)
	l.Charges = []journal.Charge{{User: "u", Queue: "batch", Hour: epoch, CPUTime: 1}}
	r := mount(t, arranged(t, 6000, 8000), l)
	r.drain()
	some := func(owner, in string, vms int) scheduler.WhatIf {
		s := admission.Submission{Owner: owner}
		s.Queue = in
		for range vms {
			s.VMs = append(s.VMs, cluster.VM{Reserved: cluster.Resources{CPU: cluster.CPU, Memory: 64}})
		}
		return scheduler.WhatIf{Submit: &s}
	}
	for name, c := range map[string]struct {
		supposed scheduler.WhatIf
		lots     string
		err      string
	}{
		"another quota":    {some("v", "", 2), "0 wait run", ""},
		"a quota is used":  {some("u", "", 1), "0 wait wait", ""},
		"larger than ever": {some("v", "batch", 9), "", `vms: 9 CPU requested, quota cpus of user v allows at most 8 CPU`},
		"no such queue":    {some("v", "night", 1), "", `queue: "night" is not one of batch`},
	} {
		f, err := r.suppose(c.supposed)
		if lots(f) != c.lots || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: %s, %v; want %s, %s", name, lots(f), err, c.lots, c.err)
		}
	}
}

// Use moves factors between decisions: the order is computed anew.
func TestDecidesWhenSharesMove(t *testing.T) {
	set := arranged(t, 1e6, 1e6)
	set.Policy = queue.FCFS{}
	rules := *set.Ordering
	rules.Rank.Weights = multifactor.Weights{FairShare: 1000}
	set.Ordering = &rules
	l := state(4, 12)
	for i, job := range l.VJobs[1:] {
		job.Owner = []string{"u", "v"}[i/6]
	}
	l.Charges = []journal.Charge{{User: "v", Queue: "batch", Hour: epoch, CPUTime: 60_000}}
	r := mount(t, set, l)
	r.drain()
	place := func(id cluster.VJobID) int { return r.core.Snapshot().VJob(id).Place }
	if place(12) < place(6) {
		t.Fatalf("v, with past use, is at %d, and u at %d", place(12), place(6))
	}
	for minute := range 10 {
		r.at(time.Duration(minute) * time.Minute)
	}
	if place(12) > place(6) {
		t.Errorf("v is at %d, and u, with more past use, at %d", place(12), place(6))
	}
}
