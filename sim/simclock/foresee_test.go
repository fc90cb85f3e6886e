package simclock_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/cluster/calendar"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/hypervisor/simulated"
	"vjob/queue"
	"vjob/queue/ordering"
	"vjob/queue/quota"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/scheduler/decide"
	"vjob/sim/simclock"
	"vjob/tests/simstore"
)

// day returns a cluster of four nodes of 3 CPU with a quota of six per user, and eight at night.
func day(t *testing.T, policy queue.Policy, seed uint64) *scene {
	t.Helper()
	s := &scene{t: t, store: simstore.Open(t)}
	nodes := make([]simulated.Node, 4)
	for i := range nodes {
		nodes[i] = simulated.Node{ID: cluster.NodeID(string(rune('a' + i))), Capacity: cluster.Resources{CPU: 3000, Memory: 8192}}
	}
	s.cluster = simulated.New(simulated.Config{Profile: simulated.Lab, Seed: seed, Nodes: nodes})
	rules := ordering.DefaultSettings(policy)
	var night calendar.Window
	if err := night.UnmarshalText([]byte("19:00-07:00")); err != nil {
		t.Fatal(err)
	}
	limits, err := calendar.New(time.UTC, quota.Limits{quota.CPU: 6000}, calendar.Entry[quota.Limits]{
		Name: "night", When: night, Value: quota.Limits{quota.CPU: 8000},
	})
	if err != nil {
		t.Fatal(err)
	}
	if rules.Quotas, err = quota.New([]quota.Quota{{Name: "cpus", User: quota.Each, Limits: limits}}, rules.Queues.Names()); err != nil {
		t.Fatal(err)
	}
	set := decide.Settings{
		Execute: execute.DefaultSettings, Policy: policy, Ordering: &rules, Planner: ctxswitch.Repacker{}, Seed: seed, Backoff: 5 * time.Second,
	}
	set.Execute.LookEvery = time.Minute
	if s.shell, err = simclock.New(simclock.Config{
		Settings: scheduler.Settings{Settings: set, Rest: 100 * time.Millisecond}, Cluster: s.cluster, Store: s.store,
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

// On a simulated day, users under a quota submit vjobs of all sizes that rarely reach their
// walltimes. Few start later than estimated at submission: under fcfs only those that others
// overtake while they wait for their quota.
func TestEstimatesOfADay(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, c := range []struct {
		policy queue.Policy
		late   float64 // the share that may start later than estimated
	}{{queue.FCFS{}, 0.2}, {queue.EASY{}, 0.3}} {
		s, rng := day(t, c.policy, seed), rand.New(rand.NewPCG(seed, 7))
		told := map[cluster.VJobID]time.Time{}
		for end := s.shell.Now().Add(24 * time.Hour); s.shell.Now().Before(end); {
			id := s.draw(rng)
			s.run(time.Second)
			f, err := s.shell.Foresee()
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(f.VJobs, func(j *cluster.VJob) bool { return j.ID == id })
			if i < 0 || f.Estimates[i].Start.IsZero() {
				t.Fatalf("%s: no estimate of the start of vjob %s", c.policy.Name(), id)
			}
			told[id] = f.Estimates[i].Start
			s.run(time.Duration(rng.IntN(30)) * time.Minute)
		}
		s.run(48 * time.Hour)
		var off []time.Duration
		late, waited := 0, 0
		for id, start := range told {
			row, _ := s.store.VJob(id)
			off = append(off, row.Started.Sub(start).Round(time.Second))
			if row.Started.Sub(row.Submitted) > time.Minute {
				waited++
			}
			if off[len(off)-1] > time.Minute {
				late++
			}
		}
		slices.Sort(off)
		t.Logf("%s: %d vjobs, %d of which waited and %d start later than they were told; off by %s to %s, median %s",
			c.policy.Name(), len(off), waited, late, off[0], off[len(off)-1], off[len(off)/2])
		if waited < 20 {
			t.Errorf("%s: only %d of %d waited", c.policy.Name(), waited, len(off))
		}
		if late > int(c.late*float64(len(off))) {
			t.Errorf("%s: %d of %d start later than estimated, the last by %s", c.policy.Name(), late, len(off), off[len(off)-1])
		}
	}
}

// draw submits a vjob of one of three users: some of four processors, some of VMs of which no
// two fit on one node.
func (s *scene) draw(rng *rand.Rand) cluster.VJobID {
	s.t.Helper()
	sub := admission.Submission{Owner: string(rune('a' + rng.IntN(3))), Walltime: time.Duration(20+rng.IntN(100)) * time.Minute}
	work := time.Duration(float64(sub.Walltime-2*time.Minute) * (0.3 + 0.7*rng.Float64()))
	cpu, vms := cluster.MilliCPU(1000), 1+rng.IntN(4)
	if rng.IntN(2) == 0 {
		cpu, vms = 2000, 1+rng.IntN(3)
	}
	for range vms {
		sub.VMs = append(sub.VMs, cluster.VM{Reserved: cluster.Resources{CPU: cpu, Memory: 512}, Payload: &cluster.Payload{
			Image: "simulated", Program: &cluster.Program{Steps: []cluster.Step{{CPU: cpu, Duration: work}}},
		}})
	}
	job, err := s.shell.Submit(sub)
	if err != nil {
		s.t.Fatal(err)
	}
	return job.ID
}
