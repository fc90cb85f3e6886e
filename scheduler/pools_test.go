package scheduler_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/queue/pool"
	"vjob/scheduler"
)

// cpuPool is a pool with controls of CPU, as users write them.
func cpuPool(name, parent, reservation, limit string) pool.PoolStatement {
	return pool.PoolStatement{Name: name, Parent: parent, Statement: pool.Statement{CPU: pool.Stated{Reservation: reservation, Limit: limit}}}
}

// pooled are two nodes of four processors. Vjobs 1 and 2, with two VMs of one processor each, run there in pools a
// and b; vjob 3, in pool a, waits.
func pooled(t *testing.T) (*rig, journal.Loaded) {
	t.Helper()
	l := state2()
	waiting := &cluster.VJob{ID: 3, Name: "c", Owner: "u", VMs: slices.Clone(l.VJobs[0].VMs), Terms: &cluster.Terms{}}
	for rank := range waiting.VMs {
		waiting.VMs[rank].ID.VJob = 3
	}
	l.VJobs, l.Gangs = append(l.VJobs, waiting), append(l.Gangs, unplaced(3))
	for i, name := range []string{"a", "b", "a"} {
		l.VJobs[i].Pool = name
	}
	return mount(t, settings(), l), l
}

// unplaced is the gang of a vjob of two VMs that waits.
func unplaced(id cluster.VJobID) gang.Record {
	return gang.Record{VJob: id, Members: make([]gang.Member, 2)}
}

func (r *rig) set(p pool.PoolStatement) {
	r.t.Helper()
	if err := r.core.Pools.Set(r.now, p, "root"); err != nil {
		r.t.Fatal(err)
	}
}

// What is stated is written once, told once, and restored by the next start.
func TestPoolsAreStated(t *testing.T) {
	r, l := pooled(t)
	r.set(cpuPool("science", "", "4", ""))
	r.set(cpuPool("a", "science", "2", "6"))
	r.set(cpuPool("a", "science", "2", "6")) // again: nothing is written
	step := r.core.Flush(r.now).Step
	if step.Pools == nil || step.Pools.By != "root" || len(step.Events) != 2 {
		t.Fatalf("%+v, events %v", step.Pools, step.Events)
	}
	if want := "pool a is stated by root: in science, cpu reservation 2, cpu limit 6"; step.Events[1].Text != want || step.Events[1].Kind != journal.EventPools {
		t.Errorf("event %+v, want %q", step.Events[1], want)
	}
	l.Pools = *step.Pools
	again := mount(t, settings(), l)
	var names []string
	for _, p := range again.core.Snapshot().Pools.Pools {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "cluster science a" {
		t.Errorf("after a restart: %s", got)
	}

	// Pools of which the parent has gone from the settings are set aside, with an alarm.
	l.Pools.Text = `[{"name":"b","parent":"gone"}]`
	orphaned := mount(t, settings(), l)
	orphaned.drain()
	alarmed := slices.ContainsFunc(orphaned.events, func(e journal.Event) bool {
		return e.Kind == journal.EventAlarm && strings.Contains(e.Text, `"gone" is not the name of a pool`)
	})
	if n := len(orphaned.core.Snapshot().Pools.Pools); n != 1 || !alarmed {
		t.Errorf("%d pools, alarmed: %v", n, alarmed)
	}
}

// A refused change changes nothing and says why.
func TestPoolsAreRefused(t *testing.T) {
	r, _ := pooled(t)
	r.drain()
	r.core.Flush(r.now)
	r.set(cpuPool("outer", "", "", ""))
	r.set(cpuPool("a", "outer", "", "8"))
	r.set(cpuPool("b", "", "3", ""))
	before := len(r.core.Snapshot().Pools.Pools)
	for _, c := range []struct {
		name string
		do   func() error
		want string
		kind error
	}{
		{"reservation over limit", func() error { return r.core.Pools.Set(r.now, cpuPool("x", "", "3", "2"), "root") }, "cpu.reservation: 3 CPU reserved, the limit is 2 CPU", cluster.ErrInvalid},
		{"a percentage", func() error { return r.core.Pools.Set(r.now, cpuPool("x", "", "50%", ""), "root") }, `reservation: "50%" is not a number of processors`, cluster.ErrInvalid},
		{"a cycle", func() error { return r.core.Pools.Set(r.now, cpuPool("outer", "a", "", ""), "root") }, "is in itself", cluster.ErrInvalid},
		{"no parent", func() error { return r.core.Pools.Set(r.now, cpuPool("x", "nowhere", "", ""), "root") }, `parent: "nowhere" is not the name of a pool`, cluster.ErrInvalid},
		{"sums over the cluster", func() error { return r.core.Pools.Set(r.now, cpuPool("x", "", "6", ""), "root") }, "9 CPU would be reserved, the cluster has 8 CPU", cluster.ErrInvalid},
		{"the root", func() error { return r.core.Pools.Set(r.now, cpuPool("cluster", "", "", ""), "root") }, "a name other than", cluster.ErrInvalid},
		{"used", func() error { return r.core.Pools.Delete(r.now, "a", "root") }, "pool a: used by 2 live vjobs (1, 3): move them", cluster.ErrConflict},
		{"with pools in it", func() error { return r.core.Pools.Delete(r.now, "outer", "root") }, "pool outer: pools are in it: a", cluster.ErrConflict},
		{"unknown", func() error { return r.core.Pools.Delete(r.now, "x", "root") }, "not found", cluster.ErrNotFound},
		{"move to none", func() error { return r.core.Pools.Move(r.now, scheduler.PoolMove{VJob: 1, Pool: "auter"}) }, `pool: "auter" is not a pool, such as outer`, cluster.ErrInvalid},
		{"move none", func() error { return r.core.Pools.Move(r.now, scheduler.PoolMove{VJob: 9, Pool: "a"}) }, "not found", cluster.ErrNotFound},
	} {
		if err := c.do(); err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, c.kind) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	if n := len(r.core.Snapshot().Pools.Pools); n != before {
		t.Errorf("%d pools, there were %d", n, before)
	}
}

// A change that breaks the reservation of a vjob that runs is refused, and so is a move to a pool that cannot hold it.
func TestRunningReservationsAreKept(t *testing.T) {
	_, l := pooled(t)
	l.VJobs[0].CPUReservation = 1000 // of each of its two VMs
	r := mount(t, settings(), l)
	r.drain()
	r.set(cpuPool("a", "", "", "2"))
	r.set(cpuPool("b", "", "", "1"))
	if err := r.core.Pools.Set(r.now, cpuPool("a", "", "", "1"), "root"); !errors.Is(err, cluster.ErrConflict) ||
		!strings.Contains(err.Error(), "vjob 1 runs and could not be honoured: pool a: 0 of 1 CPU are reserved, 2 are needed") {
		t.Errorf("a limit below what runs: %v", err)
	}
	if err := r.core.Pools.Move(r.now, scheduler.PoolMove{VJob: 1, Pool: "b", By: "root"}); err == nil || !strings.Contains(err.Error(), "pool b cannot hold it: 2 CPU would be reserved in pool b, its limit is 1 CPU") {
		t.Errorf("a move to a pool that is too small: %v", err)
	}
	if err := r.core.Pools.Move(r.now, scheduler.PoolMove{VJob: 2, Pool: "a", By: "root"}); err != nil {
		t.Errorf("a move of a vjob that reserves no CPU: %v", err)
	}
	if moved := r.core.Flush(r.now).Step.Moved; len(moved) != 1 || moved[0] != (journal.PoolChange{ID: 2, Pool: "a"}) {
		t.Errorf("moved: %v", moved)
	}
	if got := r.core.Snapshot().VJob(2).Pool; got != "a" {
		t.Errorf("vjob 2 is in %q", got)
	}
}

// A vjob waits with the reason while its reservation does not fit beside the running ones. It starts once the pool has more.
func TestReservationsWait(t *testing.T) {
	_, l := pooled(t)
	l.VJobs[0].CPUReservation, l.VJobs[2].CPUReservation = 1000, 1000
	r := mount(t, settings(), l)
	r.set(cpuPool("a", "", "", "3"))
	r.set(cpuPool("b", "", "", ""))
	r.drain()
	if got, want := r.core.Snapshot().VJob(3).Reason, "pool a: 2 of 3 CPU are reserved, 2 are needed"; !strings.Contains(got, want) {
		t.Errorf("vjob 3: %q, want %q", got, want)
	}
	r.set(cpuPool("a", "", "", "4"))
	r.at(time.Second)
	if len(r.plans) != 1 || r.plans[0].Plan.Gangs[0].VJob != 3 {
		t.Errorf("plans after the limit was raised: %+v", r.plans)
	}
}

// Two vjobs that start at once do not reserve the same CPU.
func TestReservationsOfOneDecision(t *testing.T) {
	_, l := pooled(t)
	fourth := l.VJobs[2].Clone()
	fourth.ID, fourth.Name = 4, "d"
	for rank := range fourth.VMs {
		fourth.VMs[rank].ID.VJob = 4
	}
	l.VJobs, l.Gangs = append(l.VJobs, fourth), append(l.Gangs, unplaced(4))
	l.VJobs[2].CPUReservation, fourth.CPUReservation = 1000, 1000
	r := mount(t, settings(), l)
	r.set(cpuPool("a", "", "", "3"))
	r.drain()
	if len(r.plans) != 1 || len(r.plans[0].Plan.Gangs) != 1 || r.plans[0].Plan.Gangs[0].VJob != 3 {
		t.Errorf("plans: %+v", r.plans)
	}
	if got, want := r.core.Snapshot().VJob(4).Reason, "pool a: 2 of 3 CPU are reserved, 2 are needed"; !strings.Contains(got, want) {
		t.Errorf("vjob 4: %q, want %q", got, want)
	}
}

// The limit of a pool is divided among its four VMs, two of which are about to start, and becomes caps.
func TestLimitsBecomeCaps(t *testing.T) {
	r, l := pooled(t)
	for i := range l.VJobs[:2] {
		for rank := range l.VJobs[i].VMs {
			r.busy(l.Nodes[i].ID, l.VJobs[i].VMs[rank].ID, cluster.CPU)
		}
	}
	r.set(cpuPool("a", "", "", "1"))
	r.set(cpuPool("b", "", "", ""))
	r.drain()
	if want := map[string]cluster.MilliCPU{"1.0": 250, "1.1": 250}; !maps.Equal(r.caps(), want) {
		t.Errorf("caps %v, want %v", r.caps(), want)
	}
	s := r.core.Snapshot()
	if !s.Pools.Divided || s.VJob(1).Entitled[0].Given.CPU > s.VJob(2).Entitled[0].Given.CPU || s.VJob(1).Entitled[0].Cap != 250 {
		t.Errorf("entitled: %+v and %+v", s.VJob(1).Entitled, s.VJob(2).Entitled)
	}
	for _, p := range s.Counted() {
		if p.Name == "a" && (p.VJobs != 2 || p.VMs != 4 || p.Demand.CPU != cluster.CPU) {
			t.Errorf("pool a: %+v", p)
		}
	}
}

// A cluster without pools is not divided, and its step has nothing of them.
func TestNoPools(t *testing.T) {
	l := state2()
	r := mount(t, settings(), l)
	r.drain()
	if s := r.core.Snapshot(); s.Pools.Divided || s.VJob(1).Entitled != nil {
		t.Errorf("divided: %+v", s.Pools)
	}
	if !r.wake.IsZero() && r.wake.Sub(epoch) == 5*time.Minute {
		t.Error("another division is due")
	}
}

// The cluster is divided again after a while, though nothing happens.
func TestDividedAgain(t *testing.T) {
	_, l := pooled(t)
	set := settings()
	set.EntitleEvery = 90 * time.Second
	r := mount(t, set, l)
	r.set(cpuPool("a", "", "", "1"))
	r.drain()
	first := r.core.Snapshot().VJob(2).Entitled[0].Demand.CPU
	for rank := range l.VJobs[1].VMs {
		r.busy("b", l.VJobs[1].VMs[rank].ID, 250)
	}
	r.at(10 * time.Second)
	r.at(100 * time.Second)
	if got := r.core.Snapshot().VJob(2).Entitled[0].Demand.CPU; first != cluster.CPU || got != 250 {
		t.Errorf("demand %s, then %s; want 1 and 0.25", first, got)
	}
}

// busy lets the VM of a running vjob need so much.
func (r *rig) busy(node cluster.NodeID, vm cluster.VMID, cpu cluster.MilliCPU) {
	v := r.views[node]
	v.Copies = slices.Clone(v.Copies)
	for i := range v.Copies {
		if v.Copies[i].VM == vm {
			v.Copies[i].CPU = cpu
		}
	}
	r.views[node] = v
}
