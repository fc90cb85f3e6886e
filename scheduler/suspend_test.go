package scheduler_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
	"vjob/queue"
	"vjob/scheduler/decide"
)

// deeds is what plans have done, such as "pause 1, boot 2".
func (r *rig) deeds() string {
	var words []string
	for _, p := range r.plans {
		for _, g := range p.Plan.Gangs {
			words = append(words, g.Kind.String()+" "+g.VJob.String())
		}
	}
	return strings.Join(words, ", ")
}

// Four nodes of 4 CPU and 8 GiB; vjob 1 has a VM of 1 CPU and 1 GiB on each. Vjob 2
// comes first and takes one VM on each of them.
func TestWhoStandsStill(t *testing.T) {
	type change = func(l *journal.Loaded)
	standing := func(l *journal.Loaded) {
		l.VJobs[0].State, l.Gangs[0].Phase = cluster.Paused, gang.Paused
	}
	held := func(l *journal.Loaded) { l.VJobs[0].Held = true }
	comes := func(cpu cluster.MilliCPU, memory cluster.MiB) change {
		return func(l *journal.Loaded) {
			job := &cluster.VJob{ID: 2, Name: "j2", Owner: "u", Priority: 9, Terms: &cluster.Terms{}}
			for rank := range 4 {
				job.VMs = append(job.VMs, cluster.VM{
					ID: cluster.VMID{VJob: 2, Rank: rank}, Reserved: cluster.Resources{CPU: cpu, Memory: memory},
				})
			}
			l.VJobs = append(l.VJobs, job)
			l.Gangs = append(l.Gangs, gang.Record{VJob: 2, Members: make([]gang.Member, 4)})
		}
	}
	runs := func(l *journal.Loaded) {
		l.VJobs[1].State, l.Gangs[1].Phase, l.Gangs[1].Incarnation = cluster.Running, gang.Active, 1
		for rank := range 4 {
			l.Gangs[1].Members[rank].Node = l.Nodes[rank].ID
		}
	}
	drain := func(l *journal.Loaded) { l.Nodes[0].State = cluster.Draining }
	rooted := func(l *journal.Loaded) { l.VJobs[1].Rules = "root($VMS);" }
	reserved := func(l *journal.Loaded) {
		l.VJobs[1].Reservation, l.VJobs[1].Walltime = epoch.Add(30*time.Second), time.Hour
	}
	spare := func(l *journal.Loaded) {
		for _, name := range []cluster.NodeID{"n1000", "n1001", "n1002", "n1003"} {
			l.Nodes = append(l.Nodes, cluster.Node{ID: name, Capacity: l.Nodes[0].Capacity})
		}
	}
	for _, c := range []struct {
		name    string
		suspend decide.Suspension
		changes []change
		want    string
	}{
		{"its CPU is wanted", decide.Auto, []change{comes(4000, 1024)}, "pause 1, boot 2"},
		{"so it is by default", decide.ToDisk, []change{comes(4000, 1024)}, "suspend 1, boot 2"},
		{"its memory is wanted too", decide.Auto, []change{comes(4000, 8192)}, "suspend 1, boot 2"},
		{"nothing is wanted", decide.Auto, []change{comes(1000, 1024)}, "boot 2"},
		{"a user suspends it", decide.Auto, []change{held}, "suspend 1"},
		{"a user suspends it, in memory", decide.InMemory, []change{held}, "pause 1"},
		{"it goes on", decide.Auto, []change{standing}, "unpause 1"},
		{"it goes on whatever the settings are now", decide.ToDisk, []change{standing}, "unpause 1"},
		{"it goes on standing", decide.Auto, []change{standing, comes(4000, 1024), runs}, ""},
		{"it is paused where it may no longer stay", decide.ToDisk, []change{standing, comes(4000, 1024), runs}, "suspend 1"},
		{"its memory is wanted later", decide.Auto, []change{standing, comes(4000, 8192)}, "suspend 1, boot 2"},
		{"it is held while it stands", decide.Auto, []change{standing, held}, "suspend 1"},
		{"it may stand while it is held", decide.InMemory, []change{standing, held}, ""},
		{"its node is drained", decide.InMemory, []change{standing, held, drain}, "suspend 1"},
		{"a reservation wants its memory soon", decide.InMemory, []change{standing, held, comes(4000, 8192), reserved}, "suspend 1"},
		{"a reservation leaves it its memory", decide.InMemory, []change{standing, held, comes(4000, 1024), reserved}, ""},
		{"others move out of its way", decide.Auto, []change{standing, comes(4000, 1024), runs, spare}, "migrate 2, unpause 1"},
		{"there is room elsewhere only", decide.Auto, []change{standing, comes(4000, 1024), runs, spare, rooted}, "suspend 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := state(4, 0)
			for _, change := range c.changes {
				change(&l)
			}
			set := settings()
			set.Suspend, set.Reservations.Margin = c.suspend, time.Minute
			r := mount(t, set, l)
			for name, v := range r.views {
				for i := range v.Copies {
					if id := v.Copies[i].VM.VJob; l.VJobs[id-1].State == cluster.Paused {
						v.Copies[i].State = hypervisor.CopyPaused
					}
				}
				r.views[name] = v
			}
			r.drain()
			if got := r.deeds(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Of several that could stand still, those next in the queue do.
func TestWhoseTurnComesFirstStandsStill(t *testing.T) {
	l := state(4, 0)
	l.Nodes = l.Nodes[:1]
	l.VJobs, l.Gangs = nil, nil
	for i, phase := range []gang.Phase{gang.Active, gang.Paused, gang.Paused} { // three slots, memory for two
		id := cluster.VJobID(i + 1)
		vm := cluster.VM{ID: cluster.VMID{VJob: id}, Reserved: cluster.Resources{CPU: 4000, Memory: 3072}}
		rec := gang.Record{VJob: id, Phase: phase, Incarnation: 1, Members: []gang.Member{{Node: l.Nodes[0].ID}}}
		if i == 2 {
			vm.Reserved.Memory = 2048
		}
		l.VJobs = append(l.VJobs, &cluster.VJob{ID: id, Owner: "u", State: rec.State(), VMs: []cluster.VM{vm}, Terms: &cluster.Terms{}})
		l.Gangs = append(l.Gangs, rec)
	}
	l.Gangs[0].Since = epoch.Add(-queue.LeastQuantum)
	l.VJobs[0].VMs[0].Reserved.Memory = 4096
	set := settings()
	set.Policy, set.Suspend = queue.TimeSlices{Quantum: queue.LeastQuantum}, decide.Auto
	r := mount(t, set, l)
	for i := 1; i < 3; i++ {
		r.views["n0000"].Copies[i].State = hypervisor.CopyPaused
	}
	r.drain()
	if got, want := r.deeds(), "suspend 1, unpause 2"; got != want {
		t.Errorf("%s, want %s: vjob 3 is next", got, want)
	}
}

// picky is a planner that finds no place for vjob 2.
type picky struct{ ctxswitch.Repacker }

func (p picky) Plan(problem ctxswitch.Problem) (ctxswitch.Plan, error) {
	if slices.Contains(problem.Gangs, ctxswitch.Goal{VJob: 2, Want: cluster.VMRunning}) {
		return ctxswitch.Plan{}, &ctxswitch.NoPlan{VJob: 2, Reason: "no place"}
	}
	return p.Repacker.Plan(problem)
}

// No vjob is saved for the memory of one that cannot start after all.
func TestNobodyIsSavedInVain(t *testing.T) {
	l := state(4, 0)
	l.VJobs[0].State, l.VJobs[0].Held, l.Gangs[0].Phase = cluster.Paused, true, gang.Paused
	want := cluster.Resources{CPU: 1000, Memory: 8192}
	big := &cluster.VJob{ID: 2, Owner: "u", Terms: &cluster.Terms{}}
	for rank := range 4 {
		big.VMs = append(big.VMs, cluster.VM{ID: cluster.VMID{VJob: 2, Rank: rank}, Reserved: want})
	}
	l.VJobs = append(l.VJobs, big)
	l.Gangs = append(l.Gangs, gang.Record{VJob: 2, Members: make([]gang.Member, 4)})
	for _, c := range []struct {
		planner ctxswitch.Planner
		want    string
	}{{ctxswitch.Repacker{}, "suspend 1, boot 2"}, {picky{}, ""}} {
		set := settings()
		set.Suspend, set.Planner = decide.InMemory, c.planner
		r := mount(t, set, l)
		for _, v := range r.views {
			for i := range v.Copies {
				v.Copies[i].State = hypervisor.CopyPaused
			}
		}
		r.drain()
		if got := r.deeds(); got != c.want {
			t.Errorf("%T: %s, want %s", c.planner, got, c.want)
		}
	}
}

// A paused vjob that cannot be saved for another resumes in place, instead of both
// waiting for space on the image stores.
func TestWhoCannotBeSavedGoesOn(t *testing.T) {
	l := state(4, 0)
	l.VJobs[0].State, l.Gangs[0].Phase = cluster.Paused, gang.Paused
	big := &cluster.VJob{ID: 2, Owner: "u", Priority: 9, Terms: &cluster.Terms{}}
	for rank := range 4 {
		big.VMs = append(big.VMs, cluster.VM{
			ID: cluster.VMID{VJob: 2, Rank: rank}, Reserved: cluster.Resources{CPU: 4000, Memory: 8192},
		})
	}
	l.VJobs = append(l.VJobs, big)
	l.Gangs = append(l.Gangs, gang.Record{VJob: 2, Members: make([]gang.Member, 4)})
	set := settings()
	set.Suspend = decide.Auto
	r := mount(t, set, l)
	for _, v := range r.views {
		for i := range v.Copies {
			v.Copies[i].State = hypervisor.CopyPaused
		}
	}
	r.store = hypervisor.Store{}
	r.drain()
	if got, want := r.deeds(), "unpause 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
