package queue_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue"
)

// every returns all policies, by name.
func every(t *testing.T) (list []queue.Policy) {
	t.Helper()
	for _, name := range queue.Names() {
		p, err := queue.NewPublished(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// onTerms reads vjobs as moment does, with words at the end of a line such as
// "best-effort end min 10m held".
func onTerms(t *testing.T, size cluster.MilliCPU, lines ...string) *queue.Input {
	t.Helper()
	plain := make([]string, len(lines))
	words := make([][]string, len(lines))
	for i, line := range lines {
		var rest string
		plain[i], rest, _ = strings.Cut(line, ";")
		words[i] = strings.Fields(rest)
	}
	m := moment(t, size, plain...)
	for i := range m.Jobs {
		j := m.Jobs[i].VJob
		for k, word := range words[i] {
			switch word {
			case "best-effort":
				j.BestEffort = true
			case "end":
				j.Preemption = cluster.ByEnd
			case "never":
				j.Preemption = cluster.Never
			case "held":
				j.Held = true
			case "min":
				j.MinRun = cluster.Seconds(span(t, words[i][k+1]))
			}
		}
	}
	return m
}

// show formats targets with reasons.
func show(verdicts []queue.Verdict) []string {
	list := make([]string, len(verdicts))
	for i, v := range verdicts {
		list[i] = v.Target.String() + " " + v.Reason
	}
	return list
}

// Under every policy best-effort vjobs get what the others leave and are preempted for them, and
// non-preemptible ones keep their capacity.
func TestPreemptibleUnderEveryPolicy(t *testing.T) {
	for _, c := range []struct {
		name string
		jobs []string
		want string // the targets
	}{
		{"best-effort starts beside others", []string{"1 running 2 60m ran 20m", "2 waiting 2 60m; best-effort"}, "run run"},
		{"best-effort comes last, wherever it stands", []string{"1 waiting 3 60m; best-effort", "2 waiting 3 60m"}, "wait run"},
		{"best-effort makes room", []string{"1 running 3 60m ran 20m; best-effort", "2 waiting 3 60m"}, "suspend run"},
		{"and is ended if it says so", []string{"1 running 3 60m ran 20m; best-effort end", "2 waiting 3 60m"}, "suspend run"},
		{"not for another like it", []string{"1 waiting 3 60m; best-effort", "2 running 3 60m ran 20m; best-effort"}, "wait run"},
		{"not before its time", []string{"1 running 3 60m ran 20m; best-effort min 30m", "2 waiting 3 60m"}, "run wait"},
		{"but after it", []string{"1 running 3 60m ran 30m; best-effort min 30m", "2 waiting 3 60m"}, "suspend run"},
		{"held, it is suspended", []string{"1 running 1 60m ran 10m; best-effort min 30m held", "2 waiting 4 60m"}, "suspend run"},
		{"held, it waits", []string{"1 waiting 1 60m; best-effort held", "2 waiting 1 60m"}, "wait run"},
		{"one that never makes room", []string{"2 waiting 3 60m", "1 running 3 60m ran 50m; never"}, "wait run"},
		{"one that has to run a while", []string{"2 waiting 3 60m", "1 running 3 60m ran 10m; min 30m"}, "wait run"},
		{"one that never does, and is held", []string{"2 waiting 3 60m", "1 running 3 60m ran 10m; never held"}, "run suspend"},
		{"a gap behind a waiting vjob", []string{"1 running 3 60m ran 20m; never", "2 waiting 4 60m", "3 waiting 1 10h; best-effort"}, "run wait run"},
		{"no conflict", []string{"1 running 2 60m; best-effort", "2 waiting 2 60m"}, "run run"},
	} {
		for _, p := range every(t) {
			verdicts := queue.Preemptible{Policy: p}.Select(onTerms(t, 4*cluster.CPU, c.jobs...))
			targets := make([]string, len(verdicts))
			for i, v := range verdicts {
				targets[i] = v.Target.String()
			}
			if got := strings.Join(targets, " "); got != c.want {
				t.Errorf("%s, %s: got %s, want %s:\n%s", p.Name(), c.name, got, c.want, strings.Join(show(verdicts), "\n"))
			}
		}
	}
}

func TestPreemptibleReasons(t *testing.T) {
	m := onTerms(t, 4*cluster.CPU, "1 waiting 1 60m", "2 running 3 60m ran 20m; best-effort end", "3 running 1 60m ran 10m; min 15m",
		"4 running 1 60m; never", "5 waiting 2 60m; best-effort", "6 waiting 1 60m")
	want := []string{
		"run runs: there is room",
		"suspend ended to make room, since it is best-effort: needs 3 CPU more; it starts anew later",
		"run runs: it makes no room for 5m0s yet",
		"run runs: it never makes room",
		"wait waits: needs 2 CPU more; 1st in line",
		"run runs: there is room",
	}
	got := queue.Preemptible{Policy: queue.FirstFit{}}.Select(m)
	if !slices.Equal(show(got), want) {
		t.Errorf("got\n%s", strings.Join(show(got), "\n"))
	}
	if at := noon.Add(5 * time.Minute); !got[2].Again.Equal(at) {
		t.Errorf("it is decided anew at %s, want %s", got[2].Again, at)
	}
	slots := onTerms(t, 4*cluster.CPU, "1 running 3 10h ran 2h; end", "2 waiting 3 60m")
	if got := (queue.Preemptible{Policy: queue.TimeSlices{Quantum: time.Hour}}).Select(slots)[0].Reason; got != "runs: it would have to start anew" {
		t.Errorf("got %q", got)
	}
	ends := onTerms(t, 4*cluster.CPU, "1 waiting 4 60m", "2 running 3 60m ran 20m; end")
	if got := (queue.Preemptible{Policy: queue.FirstFit{}}).Select(ends)[1].Reason; got != "ended to make room for 1: needs 3 CPU more; it starts anew later" {
		t.Errorf("got %q", got)
	}
}

// Best-effort vjobs do not change the verdicts of the others.
func TestBestEffortChangesNoOther(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	for range 3000 {
		var all, firm []string
		for id := range 1 + rng.IntN(9) {
			line := fmt.Sprintf("%d %s %d %dm", id+1, []string{"waiting", "running", "suspended"}[rng.IntN(3)], 1+rng.IntN(4), 10+rng.IntN(90))
			if strings.Contains(line, "running") {
				line += fmt.Sprintf(" ran %dm", rng.IntN(10))
			}
			if rng.IntN(2) == 0 {
				all = append(all, line+"; best-effort")
				continue
			}
			all, firm = append(all, line), append(firm, line)
		}
		size := cluster.MilliCPU(4+rng.IntN(5)) * cluster.CPU
		for _, p := range every(t) {
			both, alone := onTerms(t, size, all...), onTerms(t, size, firm...)
			verdicts, want := queue.Preemptible{Policy: p}.Select(both), p.Select(alone)
			used, next := cluster.MilliCPU(0), 0
			for i, v := range verdicts {
				j := &both.Jobs[i]
				if v.Target == queue.Run {
					used += j.Need.CPU
				}
				if j.BestEffort {
					continue
				}
				if !reflect.DeepEqual(v, want[next]) {
					t.Fatalf("%s, %q: vjob %s: %+v, alone %+v", p.Name(), all, j.ID, v, want[next])
				}
				next++
			}
			for i, v := range verdicts { // and no room is left to one that waits for some
				if j := &both.Jobs[i]; j.BestEffort && v.Target != queue.Run && used+j.Need.CPU <= size {
					t.Fatalf("%s, %q: there is room for vjob %s: %+v", p.Name(), all, j.ID, v)
				}
			}
		}
	}
}
