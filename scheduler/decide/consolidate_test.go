package decide_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/energy/consolidate"
	"vjob/queue"
	"vjob/scheduler/decide"
)

// thrift is a consolidation request on nodes of increasing power, with configurable power
// management.
func thrift(w *world, set *decide.Settings) *decide.ConsolidationRequest {
	set.Live = true
	set.Execute.Costs = ctxswitch.Costs{MigratePer: 10 * time.Second, SuspendPer: time.Minute, ResumePer: time.Minute}
	set.Energy.Power = map[cluster.NodeID]energy.Power{}
	for i, n := range w.nodes {
		set.Energy.Power[n.ID] = energy.Power{Idle: 50, Full: energy.Watts(150 + 50*i), Standby: 5}
	}
	return &decide.ConsolidationRequest{Criteria: consolidate.Default, Uses: func(vm cluster.VMID) cluster.MilliCPU { return w.Need(vm).CPU }}
}

// porter lets every node go off, and fills none beyond four fifths.
type porter struct{ objects string }

func (porter) MayGoOff(cluster.NodeID) bool           { return true }
func (porter) Fill() float64                          { return 0.8 }
func (p porter) Objects(dark []cluster.NodeID) string { return p.objects }

// In any setting a plan has only migrations, passes the planner's check, keeps fixed VMs in place,
// and saves what it says.
func TestConsolidatedWorlds(t *testing.T) {
	plans, dark := 0, 0
	seeds(t, func(rng *rand.Rand, w *world) {
		set := settings()
		ask := thrift(w, set)
		if rng.IntN(2) == 0 {
			ask.NodePower = porter{}
		}
		kept := cluster.VJobID(1 + rng.IntN(len(w.jobs)))
		ask.Keeps = func(vm cluster.VMID) bool { return vm.VJob == kept }
		p := decide.NewView(set, w.running())
		d := decided(t, p)
		if !d.Plan.Empty() {
			return
		}
		c := d.Consolidate(ask)
		if (c.Why == "") == c.Plan.Empty() {
			t.Errorf("a plan %v, and why not: %q", !c.Plan.Empty(), c.Why)
		}
		if c.Plan.Empty() {
			return
		}
		plans++
		dark += len(c.NodesOff)
		w.audit(t, set, &c)
		for _, a := range c.Plan.Actions {
			if a.Kind != cluster.Migrate || a.VM.VJob == kept || w.of(a.VM).busy {
				t.Errorf("%s of %s", a.Kind, a.VM)
			}
		}
	})
	if plans < 40 || dark < 10 {
		t.Errorf("%d plans and %d nodes that go off say little", plans, dark)
	}
}

// VMs outside a container move to save power while vjobs run inside: the container stays.
func TestConsolidatedBesideContainers(t *testing.T) {
	plans := 0
	seeds(t, func(_ *rand.Rand, w *world) {
		set := settings()
		ask, facts := thrift(w, set), w.running()
		at := slices.IndexFunc(facts.VJobs, func(r execute.Report) bool { return r.Idle && r.Job.State == cluster.Running })
		if at < 0 {
			return
		}
		container := facts.VJobs[at].Job
		container.Container, container.Walltime = true, time.Hour
		inner := &cluster.VJob{ID: 99, VMs: []cluster.VM{{ID: cluster.VMID{VJob: 99}, Reserved: cluster.Resources{CPU: 100, Memory: 100}}}, Terms: &cluster.Terms{}}
		inner.Inner, inner.Walltime = container.ID, time.Minute
		w.jobs = append(w.jobs, member{job: inner})
		facts.VJobs = append(facts.VJobs, execute.Report{Job: inner, Idle: true, Record: &gang.Record{VJob: 99, Members: make([]gang.Member, 1)}})
		d := decided(t, decide.NewView(set, facts))
		c := d.Consolidate(ask)
		if strings.HasPrefix(c.Why, "no decision") || slices.Contains(c.VJobs, container.ID) {
			t.Errorf("container %s: %+v", container.ID, c)
		}
		if !c.Plan.Empty() {
			plans++
		}
	})
	if plans < 40 {
		t.Errorf("%d plans say little", plans)
	}
}

// running returns facts in which no vjob waits.
func (w *world) running() *decide.Facts {
	var waiting []cluster.VJobID
	for _, m := range w.jobs {
		if len(m.at) == 0 {
			waiting = append(waiting, m.job.ID)
		}
	}
	f := w.facts(waiting...)
	for i := range f.Nodes {
		for _, m := range w.jobs {
			for rank := range m.at {
				f.Nodes[i].Locked = append(f.Nodes[i].Locked, m.job.VMs[rank].ID)
			}
		}
	}
	return f
}

// audit adds up what nodes draw before and after a plan.
func (w *world) audit(t *testing.T, set *decide.Settings, c *decide.Consolidation) {
	t.Helper()
	draws := func(to *cluster.Configuration, dark []cluster.NodeID) (sum energy.Watts) {
		for _, n := range w.nodes {
			load := cluster.MilliCPU(0)
			for _, m := range w.jobs {
				for rank, at := range m.at {
					if host, known := to.Host(m.job.VMs[rank].ID); known {
						at = host
					}
					if at == n.ID {
						load += m.job.VMs[rank].Reserved.CPU
					}
				}
			}
			power := set.Energy.Power[n.ID]
			if slices.Contains(dark, n.ID) {
				sum += power.Standby
			} else {
				sum += power.At(float64(load) / float64(n.Capacity.CPU))
			}
			if slices.Contains(dark, n.ID) && load > 0 || load > n.Capacity.CPU {
				t.Errorf("node %s has %s of %s, those that go off are %s", n.ID, load, n.Capacity.CPU, dark)
			}
		}
		return sum
	}
	less := draws(cluster.NewConfiguration(), nil) - draws(c.Plan.Target, c.NodesOff)
	if said := c.Before - c.After; less-said > 1e-6 || said-less > 1e-6 || less < consolidate.Default.MinSaving {
		t.Errorf("%s less, it says %s", less, said)
	}
	if float64(c.Saves) < 4*float64(c.Costs) || c.Costs <= 0 {
		t.Errorf("%.0f J for %.0f J", float64(c.Saves), float64(c.Costs))
	}
}

// two is a world of a hungry node with a vjob on it and a thrifty one with room.
func two(change func(*cluster.VJob)) *world {
	w := &world{}
	for _, id := range []cluster.NodeID{"n0", "n1"} {
		w.nodes = append(w.nodes, cluster.Node{ID: id, Capacity: cluster.Resources{CPU: 4000, Memory: 8192}})
	}
	job := &cluster.VJob{ID: 1, Owner: "u", Submitted: epoch, Terms: &cluster.Terms{}}
	for rank := range 2 {
		job.VMs = append(job.VMs, cluster.VM{ID: cluster.VMID{VJob: 1, Rank: rank}, Reserved: cluster.Resources{CPU: 1000, Memory: 1024}})
	}
	change(job)
	w.jobs = []member{{job: job, at: []cluster.NodeID{"n1", "n1"}}}
	return w
}

// Without a move there is a reason, with figures where possible.
func TestWhyNothingMoves(t *testing.T) {
	for _, c := range []struct {
		name string
		job  func(*cluster.VJob)
		ask  func(*decide.ConsolidationRequest, *decide.Settings, *decide.Facts)
		why  string
	}{
		{name: "it pays"},
		{name: "rooted", job: func(j *cluster.VJob) { j.Rules = "root(VM[0..1]);" }, why: "no places were found"},
		{name: "fenced", job: func(j *cluster.VJob) { j.Rules = "fence(VM[0..1], {n1});" }, why: "no places were found"},
		{name: "kept together by a soft rule", job: func(j *cluster.VJob) { j.Rules = "soft(9) gather(VM[0..1]);" }, why: "no places were found"},
		{name: "about to end", job: func(j *cluster.VJob) { j.Walltime = time.Minute }, why: "no places were found"},
		{name: "the node is drained", ask: func(_ *decide.ConsolidationRequest, _ *decide.Settings, f *decide.Facts) {
			f.Nodes[0].State = cluster.Draining
		}, why: "no places were found"},
		{name: "moved a while ago", ask: func(a *decide.ConsolidationRequest, _ *decide.Settings, _ *decide.Facts) {
			a.Keeps = func(cluster.VMID) bool { return true }
		}, why: "no places were found"},
		{name: "too little", ask: func(a *decide.ConsolidationRequest, _ *decide.Settings, _ *decide.Facts) { a.MinSaving = 26 }, why: "less than 26 W would be saved"},
		{name: "no lock, so it would stand still for long", ask: func(_ *decide.ConsolidationRequest, s *decide.Settings, f *decide.Facts) {
			s.Live, s.Execute.Costs.MigratePer = false, 10*time.Minute
		}, why: "no places were found"},
		{name: "the rack has a budget", ask: func(_ *decide.ConsolidationRequest, _ *decide.Settings, f *decide.Facts) {
			f.Nodes[0].Labels = map[string]string{"rack": "r1"}
			f.Budgets = rack(70)
		}, why: "no plan: vjob 1"},
		{name: "power management would have the node on", ask: func(a *decide.ConsolidationRequest, s *decide.Settings, _ *decide.Facts) {
			s.Energy.Power["n0"] = s.Energy.Power["n1"]
			s.Energy.Power["n1"] = energy.Power{Idle: 60, Full: 210, Standby: 5}
			a.NodePower, a.MinSaving = porter{"they would be too busy"}, 20
		}, why: "they would be too busy"},
	} {
		if c.job == nil {
			c.job = func(*cluster.VJob) {}
		}
		w, set := two(c.job), settings()
		ask, facts := thrift(w, set), w.running()
		if c.ask != nil {
			c.ask(ask, set, facts)
		}
		p := decide.NewView(set, facts)
		d := decided(t, p)
		if got := d.Consolidate(ask); !strings.Contains(got.Why, c.why) || (c.why == "") != (got.Why == "") {
			t.Errorf("%s: %q; %v, %s to %s", c.name, got.Why, got.Moves, got.Before, got.After)
		}
	}
}

// rack is a budget of rack r1.
func rack(watts energy.Watts) budget.Schedules {
	book, err := budget.New(time.UTC, []budget.Budget{{Watts: watts, Group: budget.Group{Label: "rack", Value: "r1"}}})
	if err != nil {
		panic(err)
	}
	return budget.Schedules{book}
}

// The cost of a search after a decision on a large, full cluster.
func BenchmarkConsolidate(b *testing.B) {
	for _, c := range []struct {
		nodes int
		rules string
	}{{32, ""}, {1000, ""}, {1000, "spread(VM[0..1]);"}} {
		nodes := c.nodes
		b.Run(fmt.Sprintf("nodes=%d,rules=%q", nodes, c.rules), func(b *testing.B) {
			w := &world{}
			for i := range nodes {
				w.nodes = append(w.nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%04d", i)), Capacity: cluster.Resources{CPU: 16000, Memory: 65536}})
			}
			for i := range nodes {
				m := member{job: &cluster.VJob{ID: cluster.VJobID(i + 1), Owner: "u", Submitted: epoch, Rules: c.rules, Terms: &cluster.Terms{}}}
				for rank := range 5 {
					m.job.VMs = append(m.job.VMs, cluster.VM{ID: cluster.VMID{VJob: m.job.ID, Rank: rank}, Reserved: cluster.Resources{CPU: 1000, Memory: 2048}})
					m.at = append(m.at, w.nodes[(i+rank)%nodes].ID)
				}
				w.jobs = append(w.jobs, m)
			}
			set := settings()
			set.Policy = queue.EASY{}
			ask := thrift(w, set)
			for i, n := range w.nodes {
				set.Energy.Power[n.ID] = energy.Power{Idle: 50, Full: energy.Watts(150 + 50*(i%2))}
			}
			ask.Uses = func(cluster.VMID) cluster.MilliCPU { return 900 }
			ask.MinSaving = 1e9 // so that there is no plan
			p := decide.NewView(set, w.running())
			d, err := p.Decide()
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if c := d.Consolidate(ask); len(c.Moves) == 0 {
					b.Fatal(c.Why)
				}
			}
		})
	}
}
