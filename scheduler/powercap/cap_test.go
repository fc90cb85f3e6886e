package powercap_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/scheduler/powercap"
)

var start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// room is three nodes: a and b in rack 1 draw 100 W idle and 1 W more for each thousandth
// of a CPU; of c nothing is known.
type room struct {
	load map[cluster.NodeID]cluster.MilliCPU // that VMs may use
	on   map[cluster.NodeID]energy.Watts     // of nodes that are being switched
	out  journal.Step
}

func (*room) Names() []cluster.NodeID { return []cluster.NodeID{"a", "b", "c"} }

func (*room) Node(id cluster.NodeID) (execute.NodeReport, bool) {
	n := execute.NodeReport{}
	n.ID, n.On, n.Labels = id, true, map[string]string{"rack": "1"}
	if id == "c" {
		n.Labels["rack"] = "2"
	}
	return n, true
}

func (r *room) MaxPower(id cluster.NodeID, more cluster.MilliCPU) energy.Watts {
	if id == "c" {
		return 0
	}
	return 100 + energy.Watts(r.load[id]+more)
}

func (r *room) Least(id cluster.NodeID) energy.Watts { return r.on[id] }
func (*room) Booting(cluster.NodeID) energy.Watts    { return 150 }

var models = map[cluster.NodeID]energy.Power{"a": {Idle: 100, Standby: 10}, "b": {Idle: 100, Standby: 10}}

func newGuard(t *testing.T, r *room, stated string) *powercap.Cap {
	t.Helper()
	g, err := powercap.New(powercap.Settings{Zone: time.UTC, Models: models}, journal.Budgets{Text: stated}, r, r, &r.out, start)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// limit is a budget of the whole cluster, as the journal keeps it.
func limit(watts energy.Watts) string { return budget.Format([]budget.Budget{{Watts: watts}}) }

// No vjob gets more than the limit leaves; releasing power is never refused.
func TestAdmits(t *testing.T) {
	r := &room{load: map[cluster.NodeID]cluster.MilliCPU{"a": 50, "b": 50}}
	g := newGuard(t, r, limit(330))
	for more, want := range map[cluster.MilliCPU]bool{29: true, 30: true, 31: false, -10: true} {
		if got := g.Admits(map[cluster.NodeID]cluster.MilliCPU{"a": more}); got != want {
			t.Errorf("%d more beside 300 of 330 W: %v, want %v", more, got, want)
		}
	}
	r.load["b"] = 500 // the limit is exceeded: less is better than nothing
	if g.Admits(map[cluster.NodeID]cluster.MilliCPU{"a": 1}) || !g.Admits(map[cluster.NodeID]cluster.MilliCPU{"a": -1}) {
		t.Error("beyond the limit it takes more, or gives nothing back")
	}
}

// A node comes on only if there is the power that this takes.
func TestAffords(t *testing.T) {
	for _, c := range []struct {
		name  string
		node  cluster.NodeID
		watts energy.Watts
		want  bool
	}{
		{"just enough", "a", 250, true},
		{"too little", "a", 249, false},
		{"no power model", "c", 1, true},
	} {
		if got := newGuard(t, &room{}, limit(c.watts)).Affords(c.node); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// What people read: how much is drawn at most, what is short even if no vjob runs, and of
// how many nodes nothing is known.
func TestBudgets(t *testing.T) {
	r := &room{load: map[cluster.NodeID]cluster.MilliCPU{"a": 50}, on: map[cluster.NodeID]energy.Watts{"b": 150}}
	limits := newGuard(t, r, limit(240)).Budgets(start).Limits
	if len(limits) != 1 {
		t.Fatalf("%d limits", len(limits))
	}
	if l := limits[0]; l.Nodes != 2 || l.Unknown != 1 || l.Most != 300 || l.Short != 10 {
		t.Errorf("%+v", l)
	}
}

// What is stated replaces what was, goes into the step, and is refused whole.
func TestState(t *testing.T) {
	r := &room{}
	g := newGuard(t, r, "")
	changed, err := g.State(start, []budget.Budget{{Watts: 300}}, "op")
	if err != nil || !changed || r.out.Budgets == nil || len(r.out.Events) != 1 {
		t.Fatalf("changed %v, %v: %+v", changed, err, r.out)
	}
	if changed, err = g.State(start, []budget.Budget{{Watts: 300}}, "op"); changed || err != nil {
		t.Errorf("the same again: changed %v, %v", changed, err)
	}
	for want, line := range map[string]budget.Budget{
		"budgets[0].watts": {Watts: 19},
		"budgets[0].group": {Watts: 300, Group: budget.Group{Label: "rack", Value: "9"}},
	} {
		if _, err := g.State(start, []budget.Budget{line}, "op"); !errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want one of %s", line, err, want)
		}
	}
	if stated := g.Budgets(start).Stated; len(stated) != 1 || stated[0].Watts != 300 {
		t.Errorf("%+v after refusals", stated)
	}
}
