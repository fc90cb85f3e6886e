package scheduler_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/scheduler"
)

// Which walltimes users and administrators may set: 1 runs, 2 waits, both have an hour.
func TestSetWalltime(t *testing.T) {
	const hour = time.Hour
	for _, c := range []struct {
		name  string
		s     scheduler.WalltimeChange
		spoil func(*cluster.VJob)
		want  error
	}{
		{"more, while it waits", scheduler.WalltimeChange{VJob: 2, Walltime: 2 * hour}, nil, nil},
		{"no limit, while it waits", scheduler.WalltimeChange{VJob: 2}, nil, nil},
		{"less, while it waits", scheduler.WalltimeChange{VJob: 2, Walltime: 1}, nil, nil},
		{"less, while it runs", scheduler.WalltimeChange{VJob: 1, Walltime: hour / 2}, nil, nil},
		{"more, while it runs", scheduler.WalltimeChange{VJob: 1, Walltime: 2 * hour}, nil, cluster.ErrConflict},
		{"no limit, while it runs", scheduler.WalltimeChange{VJob: 1}, nil, cluster.ErrConflict},
		{"more, by an administrator", scheduler.WalltimeChange{VJob: 1, Walltime: 2 * hour, Admin: true}, nil, nil},
		{"unknown", scheduler.WalltimeChange{VJob: 9, Walltime: hour}, nil, cluster.ErrNotFound},
		{"a negative one", scheduler.WalltimeChange{VJob: 2, Walltime: -1}, nil, cluster.ErrInvalid},
		{"more than was reserved", scheduler.WalltimeChange{VJob: 2, Walltime: 2 * hour, Admin: true}, func(j *cluster.VJob) { j.Reservation = epoch.Add(hour) }, cluster.ErrConflict},
		{"no end to a reservation", scheduler.WalltimeChange{VJob: 2, Admin: true}, func(j *cluster.VJob) { j.Reservation = epoch.Add(hour) }, cluster.ErrConflict},
		{"one with alternatives", scheduler.WalltimeChange{VJob: 2, Walltime: 1}, func(j *cluster.VJob) { j.Shapes = make([]cluster.Shape, 2) }, cluster.ErrConflict},
	} {
		l := state(4, 1)
		for _, job := range l.VJobs {
			job.Walltime, job.Held = hour, job.ID == 2
			if c.spoil != nil {
				c.spoil(job)
			}
		}
		r := mount(t, settings(), l)
		r.drain()
		c.s.By = "ann"
		if err := r.core.VJobs.SetWalltime(r.now, c.s); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		step := r.core.Flush(r.now).Step
		if written := len(step.Spans) == 1 && step.Spans[0].Walltime == c.s.Walltime; written != (c.want == nil) {
			t.Errorf("%s: written: %+v", c.name, step.Spans)
		}
	}
}

// The new walltime is the one that counts.
func TestStretchedWalltimeEnds(t *testing.T) {
	l := state(4, 0)
	l.VJobs[0].Walltime = time.Minute
	r := mount(t, settings(), l)
	r.drain()
	if err := r.core.VJobs.SetWalltime(r.now, scheduler.WalltimeChange{VJob: 1, Walltime: 2 * time.Minute, Admin: true}); err != nil {
		t.Fatal(err)
	}
	r.at(119 * time.Second)
	if s := r.core.Snapshot().VJob(1); s.State != cluster.Running {
		t.Errorf("before its walltime it is %s", s.State)
	}
	if want := epoch.Add(2 * time.Minute); !r.wake.Equal(want) {
		t.Errorf("wakes at %s, want %s", r.wake, want)
	}
	r.at(2 * time.Minute)
	if s := r.core.Snapshot().VJob(1); s.State != cluster.Stopping {
		t.Errorf("at its walltime it is %s", s.State)
	}
}

// Where the settings say so, a vjob over its walltime is suspended and held; released
// without more time it is held again.
func TestOverdueIsHeld(t *testing.T) {
	set := settings()
	set.HoldOverdue = true
	l := state(4, 0)
	l.VJobs[0].Walltime = time.Minute
	r := mount(t, set, l)
	r.drain()
	for _, at := range []time.Duration{time.Minute, 2 * time.Minute} {
		r.at(at)
		s := r.core.Snapshot().VJob(1)
		if s.State == cluster.Stopping || !s.Held {
			t.Errorf("at %s it is %s, held %v: %s", at, s.State, s.Held, s.Reason)
		}
		if at == time.Minute {
			if err := r.core.VJobs.Order(r.now, 1, scheduler.OrderResume, "u"); err != nil {
				t.Fatal(err)
			}
		}
	}
	held := 0
	for _, e := range r.events {
		if strings.Contains(e.TextFor(""), "walltime is over") && !strings.Contains(e.Text, " is ") {
			held++
		}
	}
	if held != 2 {
		t.Errorf("it was held %d times, want 2", held)
	}
}
