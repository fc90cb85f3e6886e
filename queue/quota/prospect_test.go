package quota_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/cluster/calendar"
	"vjob/queue/quota"
)

// The parts of a vjob, and when their limits allow more starts.
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
		{Name: "hours", Within: time.Hour, Limits: calendar.Always(quota.Limits{quota.CPUTime: 1000 * 3_600_000})},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p := book.Forecast(noon, noon.AddDate(0, 0, 3), nil)
	job := func(id cluster.VJobID, user string, cpu cluster.MilliCPU) *quota.Job {
		return &quota.Job{ID: id, Association: quota.Association{User: user}, VMs: 1, Need: cluster.Resources{CPU: cpu}, Left: time.Hour, Ends: true}
	}
	for _, part := range p.Parts(job(1, "ann", 3000)) {
		part.Take(noon, 2*time.Hour, true)
	}
	for _, c := range []struct {
		user string
		cpu  cluster.MilliCPU
		want int // hours after noon; -1: never
	}{{"ann", 1000, 0}, {"ann", 2000, 2}, {"ann", 5000, 7}, {"ann", 9000, -1}, {"bob", 4000, 0}} {
		at, ok := noon, true
		for _, part := range p.Parts(job(2, c.user, c.cpu)) {
			start, possible := part.Earliest(noon, time.Hour, true)
			ok = ok && possible
			if start.After(at) {
				at = start
			}
		}
		if ok != (c.want >= 0) || ok && at.Sub(noon) != time.Duration(c.want)*time.Hour {
			t.Errorf("%s, %s CPU: after %s, %t; want %d hours", c.user, c.cpu, at.Sub(noon), ok, c.want)
		}
	}
	parts := p.Parts(job(3, "ann", 1000))
	if len(parts) != 3 {
		t.Fatalf("%d parts", len(parts))
	}
	if got, want := parts[1].Of.At(noon.Add(8*time.Hour)).Name, "quota cpus (night) of user ann: at most 8 CPU"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// consumer is a vjob of which the use is charged with time.
type consumer struct {
	job        quota.Job
	start, end time.Time
}

// at returns the tally of an instant: the past and the running vjobs.
func at(t time.Time, book *quota.Book, past *quota.Ledger, running []consumer) *quota.Tally {
	ledger := past.Clone()
	for _, c := range running {
		for from := c.start; from.Before(t) && from.Before(c.end); {
			next := from.Truncate(time.Hour).Add(time.Hour)
			for _, until := range []time.Time{t, c.end} {
				if until.Before(next) {
					next = until
				}
			}
			ledger.Charge(c.job.Association, from, int64(float64(c.job.Need.CPU)*next.Sub(from).Seconds()))
			from = next
		}
	}
	tally := book.Tally(t, ledger)
	for _, c := range running {
		if c.end.After(t) && !c.start.After(t) {
			job := c.job
			job.Left = c.end.Sub(t)
			tally.Count(&job)
		}
	}
	return tally
}

// The forecast for a vjob that waits for CPU time is the first minute at which the quota allows its
// start if all running vjobs use their whole walltimes.
func TestCPUTimeComesFree(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 8))
	noon := time.Date(2026, 11, 21, 12, 34, 0, 0, time.UTC)
	ann := quota.Association{User: "ann"}
	waits, hopeless := 0, 0
	for range 150 {
		within := time.Duration(8+rng.IntN(30)) * time.Hour
		limit := int64(5+rng.IntN(30)) * 3_600_000
		book, err := quota.New([]quota.Quota{{Name: "hours", Within: within, Limits: calendar.Always(quota.Limits{quota.CPUTime: limit})}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		past := &quota.Ledger{}
		for range rng.IntN(6) {
			past.Charge(ann, noon.Add(-time.Duration(rng.Int64N(int64(within)))), rng.Int64N(limit/3))
		}
		draw := func(id cluster.VJobID) quota.Job {
			return quota.Job{
				ID: id, Association: ann, VMs: 1, Need: cluster.Resources{CPU: cluster.MilliCPU(1000 * (1 + rng.IntN(4)))},
				Left: time.Duration(1+rng.IntN(7*60)) * time.Minute, Ends: true,
			}
		}
		prospect, running := book.Forecast(noon, noon.AddDate(0, 0, 7), past), []consumer(nil)
		for id := range cluster.VJobID(rng.IntN(4)) {
			c := consumer{job: draw(id + 1), start: noon}
			c.end = noon.Add(c.job.Left)
			running = append(running, c)
			for _, part := range prospect.Parts(&c.job) {
				part.Take(noon, c.job.Left, true)
			}
		}
		job := draw(9)
		want, known := noon, false
		for ; want.Before(noon.Add(2*within+8*time.Hour)) && !known; want = want.Add(time.Minute) {
			known = at(want, book, past, running).Refuses(&job) == ""
		}
		want = want.Add(-time.Minute)
		part := prospect.Parts(&job)[0]
		got, ok := part.Earliest(noon, job.Left, true)
		if ok != known || ok && !got.Equal(want) {
			t.Fatalf("%+v within %s, %+v run: foretold %s, %t; want %s, %t", job, within, running, got, ok, want, known)
		}
		switch {
		case !known:
			hopeless++
		case want.After(noon):
			waits++
		}
	}
	if waits < 25 || hopeless < 2 {
		t.Errorf("only %d had to wait, and %d for ever", waits, hopeless)
	}
}
