package scheduler_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/hypervisor"
	"vjob/scheduler"
)

// lit are settings in which every node draws 100 W idle and 300 W under full load.
func lit(l *journal.Loaded) scheduler.Settings {
	set := settings()
	set.Energy.Power = map[cluster.NodeID]energy.Power{}
	for i := range l.Nodes {
		l.Nodes[i].Labels = map[string]string{"rack": "r1"}
		set.Energy.Power[l.Nodes[i].ID] = energy.Power{Idle: 100, Full: 300}
	}
	return set
}

// idleAnd is what the nodes draw idle, and so much more.
func idleAnd(l *journal.Loaded, more energy.Watts) energy.Watts {
	return 100*energy.Watts(len(l.Nodes)) + more
}

// state2 is two nodes of four processors, each with a running vjob of two VMs of one
// processor; floors are half.
func state2() journal.Loaded {
	l := journal.Loaded{Epoch: 1, NextOp: 1, NextPlan: 1}
	for i, id := range []cluster.NodeID{"a", "b"} {
		l.Nodes = append(l.Nodes, cluster.Node{ID: id, Capacity: cluster.Resources{CPU: 4000, Memory: 8192}})
		job := &cluster.VJob{ID: cluster.VJobID(i + 1), Name: string(id), Owner: "u", State: cluster.Running, Terms: &cluster.Terms{}}
		job.MinShare = 0.5
		rec := gang.Record{VJob: job.ID, Phase: gang.Active, Since: epoch, Incarnation: 1, Generation: 1}
		for rank := range 2 {
			job.VMs = append(job.VMs, cluster.VM{
				ID: cluster.VMID{VJob: job.ID, Rank: rank}, Reserved: cluster.Resources{CPU: 1000, Memory: 1024},
			})
			rec.Members = append(rec.Members, gang.Member{Node: id})
		}
		l.VJobs, l.Gangs = append(l.VJobs, job), append(l.Gangs, rec)
	}
	return l
}

// caps are the last ones that were asked for, by VM, of those that ever had one.
func (r *rig) caps() map[string]cluster.MilliCPU {
	list := map[string]cluster.MilliCPU{}
	for _, c := range r.calls {
		if _, had := list[c.VM.String()]; c.Verb == hypervisor.Tune && (had || c.Cap > 0) {
			list[c.VM.String()] = c.Cap
		}
	}
	return list
}

// suspended are the vjobs that plans suspend.
func (r *rig) suspended() (ids []cluster.VJobID) {
	for _, p := range r.plans {
		for _, g := range p.Plan.Gangs {
			if g.Kind == cluster.Suspend {
				ids = append(ids, g.VJob)
			}
		}
	}
	return ids
}

// A budget first takes CPU away, as far as the floors; then the last in the queue has to
// stop, and gets next to nothing until it has.
func TestBudgetsCapThenSuspend(t *testing.T) {
	for _, c := range []struct {
		more      energy.Watts // beside what is drawn idle
		caps      cluster.MilliCPU
		suspended int
	}{{400, 1000, 0}, {150, 750, 0}, {100, 500, 0}, {99, 990, 1}, {50, 500, 1}, {10, 10, 2}} {
		l := state2()
		r := mount(t, lit(&l), l)
		r.drain()
		if len(r.caps()) > 0 {
			t.Fatalf("without a budget there are caps: %v", r.caps())
		}
		if err := r.core.Power.SetBudgets(r.now, []budget.Budget{{Watts: idleAnd(&l, c.more)}}, "root"); err != nil {
			t.Fatal(err)
		}
		r.at(time.Second)
		if got := r.caps()["1.0"]; got != c.caps {
			t.Errorf("%s: vjob 1 is capped at %s, want %s", c.more, got, c.caps)
		}
		if got := r.suspended(); len(got) != c.suspended || c.suspended == 1 && got[0] != 2 {
			t.Errorf("%s: %v are suspended, want %d", c.more, got, c.suspended)
		}
		if c.suspended > 0 && r.caps()["2.1"] != hypervisor.MinCap {
			t.Errorf("%s: one that has to stop is capped at %s", c.more, r.caps()["2.1"])
		}
	}
}

// Less than nodes draw that are off is no budget, and nothing is changed by it.
func TestBudgetBelowStandby(t *testing.T) {
	l := state2()
	set := lit(&l)
	for id, p := range set.Energy.Power {
		p.Standby = 8
		set.Energy.Power[id] = p
	}
	r := mount(t, set, l)
	for watts, ok := range map[energy.Watts]bool{16: true, 15.9: false, 0: false} {
		err := r.core.Power.CheckBudgets([]budget.Budget{{Watts: watts}})
		if ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "budgets[0].watts") {
			t.Errorf("%s: %v", watts, err)
		}
	}
}

// What a budget that is to come stops is suspended before it begins, and known before.
func TestBudgetsAreForeseen(t *testing.T) {
	l := state2()
	r := mount(t, lit(&l), l)
	r.drain()
	at := epoch.Add(time.Hour).UTC()
	err := r.core.Power.SetBudgets(r.now, []budget.Budget{{Watts: idleAnd(&l, 60), When: at.Format("15:04") + "-" + at.Add(time.Hour).Format("15:04")}}, "root")
	if err != nil {
		t.Fatal(err)
	}
	r.at(time.Second)
	changes := r.core.Snapshot().Budgets.Changes
	if len(changes) < 2 || !changes[0].At.Equal(at.Truncate(time.Minute)) || len(changes[0].Stops) != 1 || changes[0].Stops[0] != 2 {
		t.Fatalf("foreseen: %+v", changes)
	}
	r.at(changes[0].From.Sub(epoch) - time.Second)
	if got := r.suspended(); len(got) > 0 {
		t.Errorf("%v are suspended too early", got)
	}
	r.at(changes[0].From.Sub(epoch))
	if got := r.suspended(); len(got) != 1 || got[0] != 2 {
		t.Errorf("%v are suspended, want 2", got)
	}
	if lead := changes[0].At.Sub(changes[0].From); lead < time.Minute {
		t.Errorf("only %s before", lead)
	}
}

// Changes of budgets beyond the look-ahead do not count yet.
func TestLookaheadOfBudgets(t *testing.T) {
	for lookahead, want := range map[time.Duration]int{59 * time.Minute: 0, 61 * time.Minute: 1, 0: 14} {
		l := state2()
		set := lit(&l)
		set.Lookahead = lookahead
		r := mount(t, set, l)
		r.drain()
		at := epoch.Add(time.Hour).UTC()
		err := r.core.Power.SetBudgets(r.now, []budget.Budget{{Watts: idleAnd(&l, 60), When: at.Format("15:04") + "-" + at.Add(time.Hour).Format("15:04")}}, "root")
		if err != nil {
			t.Fatal(err)
		}
		r.at(time.Second)
		if got := r.core.Snapshot().Budgets.Changes; len(got) != want {
			t.Errorf("look-ahead %s: %d changes, want %d", lookahead, len(got), want)
		}
	}
}

// A group has a budget of its own; without budgets the caps are lifted.
func TestBudgetsOfGroups(t *testing.T) {
	l := state2()
	set := lit(&l)
	l.Nodes[1].Labels = map[string]string{"rack": "r2"}
	r := mount(t, set, l)
	r.drain()
	group, _ := budget.ParseGroup("rack=r2")
	if err := r.core.Power.SetBudgets(r.now, []budget.Budget{{Watts: 160, Group: group}}, "root"); err != nil {
		t.Fatal(err)
	}
	r.at(time.Second)
	if c := r.caps(); c["1.0"] != 1000 || c["2.0"] != 600 {
		t.Errorf("caps: %v", c)
	}
	for id, v := range r.views {
		for i := range v.Copies {
			v.Copies[i].Cap = r.caps()[v.Copies[i].VM.String()]
		}
		r.views[id] = v
	}
	for _, c := range r.calls {
		r.core.Replied(r.now, execute.Reply{Op: c.Op, Began: r.now, Ended: r.now})
	}
	r.at(2 * time.Second)
	if err := r.core.Power.SetBudgets(r.now, nil, "root"); err != nil {
		t.Fatal(err)
	}
	r.at(10 * time.Second)
	if c := r.caps(); c["1.0"] != 0 || c["2.0"] != 0 {
		t.Errorf("caps without a budget: %v", c)
	}
}

// Invalid budgets are rejected and change nothing; a start restores the stated ones.
func TestBudgetsAreChecked(t *testing.T) {
	l := state2()
	set := lit(&l)
	r := mount(t, set, l)
	for want, lines := range map[string][]budget.Budget{
		"budgets[0].group": {{Watts: 100, Group: budget.Group{Label: "rack", Value: "r9"}}},
		"budgets[0].watts": {{Watts: -5}},
		"overlap":          {{Watts: 5, When: "Mo"}, {Watts: 6, When: "08:00-09:00"}},
	} {
		err := r.core.Power.SetBudgets(r.now, lines, "root")
		if !errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want something about %s", err, want)
		}
	}
	if s := r.core.Snapshot().Budgets; len(s.Stated) > 0 {
		t.Errorf("%+v", s)
	}
	dark := mount(t, settings(), state2())
	if err := dark.core.Power.SetBudgets(dark.now, []budget.Budget{{Watts: 5}}, "root"); err == nil || !strings.Contains(err.Error(), "power models") {
		t.Errorf("without models: %v", err)
	}
	l.Budgets = journal.Budgets{Text: budget.Format([]budget.Budget{{Watts: 250}}), By: "root"}
	again := mount(t, set, l)
	again.drain()
	if s := again.core.Snapshot().Budgets; len(s.Stated) != 1 || len(s.Limits) != 1 || s.Limits[0].Watts != 250 || s.Limits[0].Most <= 250 {
		t.Errorf("after a start: %+v", s)
	}
	l.Budgets.Text = "{"
	broken := mount(t, set, l)
	broken.drain()
	if len(broken.alarms(0)) != 1 {
		t.Errorf("alarms: %v", broken.events)
	}
}

// Idle nodes alone can exceed a budget; the status says by how much.
func TestBudgetBelowIdlePower(t *testing.T) {
	l := state2()
	r := mount(t, lit(&l), l)
	r.drain()
	if err := r.core.Power.SetBudgets(r.now, []budget.Budget{{Watts: 150}}, "root"); err != nil {
		t.Fatal(err)
	}
	r.at(time.Second)
	if s := r.core.Snapshot().Budgets.Limits; len(s) != 1 || s[0].Short != 50 {
		t.Errorf("%+v", s)
	}
}

// A vjob that needs the power of another waits in the plan until it is free.
func TestPlansWaitForPower(t *testing.T) {
	for _, c := range []struct {
		more  energy.Watts // beside what is drawn idle
		waits bool
	}{{300, false}, {299, true}} {
		l := state2()
		third := &cluster.VJob{ID: 3, Name: "c", Owner: "u", State: cluster.Waiting, Terms: &cluster.Terms{}}
		for rank := range 2 {
			third.VMs = append(third.VMs, cluster.VM{
				ID: cluster.VMID{VJob: 3, Rank: rank}, Reserved: cluster.Resources{CPU: 1000, Memory: 1024},
			})
		}
		l.VJobs, l.Gangs = append(l.VJobs, third), append(l.Gangs, gang.Record{VJob: 3, Members: make([]gang.Member, 2)})
		for _, job := range l.VJobs {
			job.MinShare = 1
		}
		l.Budgets = journal.Budgets{Text: budget.Format([]budget.Budget{{Watts: idleAnd(&l, c.more)}}), By: "root"}
		third.Held = true
		r := mount(t, lit(&l), l)
		r.drain()
		for id, order := range map[cluster.VJobID]scheduler.Order{1: scheduler.OrderSuspend, 3: scheduler.OrderRelease} {
			if err := r.core.VJobs.Order(r.now, id, order, "u"); err != nil {
				t.Fatal(err)
			}
		}
		r.at(time.Second)
		if len(r.plans) != 1 {
			t.Fatalf("%d plans", len(r.plans))
		}
		for _, a := range r.plans[0].Plan.Actions {
			if waits := len(a.After) > 0; a.Kind == cluster.Boot && waits != c.waits {
				t.Errorf("%s more: waits %v, want %v\n%s", c.more, waits, c.waits, r.plans[0].Plan)
			}
		}
	}
}

// A budget takes no CPU away that VMs have reserved, whatever floor the vjob accepts.
func TestBudgetsLeaveReservations(t *testing.T) {
	l := state2()
	for _, job := range l.VJobs {
		job.MinShare, job.CPUReservation = 0.1, 800
	}
	r := mount(t, lit(&l), l)
	if err := r.core.Power.SetBudgets(r.now, []budget.Budget{{Watts: idleAnd(&l, 150)}}, "op"); err != nil {
		t.Fatal(err)
	}
	r.drain() // caps and weights come with one call, which is not answered here
	caps := r.caps()
	for _, vm := range []string{"1.0", "1.1"} {
		if caps[vm] < 800 {
			t.Errorf("VM %s is capped at %s, it has reserved 0.8", vm, caps[vm])
		}
	}
	if ids := r.suspended(); len(ids) != 1 || ids[0] != 2 {
		t.Errorf("suspended: %v, want 2: the budget leaves the reservation of one vjob", ids)
	}
}
