package scheduler_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/hypervisor"
	"vjob/queue"
)

// waits has a vjob of a state wait that ran.
func waits(l *journal.Loaded, i int) {
	l.VJobs[i].State = cluster.Waiting
	l.Gangs[i] = gang.Record{VJob: l.VJobs[i].ID, Members: make([]gang.Member, len(l.VJobs[i].VMs))}
}

// Where there is room for two vjobs and power for one, power goes where room would: those that
// keep their room keep their power as well, and best-effort ones come last.
func TestPowerIsGivenAsRoomIs(t *testing.T) {
	const later = 5*time.Minute + time.Second
	for _, c := range []struct {
		name    string
		policy  queue.Policy
		state   func(l *journal.Loaded)
		at      time.Duration
		stopped cluster.VJobID // 0: none
		begun   cluster.VJobID // 0: none
	}{
		{"best-effort ones stop first", queue.FirstFit{}, func(l *journal.Loaded) { l.VJobs[0].BestEffort = true }, 2 * time.Second, 1, 0},
		{"also where none is suspended for others", queue.EASY{}, func(l *journal.Loaded) { l.VJobs[0].BestEffort = true }, 2 * time.Second, 1, 0},
		{"and start last", queue.FirstFit{}, func(l *journal.Loaded) {
			l.VJobs[0].BestEffort = true
			waits(l, 0)
			waits(l, 1)
		}, 2 * time.Second, 0, 2},
		{"the first in line takes it", queue.FirstFit{}, func(l *journal.Loaded) { waits(l, 0) }, 2 * time.Second, 2, 1},
		{"not from one that has just begun", queue.FirstFit{MinRun: 5 * time.Minute}, func(l *journal.Loaded) { waits(l, 0) }, 2 * time.Second, 0, 0},
		{"for as long as that counts", queue.FirstFit{MinRun: 5 * time.Minute}, func(l *journal.Loaded) { waits(l, 0) }, later, 2, 1},
		{"not from one that makes no room yet", queue.FirstFit{}, func(l *journal.Loaded) {
			l.VJobs[1].MinRun = cluster.Seconds(5 * time.Minute)
			waits(l, 0)
		}, 2 * time.Second, 0, 0},
		{"not from one that never does", queue.FirstFit{}, func(l *journal.Loaded) {
			l.VJobs[1].Preemption = cluster.Never
			waits(l, 0)
		}, later, 0, 0},
		{"one that never makes room stops last", queue.EASY{}, func(l *journal.Loaded) { l.VJobs[1].Preemption = cluster.Never }, 2 * time.Second, 1, 0},
		{"the one with the first turn goes on", queue.TimeSlices{Quantum: 5 * time.Minute}, func(l *journal.Loaded) { waits(l, 1) }, 2 * time.Second, 0, 0},
		{"until the next one has it", queue.TimeSlices{Quantum: 5 * time.Minute}, func(l *journal.Loaded) { waits(l, 1) }, later, 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := state2()
			for _, job := range l.VJobs {
				job.Submitted = epoch
			}
			c.state(&l)
			set := lit(&l)
			set.Policy = c.policy
			l.Budgets = journal.Budgets{Text: budget.Format([]budget.Budget{{Watts: idleAnd(&l, 60)}}), By: "root"} // each draws 50 W with its floor
			r := mount(t, set, l)
			r.drain()
			r.at(c.at)
			stopped, begun := r.suspended(), r.begun()
			if !slices.Equal(stopped, some(c.stopped)) || !slices.Equal(begun, some(c.begun)) {
				s := r.core.Snapshot()
				t.Errorf("%v are suspended, %v begin, want %v and %v\n1: %s\n2: %s", stopped, begun, some(c.stopped), some(c.begun), s.VJob(1).Reason, s.VJob(2).Reason)
			}
		})
	}
}

func some(id cluster.VJobID) []cluster.VJobID {
	if id == 0 {
		return nil
	}
	return []cluster.VJobID{id}
}

// A vjob for which there is no power where there is room for it leaves the power to others:
// until it has a place it is counted with what nodes draw in the mean.
func TestPowerThatIsMissingAtAPlaceIsGivenToOthers(t *testing.T) {
	for _, c := range []struct {
		name   string
		second func(l *journal.Loaded)
		begun  []cluster.VJobID
	}{
		{"one that waits behind it starts", func(l *journal.Loaded) { waits(l, 1) }, []cluster.VJobID{2}},
		{"one that runs behind it goes on", func(*journal.Loaded) {}, nil},
	} {
		l := state2()
		waits(&l, 0)
		c.second(&l)
		l.VJobs[0].Rules = "fence($VMS, b);"
		set := lit(&l)
		set.Energy.Power["b"] = energy.Power{Idle: 100, Full: 900}
		for i, job := range l.VJobs {
			job.MinShare, job.VMs = 1, job.VMs[:1]
			l.Gangs[i].Members = l.Gangs[i].Members[:1]
		}
		if l.VJobs[1].State == cluster.Running {
			l.Gangs[1].Members[0].Node = "a"
		}
		l.VJobs[1].Rules = "fence($VMS, a);"
		// A processor draws 50 W on a, 200 W on b, and 125 W in the mean.
		l.Budgets = journal.Budgets{Text: budget.Format([]budget.Budget{{Watts: idleAnd(&l, 150)}}), By: "root"}
		r := mount(t, set, l)
		r.drain()
		r.at(2 * time.Second)
		r.at(4 * time.Second)
		reason := r.core.Snapshot().VJob(1).Reason
		if got := r.begun(); len(r.suspended()) > 0 || !slices.Equal(got, c.begun) || !strings.Contains(reason, "more would be drawn") {
			t.Errorf("%s: %v begin, %v are suspended; vjob 1: %q, vjob 2: %q", c.name, got, r.suspended(), reason, r.core.Snapshot().VJob(2).Reason)
		}
	}
}

// A vjob that has to stop for a budget and cannot be saved is not tried again and again: it gets
// next to no CPU until there is room for its images.
func TestOneThatCannotBeSavedGetsNextToNoPower(t *testing.T) {
	l := state2()
	l.Budgets = journal.Budgets{Text: budget.Format([]budget.Budget{{Watts: idleAnd(&l, 60)}}), By: "root"}
	r := mount(t, lit(&l), l)
	full := r.store
	r.store = hypervisor.Store{Free: hypervisor.Spaces{"a": {}, "b": {}}}
	r.drain()
	for at := range 5 {
		r.at(time.Duration(at+1) * time.Second)
	}
	caps, reason := r.caps(), r.core.Snapshot().VJob(2).Reason
	if len(r.plans) > 0 || caps["2.0"] != hypervisor.MinCap || caps["1.0"] < 500 || !strings.Contains(reason, "it gets next to no CPU until it can") {
		t.Errorf("%d plans, caps %v; %q", len(r.plans), caps, reason)
	}
	r.store = full
	r.at(time.Minute)
	r.at(2 * time.Minute)
	if got := r.suspended(); !slices.Equal(got, some(2)) {
		t.Errorf("once there is room %v are suspended", got)
	}
}
