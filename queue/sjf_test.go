package queue_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue"
)

// Each case lists vjobs as in moment; those that wait were submitted so long ago.
func TestSJF(t *testing.T) {
	for _, c := range []struct {
		name    string
		jobs    []string
		waited  []time.Duration
		level   []int
		verdict []string
	}{
		{
			"the shortest first, without walltime last",
			[]string{"1 running 2 60m ran 20m", "2 waiting 1 -", "3 waiting 1 2h", "4 waiting 1 10m"},
			nil, nil,
			[]string{"run - runs", "wait 10m0s waits: needs 1 CPU more; 1st in line", "run - runs: there is room", "run - runs: there is room"},
		},
		{
			"one that does not fit is passed",
			[]string{"1 running 2 60m ran 20m", "2 waiting 3 5m", "3 waiting 1 2h"},
			[]time.Duration{0, 23 * time.Hour, 0},
			nil,
			[]string{"run - runs", "wait 40m0s waits: needs 1 CPU more; 1st in line", "run - runs: there is room"},
		},
		{
			"beyond the bound the one that has waited longest comes first and is not passed",
			[]string{"1 running 2 60m ran 20m", "2 waiting 1 5m", "3 waiting 3 2h", "4 waiting 1 3h"},
			[]time.Duration{0, time.Hour, 25 * time.Hour, 24 * time.Hour},
			nil,
			[]string{
				"run - runs",
				"wait 2h40m0s waits: may not pass 3, which has waited for more than 24h0m0s; 3rd in line behind 3 and 4",
				"wait 40m0s waits: needs 1 CPU more; 1st in line",
				"wait 40m0s waits: may not pass 3, which has waited for more than 24h0m0s; 2nd in line behind 3",
			},
		},
		{
			"a higher level comes first",
			[]string{"1 waiting 3 1h", "2 waiting 3 2h"},
			[]time.Duration{25 * time.Hour, 0},
			[]int{0, 1},
			[]string{"wait 2h0m0s waits: needs 2 CPU more; 1st in line", "run - runs: there is room"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := moment(t, 4*cluster.CPU, c.jobs...)
			for i := range m.Jobs {
				m.Jobs[i].Submitted = noon
				if c.waited != nil {
					m.Jobs[i].Submitted = noon.Add(-c.waited[i])
				}
				if c.level != nil {
					m.Jobs[i].Level = c.level[i]
				}
			}
			for i, v := range (queue.SJF{AgeBound: 24 * time.Hour}).Select(m) {
				start := "-"
				if !v.Start.IsZero() {
					start = v.Start.Sub(noon).String()
				}
				if got := fmt.Sprint(v.Target, " ", start, " ", v.Reason); got != c.verdict[i] {
					t.Errorf("vjob %s:\n got %s\nwant %s", m.Jobs[i].ID, got, c.verdict[i])
				}
			}
		})
	}
}

// The vjob that has waited longest starts within the bound and the longest walltime, and a
// running vjob is never suspended.
func TestSJFStarvesNone(t *testing.T) {
	const bound = 30 * time.Second
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for run := range 12 {
		l := &workload{rng: rand.New(rand.NewPCG(seed, uint64(run))), now: noon, need: map[cluster.VJobID]int{}}
		for range 600 {
			if wait, why := l.second(queue.SJF{AgeBound: bound}); wait < 0 || wait > bound+longest+time.Second {
				t.Fatalf("run %d: vjob %d with %d CPU has waited for %s: %s", run, l.head, l.need[l.head], wait, why)
			}
		}
	}
}
