package quota_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/cluster/calendar"
	"vjob/queue"
	"vjob/queue/quota"
	"vjob/tests/cpupool"
)

// noon is on a Saturday.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

func cpus(n int64) quota.Limits { return quota.Limits{quota.CPU: n * 1000} }

func always(l quota.Limits) *calendar.Calendar[quota.Limits] { return calendar.Always(l) }

// nightly returns a quota with other limits at night.
func nightly(tb testing.TB, byDay, byNight quota.Limits) *calendar.Calendar[quota.Limits] {
	tb.Helper()
	w, err := calendar.Parse("18:00-08:00")
	if err != nil {
		tb.Fatal(err)
	}
	c, err := calendar.New(time.UTC, byDay, calendar.Entry[quota.Limits]{Name: "night", When: w, Value: byNight})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func book(tb testing.TB, quotas ...quota.Quota) *quota.Book {
	tb.Helper()
	b, err := quota.New(quotas, []string{"batch", "long"})
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// job reads "7 ann physics batch 4 2h": the number, the three names, processors (each
// VM has one, with a GiB), the rest of the walltime or "-".
func job(tb testing.TB, text string) *quota.Job {
	tb.Helper()
	j, left := &quota.Job{}, ""
	if _, err := fmt.Sscan(text, &j.ID, &j.Association.User, &j.Association.Project, &j.Association.Queue, &j.VMs, &left); err != nil {
		tb.Fatal(err)
	}
	j.Need = cluster.Resources{CPU: cluster.CPU, Memory: cluster.GiB}.Times(j.VMs)
	if left != "-" {
		var err error
		if j.Left, err = time.ParseDuration(left); err != nil {
			tb.Fatal(err)
		}
		j.Ends = true
	}
	return j
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		quotas []quota.Quota
		at     time.Time
		run    []string
		ask    string
		want   string // "" if it may run
	}{
		{
			"up to the limit",
			[]quota.Quota{{Name: "cpus", User: quota.Each, Limits: always(cpus(40))}},
			noon,
			[]string{"1 ann p batch 30 -"},
			"2 ann p batch 10 -", "",
		},
		{
			"beyond",
			[]quota.Quota{{Name: "cpus", User: quota.Each, Limits: always(cpus(40))}},
			noon,
			[]string{"1 ann p batch 30 -", "2 ann p long 10 -"},
			"3 ann p batch 1 -", "quota cpus of user ann: 40 of 40 CPU are used, it needs 1",
		},
		{
			"each user separately",
			[]quota.Quota{{Name: "cpus", User: quota.Each, Limits: always(cpus(40))}},
			noon,
			[]string{"1 ann p batch 40 -"},
			"2 bob p batch 40 -", "",
		},
		{
			"all together",
			[]quota.Quota{{Name: "cpus", Limits: always(cpus(40))}},
			noon,
			[]string{"1 ann p batch 39 -"},
			"2 bob q long 2 -", "quota cpus: 39 of 40 CPU are used, it needs 2",
		},
		{
			"each user in one project and queue",
			[]quota.Quota{{Name: "x", User: quota.Each, Project: "p", Queue: "long", Limits: always(quota.Limits{quota.VMs: 3})}},
			noon,
			[]string{"1 ann p batch 9 -", "2 ann q long 9 -", "3 ann p long 2 -"},
			"4 ann p long 2 -",
			"quota x of user ann in project p in queue long: 2 of 3 VMs are used, it needs 2",
		},
		{
			"an exception",
			[]quota.Quota{{Name: "cpus", User: quota.Each, Limits: always(cpus(4))}, {Name: "cpus", User: "ann", Limits: always(cpus(8))}},
			noon,
			[]string{"1 ann p batch 4 -"},
			"2 ann p batch 4 -", "",
		},
		{
			"no exception for others",
			[]quota.Quota{{Name: "cpus", User: quota.Each, Limits: always(cpus(4))}, {Name: "cpus", User: "ann", Limits: always(cpus(8))}},
			noon,
			[]string{"1 bob p batch 4 -"},
			"2 bob p batch 4 -", "quota cpus of user bob: 4 of 4 CPU are used, it needs 4",
		},
		{
			"two quotas",
			[]quota.Quota{{Name: "a", User: quota.Each, Limits: always(cpus(9))}, {Name: "b", Project: "p", Limits: always(quota.Limits{quota.Memory: 4096})}},
			noon,
			[]string{"1 bob p batch 3 -"},
			"2 ann p batch 2 -", "quota b of project p: 3 GiB of 4 GiB are used, it needs 2 GiB",
		},
		{
			"by day",
			[]quota.Quota{{Name: "cpus", User: quota.Each, Limits: nightly(t, cpus(4), cpus(40))}},
			noon,
			nil, "1 ann p batch 5 -", "quota cpus of user ann: 0 of 4 CPU are used, it needs 5",
		},
		{
			"by night",
			[]quota.Quota{{Name: "cpus", User: quota.Each, Limits: nightly(t, cpus(4), cpus(40))}},
			noon.Add(8 * time.Hour),
			[]string{"1 ann p batch 40 -"},
			"2 ann p batch 1 -", "quota cpus (night) of user ann: 40 of 40 CPU are used, it needs 1",
		},
		{
			"what runs may be above",
			[]quota.Quota{{Name: "cpus", User: quota.Each, Limits: nightly(t, cpus(4), cpus(40))}},
			noon,
			[]string{"1 ann p batch 30 -"},
			"2 ann p batch 1 -", "quota cpus of user ann: 30 of 4 CPU are used, it needs 1",
		},
		{
			"nothing at all",
			[]quota.Quota{{Name: "none", Project: "p", Limits: always(cpus(0))}},
			noon,
			nil, "1 ann p batch 1 -", "quota none of project p: 0 of 0 CPU are used, it needs 1",
		},
		{
			"others are not concerned",
			[]quota.Quota{{Name: "none", Project: "p", Limits: always(quota.Limits{quota.VMs: 1, quota.CPU: 0})}},
			noon,
			nil, "1 ann q batch 1 -", "",
		},
		{
			"CPU time that is still to come",
			[]quota.Quota{{Name: "hours", User: quota.Each, Within: 7 * day, Limits: always(quota.Limits{quota.CPUTime: 100 * 3_600_000})}},
			noon,
			[]string{"1 ann p batch 4 20h"},
			"2 ann p batch 3 3h30m", "quota hours of user ann: 90 of 100 CPU-hours are used (80 of them promised to what runs), it needs 10.5; 10 come free at 2026-11-28 08:00",
		}, // with 10 of the past
		{
			"CPU time just so",
			[]quota.Quota{{Name: "hours", User: quota.Each, Within: 7 * day, Limits: always(quota.Limits{quota.CPUTime: 100 * 3_600_000})}},
			noon,
			[]string{"1 ann p batch 4 20h"},
			"2 ann p batch 5 2h", "",
		},
		{
			"CPU time without an end",
			[]quota.Quota{{Name: "hours", User: quota.Each, Within: day, Limits: always(quota.Limits{quota.CPUTime: 30 * 3_600_000})}},
			noon,
			nil, "2 ann p batch 1 -", "quota hours of user ann: 10 of 30 CPU-hours are used, it needs 24; 10 come free at 2026-11-22 08:00",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var past quota.Ledger
			past.Charge(quota.Association{User: "ann", Project: "p", Queue: "batch"}, noon.Add(-5*time.Hour), 10*3_600_000)
			tally := book(t, c.quotas...).Tally(c.at, &past)
			for _, text := range c.run {
				tally.Count(job(t, text))
			}
			if got := tally.Refuses(job(t, c.ask)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestNever(t *testing.T) {
	for _, c := range []struct {
		quota     quota.Quota
		ask, want string
	}{
		{quota.Quota{Name: "cpus", User: quota.Each, Limits: nightly(t, cpus(4), cpus(40))}, "1 ann p batch 40 -", ""},
		{
			quota.Quota{Name: "cpus", User: quota.Each, Limits: nightly(t, cpus(4), cpus(40))},
			"1 ann p batch 41 -",
			"vms: 41 CPU requested, quota cpus of user ann allows at most 40 CPU",
		},
		{quota.Quota{Name: "cpus", User: quota.Each, Limits: nightly(t, cpus(4), quota.Limits{quota.VMs: 50})}, "1 ann p batch 41 -", ""},
		{quota.Quota{Name: "ram", User: "bob", Limits: always(quota.Limits{quota.Memory: 1})}, "1 ann p batch 41 -", ""},
		{
			quota.Quota{Name: "ram", Queue: "long", Limits: always(quota.Limits{quota.Memory: 2048})},
			"1 ann p long 3 -",
			"vms: 3 GiB requested, quota ram of queue long allows at most 2 GiB",
		},
		{
			quota.Quota{Name: "hours", Within: day, Limits: always(quota.Limits{quota.CPUTime: 10 * 3_600_000})},
			"1 ann p long 3 4h",
			"walltime_seconds: 12 CPU-hours requested, quota hours allows at most 10 CPU-hours",
		},
	} {
		err, got := book(t, c.quota).CheckFeasible(job(t, c.ask)), ""
		if err != nil {
			got = strings.ReplaceAll(err.Error(), `"`, "")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.ask, got, c.want)
		}
	}
}

func TestWrongQuotas(t *testing.T) {
	ok := quota.Quota{Name: "q", User: quota.Each, Limits: always(cpus(1))}
	for _, c := range []struct {
		field  string
		quotas []quota.Quota
	}{
		{"quotas[0].name", []quota.Quota{{Name: " ", Limits: always(cpus(1))}}},
		{"quotas[1].queue", []quota.Quota{ok, {Name: "a", Queue: "btach", Limits: always(cpus(1))}}},
		{"quotas[0].limits", []quota.Quota{{Name: "a"}}},
		{"quotas[0].limits", []quota.Quota{{Name: "a", Limits: nightly(t, nil, nil)}}},
		{"quotas[0].limits", []quota.Quota{{Name: "a", Limits: always(cpus(-1))}}},
		{"quotas[0].within", []quota.Quota{{Name: "a", Limits: always(quota.Limits{quota.CPUTime: 1})}}},
		{"quotas[0].within", []quota.Quota{{Name: "a", Within: day, Limits: always(cpus(1))}}},
		{"quotas[0].name", []quota.Quota{{Name: "q", User: "ann", Limits: always(cpus(1))}, ok}},
		{"quotas[0].name", []quota.Quota{ok, ok}},
	} {
		_, err := quota.New(c.quotas, []string{"batch"})
		if wrong, is := errors.AsType[*cluster.FieldError](err); !is || wrong.Field != c.field {
			t.Errorf("%s: %v", c.field, err)
		}
	}
}

// needs returns the CPU that each vjob needs.
func needs(jobs map[cluster.VJobID]*quota.Job) map[cluster.VJobID]cluster.MilliCPU {
	list := map[cluster.VJobID]cluster.MilliCPU{}
	for id, j := range jobs {
		list[id] = j.Need.CPU
	}
	return list
}

// Every policy obeys, its reasons name the quota, and a vjob with an exhausted quota delays no other.
func TestPoliciesObey(t *testing.T) {
	b := book(t, quota.Quota{Name: "cpus", User: quota.Each, Limits: always(cpus(4))})
	jobs, list := map[cluster.VJobID]*quota.Job{}, []queue.Job{}
	for i, text := range []string{"1 ann p batch 3 1h", "2 ann p batch 1 1h", "3 ann p batch 2 1h", "4 bob p batch 4 1h"} {
		j := job(t, text)
		jobs[j.ID] = j
		state := cluster.Waiting
		if i == 0 {
			state = cluster.Running
		}
		list = append(list, queue.Job{VJob: &cluster.VJob{ID: j.ID, State: state, Walltime: time.Hour}, Need: j.Need})
	}
	for _, p := range []queue.Policy{queue.FCFS{}, queue.EASY{}, queue.Conservative{}, queue.FirstFit{}, queue.TimeSlices{Quantum: time.Hour}, queue.FirstFit{Patience: time.Minute}, queue.DynamicEASY{}, queue.DynamicEASY{Patience: time.Minute}} {
		tally := b.Tally(noon, nil)
		tally.Count(jobs[1])
		m := &queue.Input{Now: noon, Jobs: list, Total: cluster.Resources{CPU: 100_000, Memory: 100 * cluster.GiB}, Capacity: func() queue.Capacity {
			return tally.Capacity(&cpupool.Pool{Free: 100_000, Needs: needs(jobs)}, jobs)
		}}
		v := p.Select(m)
		if v[0].Target != queue.Run || v[1].Target != queue.Run || v[2].Target != queue.Wait || v[3].Target != queue.Run ||
			!strings.Contains(v[2].Reason, "waits: quota cpus of user ann: ") {
			t.Errorf("%s: %v", p.Name(), v)
		}
	}
}

// In any order of calls, a vjob is taken if and only if no sum over all taken ones exceeds its limit.
func TestAgainstSums(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		users, projects, queues := []string{"ann", "bob", "eve"}, []string{"p", "q"}, []string{"batch", "long"}
		pick := func(names []string) string { return append([]string{"", quota.Each}, names...)[rng.IntN(2+len(names))] }
		var quotas []quota.Quota
		for i := range 1 + rng.IntN(5) {
			q := quota.Quota{Name: fmt.Sprint(i), User: pick(users), Project: pick(projects), Queue: pick(queues)}
			l := quota.Limits{quota.Measure(rng.IntN(3)): rng.Int64N(20_000)}
			if rng.IntN(3) == 0 {
				l[quota.VMs] = rng.Int64N(12)
			}
			if rng.IntN(3) == 0 {
				l[quota.CPUTime], q.Within = rng.Int64N(100)*3_600_000, 10*time.Hour
			}
			q.Limits = always(l)
			quotas = append(quotas, q)
		}
		jobs, taken := map[cluster.VJobID]*quota.Job{}, []*quota.Job{}
		tally := book(t, quotas...).Tally(noon, nil)
		for i := range 30 {
			j := job(t, fmt.Sprintf("%d %s %s %s %d %dh", i+1, users[rng.IntN(3)], projects[rng.IntN(2)], queues[rng.IntN(2)], 1+rng.IntN(5), rng.IntN(20)))
			jobs[j.ID] = j
			if i < 3 {
				tally.Count(j)
				taken = append(taken, j)
			}
		}
		capacity := tally.Capacity(&cpupool.Pool{Free: 1 << 40, Needs: needs(jobs)}, jobs)
		for _, i := range rng.Perm(27) {
			j := jobs[cluster.VJobID(i+4)]
			ok, short := capacity.Take(j.ID)
			if want := allows(quotas, taken, j); ok != want {
				t.Fatalf("seed %d: vjob %s of %v is taken: %v (%s), want %v", seed, j.ID, j.Association, ok, short, want)
			}
			if ok {
				taken = append(taken, j)
			}
		}
	}
}

// Each capacity contains only what was counted before: policies may scan more than once.
func TestRoomsAreApart(t *testing.T) {
	jobs := map[cluster.VJobID]*quota.Job{}
	for _, text := range []string{"1 ann p batch 3 -", "2 ann p batch 3 -", "3 ann p batch 3 -"} {
		j := job(t, text)
		jobs[j.ID] = j
	}
	tally := book(t, quota.Quota{Name: "cpus", Limits: always(cpus(6))}).Tally(noon, nil)
	tally.Count(jobs[1])
	for _, order := range [][]cluster.VJobID{{2, 3}, {3, 2}} {
		capacity := tally.Capacity(&cpupool.Pool{Free: 100_000, Needs: needs(jobs)}, jobs)
		if ok, _ := capacity.Take(1); !ok {
			t.Error("what is counted is not taken")
		}
		if ok, _ := capacity.Take(order[0]); !ok {
			t.Errorf("%d does not fit beside 1", order[0])
		}
		if ok, short := capacity.Take(order[1]); ok || short.Limit != "quota cpus: 6 of 6 CPU are used, it needs 3" {
			t.Errorf("%d fits beside both: %s", order[1], short)
		}
	}
	// A vjob that does not fit is not counted.
	capacity := tally.Capacity(&cpupool.Pool{Free: 2000, Needs: needs(jobs)}, jobs)
	for _, id := range []cluster.VJobID{2, 3, 2} {
		if ok, short := capacity.Take(id); ok || short.Limit != "" {
			t.Errorf("%d: %v, %s", id, ok, short)
		}
	}
}

func allows(quotas []quota.Quota, taken []*quota.Job, j *quota.Job) bool {
	for _, q := range quotas {
		same := func(says, mine, other string) bool {
			return says == "" || says == quota.Each && mine == other || says == mine && says == other
		}
		sums, own := map[quota.Measure]int64{}, map[quota.Measure]int64{}
		for _, o := range append(slices.Clone(taken), j) {
			if !same(q.User, j.Association.User, o.Association.User) || !same(q.Project, j.Association.Project, o.Association.Project) || !same(q.Queue, j.Association.Queue, o.Association.Queue) {
				continue
			}
			for m, n := range map[quota.Measure]int64{
				quota.VMs: int64(o.VMs), quota.CPU: int64(o.Need.CPU), quota.Memory: int64(o.Need.Memory),
				quota.CPUTime: int64(o.Need.CPU) * min(o.Left, q.Within).Milliseconds() / 1000,
			} {
				sums[m] += n
				if o == j {
					own[m] = n
				}
			}
		}
		limits, _ := q.Limits.At(noon)
		for m, limit := range limits {
			if own[m] > 0 && sums[m] > limit {
				return false
			}
		}
	}
	return true
}

func ExampleTally_Refuses() {
	b, _ := quota.New([]quota.Quota{{Name: "night", User: quota.Each, Limits: calendar.Always(quota.Limits{quota.CPU: 40_000})}}, nil)
	tally := b.Tally(noon, nil)
	ann := quota.Association{User: "ann", Project: "physics", Queue: "batch"}
	tally.Count(&quota.Job{ID: 1, Association: ann, Need: cluster.Resources{CPU: 40 * cluster.CPU}})
	fmt.Println(tally.Refuses(&quota.Job{ID: 2, Association: ann, Need: cluster.Resources{CPU: 4 * cluster.CPU}}))
	// Output: quota night of user ann: 40 of 40 CPU are used, it needs 4
}

func BenchmarkRefuses(b *testing.B) {
	const jobs, users = 100_000, 1000
	bk := book(b, quota.Quota{Name: "cpus", User: quota.Each, Limits: nightly(b, cpus(40), cpus(400))},
		quota.Quota{Name: "vms", Project: quota.Each, Limits: always(quota.Limits{quota.VMs: 100})},
		quota.Quota{Name: "long", Queue: "long", Limits: always(cpus(1000))})
	list := make([]*quota.Job, jobs)
	for i := range list {
		list[i] = &quota.Job{
			ID: cluster.VJobID(i + 1), VMs: 1, Need: cluster.Resources{CPU: cluster.CPU, Memory: cluster.GiB},
			Association: quota.Association{User: fmt.Sprint("u", i%users), Project: fmt.Sprint("p", i%17), Queue: "long"},
		}
	}
	b.Run("jobs=100000", func(b *testing.B) {
		for b.Loop() {
			tally := bk.Tally(noon, nil)
			for _, j := range list {
				if tally.Refuses(j) == "" {
					tally.Count(j)
				}
			}
		}
	})
}
