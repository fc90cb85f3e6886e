package quota_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue/calendar"
	"vjob/queue/quota"
)

// What a vjob takes of the quotas that hold for it, and when they let more begin.
func TestProspect(t *testing.T) {
	var night calendar.Window
	if err := night.UnmarshalText([]byte("19:00-07:00")); err != nil {
		t.Fatal(err)
	}
	cpus, err := calendar.New(time.UTC, quota.Limits{quota.CPU: 4000}, calendar.Entry[quota.Limits]{
		Name: "night", When: night, Value: quota.Limits{quota.CPU: 8000, quota.VMs: 5},
	})
	if err != nil {
		t.Fatal(err)
	}
	book, err := quota.New([]quota.Quota{
		{Name: "cpus", User: quota.Each, Limits: cpus},
		{Name: "hours", Within: time.Hour, Limits: calendar.Always(quota.Limits{quota.CPUTime: 1})},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p := book.Prospect(noon, noon.AddDate(0, 0, 3))
	job := func(id cluster.VJobID, user string, cpu cluster.MilliCPU) *quota.Job {
		return &quota.Job{ID: id, Who: quota.Who{User: user}, VMs: 1, Need: cluster.Resources{CPU: cpu}, Left: time.Hour, Ends: true}
	}
	for _, part := range p.Parts(job(1, "ann", 3000)) {
		part.Of.Take(noon, 2*time.Hour, true, part.Amount)
	}
	for _, c := range []struct {
		user string
		cpu  cluster.MilliCPU
		want int // hours after noon; -1: never
	}{{"ann", 1000, 0}, {"ann", 2000, 2}, {"ann", 5000, 7}, {"ann", 9000, -1}, {"bob", 4000, 0}} {
		at, ok := noon, true
		for _, part := range p.Parts(job(2, c.user, c.cpu)) {
			start, possible := part.Of.Earliest(noon, time.Hour, true, part.Amount)
			if ok = ok && possible; start.After(at) {
				at = start
			}
		}
		if ok != (c.want >= 0) || ok && at.Sub(noon) != time.Duration(c.want)*time.Hour {
			t.Errorf("%s, %s CPU: after %s, %t; want %d hours", c.user, c.cpu, at.Sub(noon), ok, c.want)
		}
	}
	parts := p.Parts(job(3, "ann", 1000))
	if len(parts) != 2 {
		t.Fatalf("%d parts", len(parts))
	}
	if got, want := parts[1].Of.At(noon.Add(8*time.Hour)).Name, "quota cpus (night) of user ann: at most 8 CPU"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
