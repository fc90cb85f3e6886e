package ordering_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue"
	"vjob/queue/ordering"
	"vjob/tests/cpupool"
)

func list(t *testing.T, qs ...ordering.Queue) *ordering.Queues {
	t.Helper()
	l, err := ordering.NewQueues(qs, qs[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRoute(t *testing.T) {
	l := list(t, ordering.Queue{Name: "batch", Priority: 10, Policy: queue.EASY{}}, ordering.Queue{Name: "urgent", Priority: 40, Policy: queue.EASY{}},
		ordering.Queue{Name: "idle", Policy: queue.EASY{}})
	for name, want := range map[string]string{"": "batch", "batch": "batch", "urgent": "urgent"} {
		if q, err := l.Route(name); err != nil || q.Name != want {
			t.Errorf("%q: %v, %v", name, q, err)
		}
	}
	if _, err := l.Route("urgnet"); err == nil || err.Error() != `queue: "urgnet" is not one of urgent, batch, idle` {
		t.Error(err)
	}
	for name, want := range map[string]float64{"urgent": 1, "batch": 0.25, "idle": 0, "gone": 0.25, "": 0.25} {
		if got := l.Factor(name); got != want {
			t.Errorf("factor of %s: %v, want %v", name, got, want)
		}
	}
}

func TestQueueAdmit(t *testing.T) {
	q := ordering.Queue{Name: "short", VMs: 4, CPU: 8 * cluster.CPU, Memory: cluster.GiB, Walltime: time.Hour}
	for _, c := range []struct {
		vms      int
		needs    cluster.Resources
		walltime time.Duration
		want     string
	}{
		{4, cluster.Resources{CPU: 8000, Memory: 1024}, time.Hour, ""},
		{5, cluster.Resources{}, time.Hour, "queue short allows at most 4"},
		{1, cluster.Resources{CPU: 8001}, time.Hour, "queue short allows at most 8"},
		{1, cluster.Resources{Memory: 2048}, time.Hour, "queue short allows at most 1 GiB"},
		{1, cluster.Resources{}, 2 * time.Hour, "queue short allows at most 1h0m0s"},
		{1, cluster.Resources{}, 0, "queue short requires a walltime of at most 1h0m0s"},
	} {
		err := q.Admit(c.vms, c.needs, c.walltime)
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestWrongQueues(t *testing.T) {
	ok := ordering.Queue{Name: "a", Policy: queue.EASY{}}
	for _, c := range []struct {
		field string
		list  []ordering.Queue
	}{
		{"queues", nil},
		{"default_queue", []ordering.Queue{{Name: "b", Policy: queue.EASY{}}}},
		{"queues[0].name", []ordering.Queue{{Name: "", Policy: queue.EASY{}}}},
		{"queues[1].name", []ordering.Queue{ok, ok}},
		{"queues[1].priority", []ordering.Queue{ok, {Name: "b", Policy: queue.EASY{}, Priority: -1}}},
		{"queues[1]", []ordering.Queue{ok, {Name: "b", Policy: queue.EASY{}, VMs: -1}}},
		{"queues[1].policy", []ordering.Queue{ok, {Name: "b", Policy: queue.FirstFit{Count: queue.Observed}}}},
	} {
		_, err := ordering.NewQueues(c.list, "a")
		if wrong, is := errors.AsType[*cluster.FieldError](err); !is || wrong.Field != c.field {
			t.Errorf("%s: %v", c.field, err)
		}
	}
}

// moment reads "1 urgent waiting 2": the number, the queue (as the owner), the state and
// processors; all have an hour.
func moment(t *testing.T, size cluster.MilliCPU, lines ...string) *queue.Input {
	t.Helper()
	needs := map[cluster.VJobID]cluster.MilliCPU{}
	m := &queue.Input{Now: noon, Total: cluster.Resources{CPU: size}, Capacity: func() queue.Capacity { return &cpupool.Pool{Free: size, Needs: needs} }}
	for _, line := range lines {
		j, state, cpus := queue.Job{VJob: &cluster.VJob{Walltime: time.Hour}}, "", 0
		if _, err := fmt.Sscan(line, &j.ID, &j.Owner, &state, &cpus); err != nil {
			t.Fatal(err)
		}
		var err error
		if j.State, err = cluster.ParseState(state); err != nil {
			t.Fatal(err)
		}
		j.Need.CPU = cluster.MilliCPU(cpus) * cluster.CPU
		needs[j.ID] = j.Need.CPU
		m.Jobs = append(m.Jobs, j)
	}
	return m
}

func owner(j *cluster.VJob) string { return j.Owner }

func TestPolicies(t *testing.T) {
	urgent := ordering.Queue{Name: "urgent", Priority: 9, Policy: queue.FirstFit{}}
	batch := ordering.Queue{Name: "batch", Priority: 1, Policy: queue.EASY{}}
	idle := ordering.Queue{Name: "idle", Policy: queue.FirstFit{MinRun: 1}} // not quite the same
	for _, c := range []struct {
		name string
		jobs []string
		want []string
	}{
		{"the queue counts before the order", []string{"1 batch waiting 3", "2 urgent waiting 3"}, []string{
			"wait waits: needs 2 CPU more, which will be there in 1h0m0s at the latest; 1st in line", "run runs: there is room",
		}},
		{"what runs under a policy without suspension stays", []string{"1 batch running 3", "2 urgent waiting 2"}, []string{
			"run runs", "wait waits: needs 1 CPU more; 1st in line",
		}},
		{"what runs under one with it makes room", []string{"1 idle running 3", "2 urgent waiting 2"}, []string{
			"suspend suspended to make room for 2: needs 1 CPU more", "run runs: there is room",
		}},
		{"three policies", []string{"1 idle waiting 1", "2 batch waiting 1", "3 urgent waiting 2", "4 idle waiting 1"}, []string{
			"run runs: there is room", "run runs: there is room", "run runs: there is room", "wait waits: needs 1 CPU more; 1st in line",
		}},
		{"a queue that is gone", []string{"1 gone waiting 4", "2 idle waiting 1"}, []string{
			"run runs: there is room", "wait waits: needs 1 CPU more; 1st in line",
		}},
	} {
		p := list(t, urgent, batch, idle).Policy(owner)
		var got []string
		for _, v := range p.Select(moment(t, 4000, c.jobs...)) {
			got = append(got, v.Target.String()+" "+v.Reason)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s, want\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
	if name := list(t, urgent, batch, idle).Policy(owner).Name(); name != "firstfit, easy, firstfit" {
		t.Error(name)
	}
}

// Queues with one policy equal that policy. With several, all running vjobs fit together, and
// non-preemptible ones go on.
func TestCapacityForAll(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 0))
		all := []queue.Policy{queue.FCFS{}, queue.EASY{}, queue.Conservative{}, queue.FirstFit{}}
		qs := []ordering.Queue{
			{Name: "a", Priority: rng.IntN(3), Policy: all[rng.IntN(4)]},
			{Name: "b", Priority: rng.IntN(3), Policy: all[rng.IntN(4)]},
			{Name: "c", Priority: rng.IntN(3), Policy: all[rng.IntN(4)]},
		}
		var lines []string
		free := 12
		for i := range 20 {
			state, need := "waiting", 1+rng.IntN(5)
			if need <= free && rng.IntN(2) == 0 {
				state = "running"
				free -= need
			}
			lines = append(lines, fmt.Sprintf("%d %c %s %d", i+1, 'a'+rng.IntN(3), state, need))
		}
		m := moment(t, 12_000, lines...)
		verdicts := list(t, qs...).Policy(owner).Select(m)
		if qs[0].Policy == qs[1].Policy && qs[1].Policy == qs[2].Policy && !reflect.DeepEqual(verdicts, qs[0].Policy.Select(m)) {
			t.Fatalf("seed %d: one policy decides otherwise", seed)
		}
		used := cluster.MilliCPU(0)
		for i, v := range verdicts {
			if v.Reason == "" {
				t.Fatalf("seed %d: no verdict for %s", seed, lines[i])
			}
			if v.Target == queue.Run {
				used += m.Jobs[i].Need.CPU
			}
			policy := qs[m.Jobs[i].Owner[0]-'a'].Policy
			if m.Jobs[i].State == cluster.Running && v.Target != queue.Run && policy != all[3] {
				t.Fatalf("seed %d: %s under %s: %v", seed, lines[i], policy.Name(), v)
			}
		}
		if used > 12_000 {
			t.Fatalf("seed %d: %s CPU of 12 are given away", seed, used)
		}
	}
}
