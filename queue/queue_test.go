package queue_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue"
	"vjob/tests/cpupool"
)

// job reads "12 running 2": number, state, CPU; then "held", or "busy" and its bound target.
func job(t *testing.T, text string, capacity *cpupool.Pool) queue.Job {
	t.Helper()
	f := strings.Fields(text)
	id, err := cluster.ParseVJobID(f[0])
	state, err2 := cluster.ParseState(f[1])
	need, err3 := cluster.ParseCPU(f[2])
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	capacity.Needs[id] = need
	j := queue.Job{VJob: &cluster.VJob{ID: id, State: state, Terms: &cluster.Terms{}}}
	for i, word := range f[3:] {
		switch word {
		case "held":
			j.Held = true
		case "busy":
			j.Busy = true
			j.Bound = map[string]queue.Target{"run": queue.Run, "wait": queue.Wait, "suspend": queue.Suspend}[f[3+i+1]]
		}
	}
	return j
}

func TestSelect(t *testing.T) {
	fcfs, firstFit := queue.FCFS{}, queue.FirstFit{}
	for _, c := range []struct {
		name     string
		policy   queue.Policy
		capacity cluster.MilliCPU
		jobs     []string
		want     []string
		first    cluster.VJobID // taken before all others, 0 for whichever
	}{
		{name: "an empty queue", policy: fcfs},
		{
			name: "fcfs: no vjob passes a waiting head", policy: fcfs, capacity: 4000,
			jobs: []string{"1 waiting 2", "2 waiting 3", "3 waiting 1", "4 waiting 1"},
			want: []string{
				"run runs: there is room",
				"wait waits: needs 1 CPU more; 1st in line",
				"wait waits: may not pass 2, which comes first; 2nd in line behind 2",
				"wait waits: may not pass 2, which comes first; 3rd in line behind 2 and 3",
			},
		},
		{
			name: "fcfs: running vjobs go on whatever the order", policy: fcfs, capacity: 4000, first: 2,
			jobs: []string{"1 waiting 2", "2 running 3"},
			want: []string{"wait waits: needs 1 CPU more; 1st in line", "run runs"},
		},
		{
			name: "fcfs: what runs goes on even if it fits no more", policy: fcfs, capacity: 1000,
			jobs: []string{"1 running 2"},
			want: []string{"run runs"},
		},
		{
			name: "fcfs: a suspended vjob competes in its order", policy: fcfs, capacity: 2000,
			jobs: []string{"1 suspended 2", "2 waiting 1"},
			want: []string{"run runs: there is room", "wait waits: needs 1 CPU more; 1st in line"},
		},
		{
			name: "fcfs: a held vjob delays no other", policy: fcfs, capacity: 2000,
			jobs: []string{"1 waiting 4 held", "2 running 2 held", "3 waiting 2"},
			want: []string{"wait is held", "suspend suspended: it is held", "run runs: there is room"},
		},
		{
			name: "first fit: small vjobs pass large ones", policy: firstFit, capacity: 3000,
			jobs: []string{"1 waiting 2", "2 waiting 2", "3 waiting 1"},
			want: []string{"run runs: there is room", "wait waits: needs 1 CPU more; 1st in line", "run runs: there is room"},
		},
		{
			// Thesis figure 9.3: 1 and 2 run, 1 has grown, 3 fits beside it.
			name: "first fit: figure 9.3", policy: firstFit, capacity: 4000,
			jobs: []string{"1 running 3", "2 running 2", "3 waiting 1"},
			want: []string{"run runs", "suspend suspended to make room for 1: needs 1 CPU more", "run runs: there is room"},
		},
		{
			name: "first fit: a suspended vjob comes back at the expense of those after it", policy: firstFit, capacity: 4000,
			jobs: []string{"1 running 2", "2 suspended 2", "3 running 1"},
			want: []string{"run runs", "run runs: there is room", "suspend suspended to make room for 1 and 2: needs 1 CPU more"},
		},
		{
			name: "first fit: many before", policy: firstFit, capacity: 5000,
			jobs: []string{"1 running 1", "2 running 1", "3 running 1", "4 running 1", "5 running 1", "6 running 1.5"},
			want: []string{
				"run runs", "run runs", "run runs", "run runs", "run runs",
				"suspend suspended to make room for 1, 2, 3 and 2 more: needs 1.5 CPU more",
			},
		},
		{
			name: "busy vjobs bound to run take their room in their order", policy: firstFit, capacity: 2000, first: 1,
			jobs: []string{"1 waiting 2", "2 booting 1 busy run", "3 suspending 1 busy suspend", "4 migrating 1 busy run held"},
			want: []string{"run runs: there is room", "run is booting", "suspend is suspending", "run is migrating"},
		},
		{
			name: "busy vjobs of fcfs take their room before those that run", policy: fcfs, capacity: 2000, first: 2,
			jobs: []string{"1 running 2", "2 resuming 1 busy run", "3 stopping 1 busy wait"},
			want: []string{"run runs", "run is resuming", "wait is stopping"},
		},
		{
			name: "what has ended stays so", policy: firstFit, capacity: 2000,
			jobs: []string{"1 terminated 1", "2 failed 1"},
			want: []string{"wait is terminated", "wait is failed"},
		},
		{
			name: "nothing before it", policy: firstFit, capacity: 1000,
			jobs: []string{"1 running 2"},
			want: []string{"suspend suspended to make room for what is under way: needs 1 CPU more"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			capacity := &cpupool.Pool{Free: c.capacity, Needs: map[cluster.VJobID]cluster.MilliCPU{}}
			var jobs []queue.Job
			for _, text := range c.jobs {
				jobs = append(jobs, job(t, text, capacity))
			}
			got := c.policy.Select(&queue.Input{Jobs: jobs, Capacity: func() queue.Capacity { return capacity }})
			if len(got) != len(c.want) {
				t.Fatalf("%d verdicts on %d jobs", len(got), len(jobs))
			}
			for i, v := range got {
				if text := v.Target.String() + " " + v.Reason; text != c.want[i] {
					t.Errorf("vjob %s: %q, want %q", jobs[i].ID, text, c.want[i])
				}
			}
			if c.first != 0 && (len(capacity.Taken) == 0 || capacity.Taken[0] != c.first) {
				t.Errorf("room went to %v, want vjob %s first", capacity.Taken, c.first)
			}
		})
	}
}

func TestShortageInWords(t *testing.T) {
	for want, s := range map[string]queue.Shortage{
		"needs 6 CPU and 2 GiB more":                                 {Missing: cluster.Resources{CPU: 6 * cluster.CPU, Memory: 2 * cluster.GiB}},
		"needs 0.5 CPU more":                                         {Missing: cluster.Resources{CPU: 500}},
		"needs 512 MiB more":                                         {Missing: cluster.Resources{Memory: 512}},
		"in the way is ban({1.0}, {n1})":                             {Rule: "ban({1.0}, {n1})"},
		"the room that is free lies in pieces too small for its VMs": {},
		"the room that is free lies in pieces too small for its VMs, the largest has 2 CPU and 1 GiB": {
			Largest: cluster.Resources{CPU: 2000, Memory: 1024},
		},
	} {
		if got := s.String(); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}

func TestLineOfManyThatWait(t *testing.T) {
	capacity := &cpupool.Pool{Needs: map[cluster.VJobID]cluster.MilliCPU{}}
	var jobs []queue.Job
	for i := range 113 {
		jobs = append(jobs, job(t, fmt.Sprintf("%d waiting 1", i+1), capacity))
	}
	verdicts := queue.FirstFit{}.Select(&queue.Input{Jobs: jobs, Capacity: func() queue.Capacity { return capacity }})
	for i, want := range map[int]string{
		1: "2nd in line behind 1", 2: "3rd in line behind 1 and 2", 3: "4th in line behind 1, 2 and 3",
		10: "11th", 21: "22nd", 110: "111th in line behind 1, 2, 3 and 107 more", 112: "113th",
	} {
		if !strings.Contains(verdicts[i].Reason, want) {
			t.Errorf("vjob %d: %q, want %q", i+1, verdicts[i].Reason, want)
		}
	}
}

func TestRegistry(t *testing.T) {
	for name, needs := range map[string]queue.Needs{
		"conservative": queue.Reserved, "easy": queue.Reserved, "fcfs": queue.Reserved, "firstfit": queue.Assumed, "timeslices": queue.Observed,
	} {
		p, err := queue.NewPublished(name, nil)
		if err != nil || p.Name() != name || p.Traits().Needs != needs {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	for _, k := range queue.PolicyKinds() {
		for _, build := range []func(string, queue.Values) (queue.Policy, error){queue.New, queue.NewPublished} {
			p, err := build(k.Name, nil)
			if err != nil || p.Name() != k.Name || k.Description == "" {
				t.Errorf("%s: %v, %v, described as %q", k.Name, p, err, k.Description)
			}
		}
	}
	_, err := queue.NewPublished("lifo", nil)
	var field *cluster.FieldError
	if !errors.As(err, &field) || field.Field != "policy" || field.Want != "one of "+strings.Join(queue.Names(), ", ") {
		t.Errorf("lifo: %v", err)
	}
}

func TestParameters(t *testing.T) {
	for _, c := range []struct {
		name  string
		given queue.Values
		want  queue.Policy
	}{
		{"easy", queue.Values{"quantum": "1h"}, queue.EASY{}},
		{"firstfit", nil, queue.FirstFit{Count: queue.Observed, Hysteresis: queue.DefaultHysteresis}},
		{"firstfit", queue.Values{"needs": "predicted", "min_run": "90s", "settle": "1h"}, queue.FirstFit{Count: queue.Predicted, MinRun: 90 * time.Second, Hysteresis: queue.DefaultHysteresis}},
		{"dynamic-easy", queue.Values{"needs": "", "min_run": "0s", "due": "0"}, queue.DynamicEASY{Count: queue.Assumed, MinRun: queue.DefaultMinRun, Patience: queue.DefaultMinRun}},
		{"timeslices", queue.Values{"quantum": "0.5d"}, queue.TimeSlices{Count: queue.Observed, Quantum: 12 * time.Hour}},
	} {
		if p, err := queue.New(c.name, c.given); err != nil || p != c.want {
			t.Errorf("%s %v: %+v, %v, want %+v", c.name, c.given, p, err, c.want)
		}
	}
	if p, err := queue.NewPublished("firstfit", queue.Values{"patience": "1m"}); err != nil || p != (queue.FirstFit{Count: queue.Assumed, Patience: time.Minute}) {
		t.Errorf("%+v, %v", p, err)
	}
	for parameter, text := range map[string]string{"min_run": "soon", "patience": "2d", "due": "1001", "needs": "all"} {
		var field *cluster.FieldError
		if _, err := queue.New("dynamic-easy", queue.Values{parameter: text}); !errors.As(err, &field) || field.Field != parameter {
			t.Errorf("%s %s: %v", parameter, text, err)
		}
	}
}

// The cause of a suspension names the vjobs that start instead, or, if capacity was lost and none
// starts, those that stay running.
func TestPreemptionNamesVJobs(t *testing.T) {
	for _, c := range []struct {
		jobs []string
		want string
	}{
		{[]string{"1 running 1", "2 waiting 1", "3 running 2"}, "to make room for 2: 2 CPU short"},
		{[]string{"1 running 1", "2 running 1", "3 running 2"}, "to make room for 1 and 2: 2 CPU short"},
		{
			[]string{"1 running 0.25", "2 running 0.25", "3 running 0.25", "4 running 0.25", "5 running 1", "6 running 2"},
			"to make room for 1, 2, 3 and 2 more: 2 CPU short",
		},
	} {
		capacity := &cpupool.Pool{Free: 2000, Needs: map[cluster.VJobID]cluster.MilliCPU{}}
		m := &queue.Input{Now: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC), Capacity: func() queue.Capacity { return capacity }}
		for _, text := range c.jobs {
			m.Jobs = append(m.Jobs, job(t, text, capacity))
		}
		verdicts := queue.FirstFit{}.Select(m)
		last := verdicts[len(verdicts)-1]
		if last.Target != queue.Suspend || last.Cause.String() != c.want {
			t.Errorf("%v: %s, %q, want %q", c.jobs, last.Target, last.Cause.String(), c.want)
		}
	}
}
