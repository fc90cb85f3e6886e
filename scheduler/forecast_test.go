package scheduler_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/cluster/calendar"
	"vjob/ctxswitch/journal"
	"vjob/queue"
	"vjob/queue/ordering"
	"vjob/queue/quota"
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
	if _, err := r.core.Forecast(r.now); !errors.Is(err, cluster.ErrUnavailable) {
		t.Errorf("before the nodes were looked at: %v", err)
	}
	r.drain()
	for id := cluster.VJobID(2); id <= 4; id++ {
		job := &cluster.VJob{ID: id, Owner: "u", Walltime: time.Hour, Held: id == 3, Submitted: r.now, Terms: &cluster.Terms{}}
		for rank := range 4 {
			job.VMs = append(job.VMs, cluster.VM{ID: cluster.VMID{VJob: id, Rank: rank}, Reserved: cluster.Resources{CPU: 4000, Memory: 1024}})
		}
		r.core.VJobs.Submitted(r.now, job)
	}
	r.at(time.Second)
	plans := len(r.plans)
	answer, err := r.core.Forecast(r.now)
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
		if got := at(f.Estimates[i].Start) + " " + at(f.Estimates[i].End); got != want || f.VJobs[i].ID != cluster.VJobID(i+1) {
			t.Errorf("vjob %s: %s, want %s: %s", f.VJobs[i].ID, got, want, f.Estimates[i].Why())
		}
	}
	if why := f.Estimates[1].Why(); !strings.HasSuffix(why, "1 ends at 00:30: then there is room") {
		t.Errorf("it says %q", why)
	}
	if r.drain(); len(r.plans) != plans {
		t.Error("foreseeing changes something")
	}
}

// Of two queues one is strict: its vjobs keep their order in the forecast, and those of the
// other queue fill the gaps.
func TestForeseeStrictQueue(t *testing.T) {
	list, err := ordering.NewQueues([]ordering.Queue{
		{Name: "strict", Priority: 10, Policy: queue.FCFS{}}, {Name: "filler", Policy: queue.FirstFit{}},
	}, "strict")
	if err != nil {
		t.Fatal(err)
	}
	set, l := settings(), state(8, 0)
	rules := ordering.DefaultSettings(queue.FCFS{})
	rules.Queues = list
	set.Policy, set.Ordering = rules.Policy(), &rules
	l.VJobs[0].Walltime, l.VJobs[1].Walltime = 30*time.Minute, time.Hour
	r := mount(t, set, l)
	r.drain()
	for i, c := range []struct {
		queue    string
		vms      int
		walltime time.Duration
	}{{"strict", 32, time.Hour}, {"strict", 4, 20 * time.Minute}, {"filler", 26, 20 * time.Minute}} {
		job := &cluster.VJob{ID: cluster.VJobID(i + 3), Owner: "u", Walltime: c.walltime, Submitted: r.now, Terms: &cluster.Terms{}}
		job.Queue = c.queue
		for rank := range c.vms {
			job.VMs = append(job.VMs, cluster.VM{ID: cluster.VMID{VJob: job.ID, Rank: rank}, Reserved: cluster.Resources{CPU: cluster.CPU, Memory: 256}})
		}
		r.core.VJobs.Submitted(r.now, job)
	}
	r.at(time.Second)
	answer, err := r.core.Forecast(r.now)
	if err != nil {
		t.Fatal(err)
	}
	f := answer()
	for i, want := range []time.Duration{0, 0, time.Hour, 2 * time.Hour, 30 * time.Minute} {
		if got := f.Estimates[i].Start.Sub(epoch).Round(time.Minute); got != want {
			t.Errorf("vjob %s starts after %s, want %s: %s", f.VJobs[i].ID, got, want, f.Estimates[i].Why())
		}
	}
}

// Six CPU-hours a day, of which three were used twenty hours ago, and vjob 1 may still use
// two: a vjob of four waits until the three are a day old.
func TestForeseeCPUTime(t *testing.T) {
	set := settings()
	set.Policy = queue.EASY{}
	rules := ordering.DefaultSettings(set.Policy)
	book, err := quota.New([]quota.Quota{{
		Name: "hours", User: quota.Each, Within: 24 * time.Hour, Limits: calendar.Always(quota.Limits{quota.CPUTime: 6 * 3_600_000}),
	}}, rules.Queues.Names())
	if err != nil {
		t.Fatal(err)
	}
	rules.Quotas, set.Ordering = book, &rules
	l := state(4, 0)
	l.VJobs[0].Walltime = time.Hour
	l.Ran = map[cluster.VJobID]time.Duration{1: 30 * time.Minute}
	l.Charges = []journal.Charge{{User: l.VJobs[0].Owner, Queue: "batch", Hour: epoch.Add(-20 * time.Hour), CPUTime: 3 * 3_600_000}}
	r := mount(t, set, l)
	r.drain()
	job := &cluster.VJob{ID: 2, Owner: l.VJobs[0].Owner, Walltime: time.Hour, Submitted: r.now, Terms: &cluster.Terms{}}
	job.VMs = []cluster.VM{{ID: cluster.VMID{VJob: 2}, Reserved: cluster.Resources{CPU: 4000, Memory: 1024}}}
	r.core.VJobs.Submitted(r.now, job)
	r.at(time.Second)
	answer, err := r.core.Forecast(r.now)
	if err != nil {
		t.Fatal(err)
	}
	bar := answer().Estimates[1]
	const why = "waits: quota hours of user u: 5 of 6 CPU-hours are used (2 of them promised to what runs), it needs 4; 3 come free at 05:00; " +
		"from 05:00 on it is within quota hours of user u: at most 6 CPU-hours"
	if want := epoch.Add(5 * time.Hour); !bar.Start.Equal(want) || bar.Why() != why {
		t.Errorf("%s: %s", bar.Start, bar.Why())
	}
}

// The forecast tells users why a vjob leaves without naming vjobs of others.
func TestForeseeDiscreetly(t *testing.T) {
	l := crowd()
	leaving := slices.IndexFunc(l.VJobs, func(job *cluster.VJob) bool { return job.State == cluster.Suspending })
	l.VJobs[leaving].Cause = &cluster.Cause{Kind: cluster.CausePreempted, VJobs: []cluster.VJobRef{{ID: 9, Name: "secret", Owner: "alice"}}}
	r := mount(t, settings(), l)
	r.drain()
	answer, err := r.core.Forecast(r.now)
	if err != nil {
		t.Fatal(err)
	}
	bar := answer().Estimates[leaving]
	if !strings.Contains(bar.Why(), "9 secret (alice)") || strings.Contains(bar.Discreet(), "secret") || len(bar.Named()) != 1 {
		t.Errorf("%+v", bar)
	}
}
