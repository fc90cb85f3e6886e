package scheduler_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/queue"
	"vjob/scheduler/admission"
)

// racks is state2 with the node a in rack r1 and b in r2, and a vjob that waits for two
// processors.
func racks(t *testing.T) *rig {
	t.Helper()
	l := state2()
	set := lit(&l)
	for i := range l.Nodes {
		l.Nodes[i].Labels = map[string]string{"rack": []string{"r1", "r2"}[i], "pdu": "p1"}
	}
	return mount(t, set, l)
}

// idler is a vjob that asks for processors, one for each VM.
func idler(id cluster.VJobID, cpus int) *cluster.VJob {
	job := &cluster.VJob{ID: id, Owner: "u", Terms: &cluster.Terms{}}
	for rank := range cpus {
		job.VMs = append(job.VMs, cluster.VM{ID: cluster.VMID{VJob: id, Rank: rank}, Reserved: cluster.Resources{CPU: 1000, Memory: 512}})
	}
	return job
}

// booted are the nodes on which plans boot the VMs of a vjob.
func (r *rig) booted(id cluster.VJobID) (nodes []cluster.NodeID) {
	for _, p := range r.plans {
		for _, a := range p.Plan.Actions {
			if a.VM.VJob == id && a.Kind == cluster.Boot {
				nodes = append(nodes, a.To)
			}
		}
	}
	return nodes
}

// Where one rack has used its budget up, waiting vjobs start in the other one.
func TestPlacesKnowTheBudgetsOfGroups(t *testing.T) {
	for _, c := range []struct {
		name   string
		r1, r2 energy.Watts
		want   []cluster.NodeID
	}{
		{"the first is full", 150, 300, []cluster.NodeID{"b", "b"}},
		{"the second is full", 300, 150, []cluster.NodeID{"a", "a"}},
		{"one for each", 200, 200, []cluster.NodeID{"a", "b"}},
		{"both are full", 199, 199, nil},
	} {
		r := racks(t)
		lines := []budget.Budget{
			{Watts: c.r1, Group: budget.Group{Label: "rack", Value: "r1"}}, {Watts: c.r2, Group: budget.Group{Label: "rack", Value: "r2"}},
		}
		if err := r.core.Power.SetBudgets(r.now, lines, "root"); err != nil {
			t.Fatal(err)
		}
		r.core.VJobs.Submitted(r.now, idler(3, 2))
		r.at(time.Second)
		got := r.booted(3)
		if len(got) != len(c.want) || len(got) > 0 && (got[0] != c.want[0] || got[1] != c.want[1]) {
			t.Errorf("%s: booted on %v, want %v: %s", c.name, got, c.want, r.core.Snapshot().VJob(3).Reason)
		}
	}
}

// lines are budgets of the groups that are named, each with a window that may be empty.
func lines(t *testing.T, list ...string) (lines []budget.Budget) {
	t.Helper()
	for i := 0; i < len(list); i += 3 {
		group, err := budget.ParseGroup(list[i])
		watts, bad := energy.ParseWatts(list[i+1])
		if err != nil || bad != nil {
			t.Fatal(err, bad)
		}
		lines = append(lines, budget.Budget{Group: group, Watts: watts, When: list[i+2]})
	}
	return lines
}

// A reservation is refused where budgets of groups leave it no places in its time, with
// figures and the earliest start: whether they lie beside each other, in each other, or
// hold only where its rules let it be.
func TestReservationsWithinBudgetsOfGroups(t *testing.T) {
	inFence := reserving(17*time.Hour+30*time.Minute, time.Hour, 2, 0)
	inFence.Rules = "fence($VMS, a);"
	for _, c := range []struct {
		name  string
		lines []string
		s     *admission.Submission
		want  string
	}{
		{"by day", []string{"rack=r1", "100W", "18:00-20:00", "rack=r2", "150W", "18:00-20:00"}, reserving(time.Hour, time.Hour, 2, 0), ""},
		{
			"into the evening",
			[]string{"rack=r1", "100W", "18:00-20:00", "rack=r2", "150W", "18:00-20:00"},
			reserving(17*time.Hour+30*time.Minute, time.Hour, 2, 0),
			"at 18:00 the power budgets leave it no places: rack=r1 has 0 W of 100 W beside idle nodes, rack=r2 has 50 W of 150 W beside idle nodes; it draws 100 W more with 100 % of its CPU; the earliest start is 20:00",
		},
		{"with less", []string{"rack=r1", "100W", "18:00-20:00", "rack=r2", "150W", "18:00-20:00"}, reserving(17*time.Hour+30*time.Minute, time.Hour, 2, 0.5), ""},
		{"in the other rack", []string{"rack=r1", "100W", "18:00-20:00"}, reserving(17*time.Hour+30*time.Minute, time.Hour, 2, 0), ""},
		{"fenced into it", []string{"rack=r1", "100W", "18:00-20:00"}, inFence, "at 18:00 the power budgets leave it no places: rack=r1 has 0 W of 100 W"},
		{"nested", []string{"pdu=p1", "299W", "", "rack=r1", "250W", ""}, reserving(time.Hour, time.Hour, 2, 0), "pdu=p1 has 99 W of 299 W beside idle nodes, rack=r1 has 150 W of 250 W"},
		{"nested, with less", []string{"pdu=p1", "299W", "", "rack=r1", "250W", ""}, reserving(time.Hour, time.Hour, 2, 0.9), ""},
	} {
		r := racks(t)
		if err := r.core.Power.SetBudgets(r.now, lines(t, c.lines...), "root"); err != nil {
			t.Fatal(err)
		}
		err := r.core.Admit(r.now, c.s)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// A reservation gets its power when it begins: other vjobs move to where there is power, or stop.
// vjobs that never stop are counted before it is confirmed.
func TestReservationsHaveTheirPowerInGroups(t *testing.T) {
	for _, c := range []struct {
		policy   queue.Policy
		r2       string
		refused  string
		suspends int
	}{
		{queue.FirstFit{}, "200W", "", 0},
		{queue.FirstFit{}, "150W", "", 1},
		{queue.EASY{}, "200W", "", 0},
		{queue.EASY{}, "150W", "beside vjobs 1, 2 it draws 100 W more", 0},
	} {
		l := state2()
		set := lit(&l)
		set.Policy = c.policy
		for i := range l.Nodes {
			l.Nodes[i].Labels = map[string]string{"rack": []string{"r1", "r2"}[i]}
		}
		r := mount(t, set, l)
		r.drain()
		if err := r.core.Power.SetBudgets(r.now, lines(t, "rack=r1", "200W", "", "rack=r2", c.r2, ""), "root"); err != nil {
			t.Fatal(err)
		}
		r.at(time.Second)
		job := reserving(time.Hour, time.Hour, 2, 0)
		job.Rules = "fence($VMS, a);"
		err := r.core.Admit(r.now, job)
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s, %s: %v, want %q", c.policy.Name(), c.r2, err, c.refused)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		r.core.VJobs.Submitted(r.now, job.VJob(3))
		r.at(time.Hour)
		got, stopped := r.booted(3), r.suspended()
		if !slices.Equal(got, []cluster.NodeID{"a", "a"}) || len(stopped) != c.suspends {
			t.Errorf("%s, %s: it is booted on %v, %v are suspended: %s", c.policy.Name(), c.r2, got, stopped, r.core.Snapshot().VJob(3).Reason)
		}
	}
}

// What a budget of a group stops is suspended before it begins, and foreseen, also where
// groups lie in each other or beside each other; others are left alone.
func TestBudgetsOfGroupsAreForeseen(t *testing.T) {
	at := epoch.Add(time.Hour).UTC()
	window := at.Format("15:04") + "-" + at.Add(time.Hour).Format("15:04")
	for _, c := range []struct {
		name  string
		lines []string
		stops []cluster.VJobID
	}{
		{"one rack", []string{"rack=r2", "140W", window}, []cluster.VJobID{2}},
		{"the other", []string{"rack=r1", "140W", window}, []cluster.VJobID{1}},
		{"both", []string{"rack=r1", "140W", window, "rack=r2", "149W", window}, []cluster.VJobID{1, 2}},
		{"a rack in a PDU", []string{"pdu=p1", "299W", window, "rack=r1", "150W", window}, []cluster.VJobID{2}},
		{"a PDU with enough", []string{"pdu=p1", "300W", window, "rack=r1", "150W", window}, nil},
	} {
		r := racks(t)
		r.drain()
		if err := r.core.Power.SetBudgets(r.now, lines(t, c.lines...), "root"); err != nil {
			t.Fatal(err)
		}
		r.at(time.Second)
		change := r.core.Snapshot().Budgets.Changes[0]
		if !slices.Equal(change.Stops, c.stops) {
			t.Errorf("%s: %v are to stop, want %v", c.name, change.Stops, c.stops)
			continue
		}
		if r.at(change.From.Sub(epoch) - time.Second); len(r.suspended()) > 0 && len(c.stops) > 0 {
			t.Errorf("%s: %v are suspended too soon", c.name, r.suspended())
		}
		r.at(change.From.Sub(epoch) + time.Second)
		if got := r.suspended(); !slices.Equal(got, c.stops) {
			t.Errorf("%s: %v are suspended, want %v", c.name, got, c.stops)
		}
	}
}

// The forecast starts vjobs that wait for group power when the budgets leave it.
func TestForeseePowerOfGroups(t *testing.T) {
	for _, c := range []struct {
		lines []string
		start time.Duration
		why   string
	}{
		{
			[]string{"rack=r1", "190W", "00:00-06:00", "rack=r2", "190W", "00:00-05:00"},
			5 * time.Hour,
			"from 05:00 on it is within the power budget of rack=r1, 190 W (00:00-06:00)",
		},
		{[]string{"rack=r1", "150W", "00:00-06:00", "rack=r2", "150W", "00:00-06:00"}, 6 * time.Hour, "from 06:00 on it is within the power budgets"},
		{
			[]string{"pdu=p1", "290W", "00:00-06:00", "rack=r1", "160W", ""},
			6 * time.Hour,
			"from 06:00 on it is within the power budget of rack=r1, 160 W",
		},
	} {
		r := racks(t)
		r.drain()
		if err := r.core.Power.SetBudgets(r.now, lines(t, c.lines...), "root"); err != nil {
			t.Fatal(err)
		}
		job := idler(3, 2)
		job.Walltime = time.Hour
		r.core.VJobs.Submitted(r.now, job)
		r.at(time.Second)
		answer, err := r.core.Forecast(r.now)
		if err != nil {
			t.Fatal(err)
		}
		if bar := answer().Estimates[2]; !bar.Start.Equal(epoch.Add(c.start)) || !strings.HasSuffix(bar.Why(), c.why) {
			t.Errorf("%v: at %s: %s", c.lines, bar.Start, bar.Why())
		}
	}
}
