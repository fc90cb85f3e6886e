package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy/budget"
	"vjob/scheduler/admission"
)

// Two nodes that draw 100 W idle and 50 W for each processor, and two vjobs of two
// processors each that are content with half of them. By day there are 350 W, from 18:00 on
// there is less.
func dimmed(t *testing.T, evening string) *rig {
	t.Helper()
	l := state2()
	r := mount(t, lit(&l), l)
	r.drain()
	lines := []budget.Budget{{Watts: 350}}
	if evening != "" {
		lines = append(lines, budget.Budget{Watts: 240, When: evening})
	}
	if err := r.core.Power.SetBudgets(r.now, lines, "root"); err != nil {
		t.Fatal(err)
	}
	return r
}

func reserving(in, walltime time.Duration, cpus int, floor float64) *admission.Submission {
	s := &admission.Submission{Owner: "u", Walltime: walltime}
	s.MinShare = floor
	s.Reservation = epoch.Add(in)
	for range cpus {
		s.VMs = append(s.VMs, cluster.VM{Reserved: cluster.Resources{CPU: 1000, Memory: 512}})
	}
	return s
}

// A reservation is refused where a budget does not leave it the power that it needs, with
// figures and the earliest start; others that run do not count, for they can be stopped.
func TestReservationsWithinBudgets(t *testing.T) {
	r := dimmed(t, "18:00-20:00")
	for _, c := range []struct {
		name string
		s    *admission.Submission
		want string
	}{
		{"by day", reserving(time.Hour, time.Hour, 3, 0), ""},
		{"into the evening", reserving(17*time.Hour+30*time.Minute, time.Hour, 3, 0), "the power budget of the cluster is 240 W (18:00-20:00): idle nodes draw 200 W, and it draws 150 W with 100 % of its CPU; the earliest start is 20:00"},
		{"with less", reserving(17*time.Hour+30*time.Minute, time.Hour, 3, 0.25), ""},
		{"never", reserving(time.Hour, time.Hour, 4, 0), "the power budget of the cluster is 350 W: idle nodes draw 200 W, and it draws 200 W with 100 % of its CPU; "},
	} {
		err := r.core.Admit(r.now, c.s)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	first := reserving(time.Hour, 2*time.Hour, 2, 0).VJob(3)
	r.core.VJobs.Submitted(r.now, first)
	r.at(time.Second)
	err := r.core.Admit(r.now, reserving(2*time.Hour, time.Hour, 2, 0))
	if err == nil || !strings.Contains(err.Error(), "idle nodes draw 200 W, 100 W go to reservation 3, and it draws 100 W with 100 % of its CPU; the earliest start is 03:00") {
		t.Errorf("beside another: %v", err)
	}
}

// When a reservation begins, others are given less or have to stop for the power that it
// needs, whatever their places in the queue.
func TestReservationsHaveTheirPower(t *testing.T) {
	r := dimmed(t, "")
	job := reserving(time.Hour, time.Hour, 3, 0).VJob(3)
	r.core.VJobs.Submitted(r.now, job)
	r.at(time.Hour - time.Second)
	if got := r.suspended(); len(got) > 0 {
		t.Fatalf("%v are suspended before", got)
	}
	r.at(time.Hour)
	if got := r.suspended(); len(got) != 2 {
		t.Errorf("%v are suspended", got)
	}
	boots := 0
	for _, p := range r.plans {
		for _, g := range p.Plan.Gangs {
			if g.VJob == 3 && g.Kind == cluster.Boot {
				boots++
			}
		}
	}
	if boots != 1 {
		t.Errorf("it is booted %d times", boots)
	}
}

// The forecast starts vjobs that wait for power when a budget leaves it.
func TestForeseePower(t *testing.T) {
	r := dimmed(t, "00:00-06:00")
	job := reserving(0, time.Hour, 2, 0.5).VJob(3)
	job.Reservation = time.Time{}
	r.core.VJobs.Submitted(r.now, job)
	r.at(time.Second)
	answer, err := r.core.Forecast(r.now)
	if err != nil {
		t.Fatal(err)
	}
	bar := answer().Estimates[2]
	const why = "waits: the power budget of the cluster is 240 W (00:00-06:00), with it 10 W more would be drawn; from 06:00 on it is within the power budget of the cluster, 350 W"
	if !bar.Start.Equal(epoch.Add(6*time.Hour)) || bar.Why() != why {
		t.Errorf("%s: %s", bar.Start, bar.Why())
	}
}
