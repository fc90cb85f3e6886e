package decide_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/hypervisor"
	"vjob/queue"
	"vjob/queue/forecast"
	"vjob/queue/pool"
	"vjob/scheduler/balance"
	"vjob/scheduler/decide"
)

// threeNodes are n1 to n3 of 4 CPU with two vjobs of one VM each: vjob 1 of ann demands 3 CPU on n1, vjob 2 of bob 1 CPU
// on n2. Vjob 3 of bob, three VMs of 4 CPU, waits.
func threeNodes() *world {
	w := &world{}
	for i := range 3 {
		w.nodes = append(w.nodes, cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("n%d", i+1)), Capacity: cluster.Resources{CPU: 4000, Memory: 8192}, Labels: map[string]string{"rack": "A"},
		})
	}
	add := func(id cluster.VJobID, owner string, n int, cpu cluster.MilliCPU, at ...cluster.NodeID) {
		job := &cluster.VJob{ID: id, Owner: owner, Submitted: epoch, State: cluster.Waiting, Walltime: time.Hour, Terms: &cluster.Terms{}}
		for rank := range n {
			job.VMs = append(job.VMs, cluster.VM{ID: cluster.VMID{VJob: id, Rank: rank}, Reserved: cluster.Resources{CPU: cpu, Memory: 2048}})
		}
		w.jobs = append(w.jobs, member{job: job, at: at})
	}
	add(1, "ann", 1, 3000, "n1")
	add(2, "bob", 1, 1000, "n2")
	add(3, "bob", 3, 4000)
	return w
}

// hypothetical are the facts of three nodes, all on.
func hypothetical() *decide.Facts { return detached(threeNodes()) }

func detached(w *world) *decide.Facts {
	f := w.facts()
	for i := range f.Nodes {
		f.Nodes[i].On = true
	}
	for i := range f.VJobs {
		if r := &f.VJobs[i]; r.Job.ID == 3 {
			r.Job.State, r.Bound = cluster.Waiting, cluster.VMWaiting
		}
	}
	f.Detach()
	return f
}

func TestAddNodes(t *testing.T) {
	t.Parallel()
	s := settings()
	s.Energy.Power = map[cluster.NodeID]energy.Power{"n1": {Idle: 100, Full: 200}}
	f := hypothetical()
	f.Images["n2"] = hypervisor.Space{Pool: "n2", Free: 10}
	out, err := f.AddNodes(s, []decide.NewNode{{Name: "big", Like: "n1"}, {Like: "n2"}, {Like: "n2"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Nodes) != 6 {
		t.Fatalf("%d nodes, want 6", len(f.Nodes))
	}
	for i, id := range []cluster.NodeID{"big", "n4", "n5"} {
		n := f.Nodes[3+i]
		if n.ID != id || n.Capacity != f.Nodes[0].Capacity || n.Labels["rack"] != "A" || !n.On || n.State != cluster.Online {
			t.Errorf("node %d: %+v", i, n)
		}
	}
	if f.Images["big"].Pool != "shared" || f.Images["n4"] != (hypervisor.Space{Pool: "n4", Free: 10}) {
		t.Errorf("image stores %+v", f.Images)
	}
	if out.Energy.Power["big"].Full != 200 || len(s.Energy.Power) != 1 {
		t.Errorf("power models %v, in the settings %v", out.Energy.Power, s.Energy.Power)
	}
	for _, c := range []struct{ name, like, want string }{
		{"n3", "n1", `add[0].name: "n3" is not the name of a new node: this one exists`},
		{"n9", "m1", `add[0].like: "m1" is not an existing node`},
	} {
		_, err := hypothetical().AddNodes(s, []decide.NewNode{{Name: cluster.NodeID(c.name), Like: cluster.NodeID(c.like)}})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// A vjob that waits starts on nodes that are added, and the rules of new nodes' labels hold.
func TestAddedNodesTakeVMs(t *testing.T) {
	t.Parallel()
	f := hypothetical()
	if d := decided(t, decide.NewView(settings(), f)); d.Verdicts[2].Target != queue.Wait {
		t.Fatalf("vjob 3 fits on %d nodes: %+v", len(f.Nodes), d.Verdicts[2])
	}
	f = hypothetical()
	s, err := f.AddNodes(settings(), []decide.NewNode{{Like: "n1"}, {Like: "n1"}})
	if err != nil {
		t.Fatal(err)
	}
	d := decided(t, decide.NewView(s, f))
	if d.Verdicts[2].Target != queue.Run || len(d.Plan.Actions) != 3 {
		t.Errorf("vjob 3 with two more nodes: %+v, %v", d.Verdicts[2], d.Plan.Actions)
	}
}

// observing are settings in which VMs count for what they demand.
func observing() *decide.Settings {
	s := settings()
	s.Policy = queue.FirstFit{Count: queue.Observed}
	return s
}

func TestChangeDemand(t *testing.T) {
	t.Parallel()
	h, err := pool.NewHierarchy(cluster.Resources{CPU: 12_000, Memory: 24_576}, []pool.Pool{
		{Name: "science", Settings: unlimited()}, {Name: "physics", Parent: "science", Settings: unlimited()},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		changes []decide.DemandChange
		demands string // of vjobs 1 to 3
		needs   string
		reserve bool // the policy counts reservations
		fault   string
	}{
		{"all", []decide.DemandChange{{Factor: new(1.3)}}, "3900 1300 4000", "3900 1300 4000", false, ""},
		{"one vjob, absolute", []decide.DemandChange{{VJob: 2, CPU: 2500}}, "3000 2500 4000", "3000 2500 4000", false, ""},
		{"an owner", []decide.DemandChange{{Owner: "bob", Factor: new(0.0)}}, "3000 0 4000", "3000 0 4000", false, ""},
		{"one after the other", []decide.DemandChange{{Factor: new(2.0)}, {VJob: 1, Factor: new(0.5)}}, "3000 2000 4000", "3000 2000 4000", false, ""},
		{"a pool", []decide.DemandChange{{Pool: "physics", Factor: new(1.1)}}, "3300 1000 4000", "3300 1000 4000", false, ""},
		{"the pool above it", []decide.DemandChange{{Pool: "science", Factor: new(1.1)}}, "3300 1000 4000", "3300 1000 4000", false, ""},
		{"the cluster as a pool", []decide.DemandChange{{Pool: "cluster", Factor: new(2.0)}}, "6000 2000 4000", "6000 2000 4000", false, ""},
		{"where reservations count", []decide.DemandChange{{Factor: new(2.0)}}, "6000 2000 4000", "3000 1000 4000", true, ""},
		{"no such pool", []decide.DemandChange{{Factor: new(2.0)}, {Pool: "physic", CPU: 1}}, "", "", false, `demand[1].pool: "physic" is not a pool, such as physics`},
		{"no such vjob", []decide.DemandChange{{VJob: 9, CPU: 1}}, "", "", false, `demand[0].vjob: 9 is not the number`},
		{"no such owner", []decide.DemandChange{{Owner: "eve", CPU: 1}}, "", "", false, `demand[0].owner: "eve" is not the owner`},
	} {
		f, s := hypothetical(), observing()
		f.Pools, f.VJobs[0].Job.Pool = h, "physics"
		if c.reserve {
			s = settings()
		}
		err := f.ChangeDemand(s, c.changes)
		if c.fault != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.fault) {
				t.Errorf("%s: %v, want %s", c.name, err, c.fault)
			}
			continue
		}
		var demands, needs []string
		for id := cluster.VJobID(1); id <= 3; id++ {
			vm := cluster.VMID{VJob: id}
			demands, needs = append(demands, fmt.Sprint(int64(f.Demand(vm)))), append(needs, fmt.Sprint(int64(f.Bookings.Need(vm).CPU)))
		}
		if got := strings.Join(demands, " "); err != nil || got != c.demands || strings.Join(needs, " ") != c.needs {
			t.Errorf("%s: %v: demands %s, needs %s", c.name, err, got, needs)
		}
	}
}

func unlimited() pool.Settings {
	c := pool.Controls{Limit: pool.Unlimited, Shares: 1000}
	return pool.Settings{CPU: c, Memory: c}
}

// figures returns the figures of a decision on a variant.
func figures(t *testing.T, v *decide.Variant) decide.Figures {
	t.Helper()
	d := decided(t, &v.View)
	return v.Figures(&d, &balance.Default)
}

// The figures are those that pen and paper give.
func TestFigures(t *testing.T) {
	t.Parallel()
	s := settings()
	s.Energy.Power = map[cluster.NodeID]energy.Power{}
	for _, id := range []cluster.NodeID{"n1", "n2", "n3"} {
		s.Energy.Power[id] = energy.Power{Idle: 100, Full: 200, Standby: 10}
	}
	now := figures(t, decide.NewView(s, hypothetical()).Vary())
	// CPU 3/4, 1/4, 0; memory 1/4, 1/4, 0.
	if now.Running != 2 || now.Waiting != 1 || now.Nodes != 3 || now.Demand != 4000 || now.Served != 4000 || now.Capacity.CPU != 12_000 {
		t.Errorf("%+v", now)
	}
	mean := 1.0 / 3
	cpu := math.Sqrt(((0.75-mean)*(0.75-mean) + (0.25-mean)*(0.25-mean) + mean*mean) / 3)
	if got := now.Imbalance.Of[balance.CPU]; math.Abs(got-cpu) > 1e-9 {
		t.Errorf("deviation of CPU %f, want %f", got, cpu)
	}
	if l := now.Loads[0]; l.Node != "n1" || l.CPU != 0.75 || l.Memory != 0.25 || len(now.Loads) != 3 {
		t.Errorf("loads %+v", now.Loads)
	}
	if now.Power == nil || math.Abs(float64(now.Power.Watts)-(175+125+100)) > 1e-9 || now.Pools != nil {
		t.Errorf("power %+v, pools %v", now.Power, now.Pools)
	}

	off := decide.NewView(s, hypothetical()).Vary()
	off.SetClusterBudget(350)
	if err := off.TurnOff("n3"); err != nil {
		t.Fatal(err)
	}
	then := figures(t, off)
	if math.Abs(float64(then.Power.Watts)-(175+125+10)) > 1e-9 || then.Nodes != 2 {
		t.Errorf("with n3 off: %+v", then.Power)
	}
	if b := then.Power.Budgets; len(b) != 1 || b[0] != (decide.BudgetUse{Most: 350, Drawn: then.Power.Watts}) {
		t.Errorf("budgets %+v", b)
	}

	// VMs stay where their reservations fit.
	f := hypothetical()
	if err := f.ChangeDemand(s, []decide.DemandChange{{VJob: 1, CPU: 5000}}); err != nil {
		t.Fatal(err)
	}
	more := figures(t, decide.NewView(s, f).Vary())
	if more.Demand != 6000 || more.Served != 5000 || more.Loads[0].CPU != 1.25 {
		t.Errorf("with 5 CPU demanded on a node of 4: %+v", more)
	}
}

// A node that is lost no longer counts for what pools get.
func TestFiguresOfPools(t *testing.T) {
	t.Parallel()
	limited := unlimited()
	limited.CPU.Limit = 2000
	h, err := pool.NewHierarchy(cluster.Resources{CPU: 12_000, Memory: 24_576}, []pool.Pool{{Name: "a", Settings: limited}})
	if err != nil {
		t.Fatal(err)
	}
	f := hypothetical()
	f.Pools, f.VJobs[0].Job.Pool = h, "a"
	v := decide.NewView(settings(), f).Vary()
	got := figures(t, v)
	if a := got.Pools[1]; a.Wanted != 3000 || a.Given.CPU != 2000 || got.Pools[0].Wanted != 4000 || got.Demand != 4000 || got.Served != 3000 || got.Loads[0].CPU != 0.5 {
		t.Errorf("pool a %+v; %+v", a, got)
	}
	other := decide.NewView(settings(), f).Vary()
	if err := other.SetNodeState("n3", cluster.Down); err != nil {
		t.Fatal(err)
	}
	d := decided(t, &other.View)
	other.Figures(&d, &balance.Default)
	if d.Division.Capacity.CPU != 8000 {
		t.Errorf("%s divided without n3, want 8", d.Division.Capacity.CPU)
	}
	if d := decided(t, &v.View); d.Verdicts == nil {
		t.Error("the other variant has changed")
	} else if v.Figures(&d, &balance.Default); d.Division.Capacity.CPU != 12_000 {
		t.Errorf("%s divided, want 12: the variants share nodes", d.Division.Capacity.CPU)
	}
}

// A vjob that the decision suspends competes for capacity in the forecast.
func TestForecastAfterASuspension(t *testing.T) {
	t.Parallel()
	w := threeNodes()
	w.nodes, w.jobs[1].at = w.nodes[:1], []cluster.NodeID{"n1"}
	f := detached(w)
	if err := f.ChangeDemand(observing(), []decide.DemandChange{{VJob: 1, CPU: 3500}}); err != nil {
		t.Fatal(err)
	}
	v := decide.NewView(observing(), f)
	d := decided(t, v)
	if d.Verdicts[1].Target != queue.Suspend {
		t.Fatalf("vjob 2 beside 3.5 of 4 CPU: %+v", d.Verdicts[1])
	}
	in := v.ForecastAfter(&d)[0]
	s := forecast.Compute(&in.Scene)
	i := slices.IndexFunc(in.Jobs, func(j forecast.Job) bool { return j.ID == 2 })
	if got := s.Estimates[i].Start; !got.Equal(epoch.Add(time.Hour)) {
		t.Errorf("vjob 2 starts at %s, want the end of vjob 1: %s", got, s.Estimates[i].Why())
	}
}
