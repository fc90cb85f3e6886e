package ordering_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue"
	"vjob/queue/fairshare"
	"vjob/queue/multifactor"
	"vjob/queue/ordering"
	"vjob/queue/quota"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// settings returns settings with three queues and a weight on everything.
func settings(t *testing.T, limits ...quota.Quota) ordering.Settings {
	t.Helper()
	list, err := ordering.NewQueues([]ordering.Queue{
		{Name: "batch", Priority: 10, Policy: queue.FirstFit{}, VMs: 8},
		{Name: "urgent", Priority: 40, Policy: queue.FirstFit{}, Walltime: time.Hour},
		{Name: "idle", Policy: queue.FirstFit{}},
	}, "batch")
	if err != nil {
		t.Fatal(err)
	}
	book, err := quota.New(limits, list.Names())
	if err != nil {
		t.Fatal(err)
	}
	return ordering.Settings{
		Queues: list, Quotas: book,
		Rank: multifactor.Settings{
			Weights: multifactor.Weights{User: 10, Queue: 1000, Age: 1000, FairShare: 500, Size: 100, Deadline: 800},
			OldAge:  10 * day, Horizon: day, Lead: 50,
		},
		Shares: fairshare.Settings{HalfLife: 7 * day, CPU: 1, Share: 1, Shares: map[string]float64{"physics": 2}},
	}
}

// vjob returns a vjob of n VMs with a processor each.
func vjob(id cluster.VJobID, owner, project, in string, n int) *cluster.VJob {
	j := &cluster.VJob{ID: id, Owner: owner, Submitted: noon, Terms: &cluster.Terms{Project: project, Queue: in}}
	for i := range n {
		j.VMs = append(j.VMs, cluster.VM{ID: cluster.VMID{VJob: id, Rank: i}, Reserved: cluster.Resources{CPU: cluster.CPU, Memory: 1024}})
	}
	return j
}

// The example of docs/reference/queues-and-quotas.md.
func TestExample(t *testing.T) {
	r := settings(t)
	r.Rank.User, r.Rank.Size, r.Rank.Deadline = 0, 0, 0
	d := ordering.NewOrder(r)
	for user, hours := range map[string]int64{"physics/ann": 300, "biology/bob": 600} {
		d.Restore(ordering.Usage{User: user[8:], Project: user[:7], Hour: noon, CPUTime: hours * 3_600_000})
	}
	for _, c := range []struct {
		job  *cluster.VJob
		age  time.Duration
		runs bool
		want string
	}{
		{vjob(15, "bob", "biology", "urgent", 1), time.Hour, false, "priority 1129 = 1000 queue + 4 age + 125 fair share"},
		{vjob(9, "bob", "biology", "batch", 1), 6 * day, true, "priority 1025 = 250 queue + 600 age + 125 fair share + 50 runs"},
		{vjob(12, "ann", "physics", "gone", 1), 2 * day, false, "priority 803 = 250 queue + 200 age + 353 fair share"},
	} {
		c.job.Submitted = noon.Add(-c.age)
		supposed := d.WhatIf(c.job, noon)
		d.Put(c.job, c.runs)
		got, there := d.Rank(c.job.ID, noon)
		if !there || got.String() != c.want {
			t.Errorf("%s: %s, want %s", c.job.ID, &got, c.want)
		}
		if !c.runs && supposed.String() != c.want {
			t.Errorf("%s: %s when it was supposed, want %s", c.job.ID, &supposed, c.want)
		}
	}
	if got := d.Sorted(noon); !slices.Equal(got, []cluster.VJobID{15, 9, 12}) {
		t.Errorf("order %v", got)
	}
}

// model is the expected state, computed without caches.
type model struct {
	settings ordering.Settings
	total    cluster.Resources
	jobs     map[cluster.VJobID]*cluster.VJob
	runs     map[cluster.VJobID]bool
	usage    []ordering.Usage
}

// order returns an order built from all that has happened.
func (m *model) order(now time.Time) []cluster.VJobID {
	desk := ordering.NewOrder(m.settings)
	desk.SetTotal(m.total)
	for _, u := range m.usage {
		desk.Restore(u)
	}
	var ranks []multifactor.Priority
	for id, j := range m.jobs {
		desk.Put(j, m.runs[id])
		r, _ := desk.Rank(id, now)
		ranks = append(ranks, r)
	}
	slices.SortFunc(ranks, func(a, b multifactor.Priority) int { return a.Compare(&b) })
	ids := make([]cluster.VJobID, len(ranks))
	for i := range ranks {
		ids[i] = ranks[i].ID
	}
	return ids
}

// After any events the order equals a newly built one. After time or use alone, Stirs reports whether
// it differs from the last decision.
func TestOrder(t *testing.T) {
	stirred := 0
	for range 40 {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) { stirred += history(t, rand.New(rand.NewPCG(seed, 4))) })
	}
	if stirred == 0 {
		t.Error("nothing ever stirred")
	}
}

// history plays 200 events and counts reported changes.
func history(t *testing.T, rng *rand.Rand) (stirred int) {
	t.Helper()
	pick := func(names ...string) string { return names[rng.IntN(len(names))] }
	m := &model{settings: settings(t), jobs: map[cluster.VJobID]*cluster.VJob{}, runs: map[cluster.VJobID]bool{}}
	d, now, last := ordering.NewOrder(m.settings), noon, cluster.VJobID(0)
	var decided []cluster.VJobID
	one := func() cluster.VJobID { return cluster.VJobID(1 + rng.IntN(max(1, int(last)))) }
	for range 200 {
		happened := true
		switch rng.IntN(7) {
		case 0, 1:
			last++
			j := vjob(last, pick("ann", "bob", "eve"), pick("", "physics", "biology"), pick("", "batch", "urgent", "idle", "gone"), 1+rng.IntN(4))
			j.Submitted, j.Priority = now.Add(-time.Duration(rng.IntN(20))*time.Hour), rng.IntN(3)-1
			if rng.IntN(3) == 0 {
				j.Deadline = now.Add(time.Duration(rng.IntN(60)) * time.Hour)
			}
			m.jobs[last] = j
			d.Put(j, false)
		case 2:
			if j := m.jobs[one()]; j != nil {
				m.runs[j.ID] = !m.runs[j.ID]
				d.Put(j, m.runs[j.ID])
			}
		case 3:
			id := one()
			delete(m.jobs, id)
			d.Drop(id)
		case 4:
			m.total = cluster.Resources{CPU: cluster.MilliCPU(rng.IntN(3)) * 8 * cluster.CPU, Memory: 64 * cluster.GiB}
			d.SetTotal(m.total)
		case 5:
			if u, ok := d.Charge(one(), now, time.Duration(rng.IntN(7200))*time.Second, rng.Int64N(1e6)); ok {
				m.usage = append(m.usage, u)
			}
			happened = false // the desk finds out by itself
		default:
			now = now.Add(time.Duration(rng.IntN(7200)) * time.Second)
			happened = false
		}
		want := m.order(now)
		if rng.IntN(4) == 0 {
			d.Sorted(now) // this does not clear the change
		}
		if stirs := !slices.Equal(want, decided); !happened && d.Changed(now) != stirs {
			t.Fatalf("%s: stirs %t, want %t", now, !stirs, stirs)
		} else if !happened && stirs {
			stirred++
		}
		if got := d.Sorted(now); !slices.Equal(got, want) {
			t.Fatalf("%s: order %v, want %v", now, got, want)
		}
		decided = want
		d.Decided(now)
		if d.Changed(now) {
			t.Fatalf("%s: it stirs right after a decision", now)
		}
	}
	if d.Len() != len(m.jobs) {
		t.Errorf("%d vjobs, want %d", d.Len(), len(m.jobs))
	}
	return stirred
}
