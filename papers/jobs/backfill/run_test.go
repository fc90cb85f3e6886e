package backfill_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/internal/chart"
	"vjob/papers/jobs/backfill"
	"vjob/sim/swf"
)

// Time is short here.

// log makes a log of jobs given as submission, run time, walltime and processors.
func log(processors int64, jobs ...[4]int64) *swf.Log {
	l := &swf.Log{Processors: processors}
	for i, j := range jobs {
		l.Jobs = append(l.Jobs, swf.Job{Number: int64(i + 1), Submit: j[0], Run: j[1], Walltime: j[2], Processors: j[3]})
	}
	return l
}

func replay(t *testing.T, l *swf.Log, policy string) *backfill.Result {
	t.Helper()
	r, err := backfill.Run(t.Context(), l, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestHandCases replays what was computed by hand.
func TestHandCases(t *testing.T) {
	data, err := os.ReadFile("testdata/hand-cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name   string            `json:"name"`
			P      int64             `json:"P"`
			Jobs   [][4]int64        `json:"jobs"`
			Starts map[string][]Time `json:"starts"`
			Why    string            `json:"why"`
		} `json:"cases"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) != 8 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	names := map[string]string{
		"FCFS": "fcfs", "FIRSTFIT": "firstfit", "EASY": "easy", "CONS": "conservative-nocompression", "CONSC": "conservative",
	}
	for _, c := range file.Cases {
		for theirs, ours := range names {
			t.Run(c.Name+"/"+ours, func(t *testing.T) {
				if got := replay(t, log(c.P, c.Jobs...), ours).Starts; !slices.Equal(got, c.Starts[theirs]) {
					t.Errorf("%v, want %v: %s", got, c.Starts[theirs], c.Why)
				}
			})
		}
	}
}

// Two processors: the first job runs for 100 seconds, the second waits for it and
// runs for 5, the third for 20 beside it.
func TestSummary(t *testing.T) {
	r := replay(t, log(2, [4]int64{0, 100, 100, 2}, [4]int64{10, 5, 60, 1}, [4]int64{40, 20, 60, 1}), "fcfs")
	want := backfill.Summary{
		Jobs: 3, AtOnce: 1, Makespan: 120, Used: float64(200+5+20) / 240,
		Wait:     chart.Distribution{Mean: 50, Median: 60, P95: 90, Max: 90},
		Slowdown: chart.Distribution{Mean: (1 + 9.5 + 4) / 3, Median: 4, P95: 9.5, Max: 9.5},
	}
	if got := r.Summary(); got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	var b bytes.Buffer
	if err := r.WriteStarts(&b); err != nil || b.String() != "job,start\n1,0\n2,100\n3,100\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
	if err := r.WriteStarts(full{}); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// A walltime of ten years, and times without an end, do not stop other jobs for ever.
func TestAbsurdTimes(t *testing.T) {
	const years, absurd = 10 * 365 * 86400, 1e12
	for _, policy := range backfill.Names() {
		r := replay(t, log(2, [4]int64{0, 10, years, 2}, [4]int64{0, 10, absurd, 2}, [4]int64{0, absurd, absurd, 1}, [4]int64{5, 1, years, 2}), policy)
		if s := r.Summary(); s.Jobs != 4 || s.Makespan < absurd {
			t.Errorf("%s: %+v", policy, s)
		}
	}
	endless := log(1)
	for i := range int64(10) {
		endless.Jobs = append(endless.Jobs, swf.Job{Number: i, Run: 1 << 61, Walltime: 1 << 61, Processors: 1})
	}
	for _, policy := range backfill.Names() {
		if _, err := backfill.Run(t.Context(), endless, policy, nil); !errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), "jobs are never started") {
			t.Errorf("%s: %v", policy, err)
		}
	}
}

func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l := log(1)
	for i := range int64(100_000) {
		l.Jobs = append(l.Jobs, swf.Job{Number: i, Submit: i, Run: 1, Walltime: 1, Processors: 1})
	}
	seen := 0
	_, err := backfill.Run(ctx, l, "easy", func(started, all int, at Time) {
		if seen++; seen == 3 {
			cancel()
		}
		if all != 100_000 || started > all || at > 100_000 {
			t.Errorf("%d of %d at %d", started, all, at)
		}
	})
	if !errors.Is(err, context.Canceled) || seen != 3 {
		t.Errorf("%v after %d looks", err, seen)
	}
}

func TestUnknownPolicy(t *testing.T) {
	if _, err := backfill.Run(t.Context(), log(1, [4]int64{0, 1, 1, 1}), "best", nil); !errors.Is(err, cluster.ErrInvalid) {
		t.Error(err)
	}
}

// The picture of many jobs is bounded, shows them evenly, and says so.
func TestFigure(t *testing.T) {
	l := log(4)
	for i := range int64(100_000) {
		l.Jobs = append(l.Jobs, swf.Job{Number: i, Submit: 10 * (i / 5), Run: 1 + i%10, Walltime: 10, Processors: 1 + i%4})
	}
	results := []*backfill.Result{replay(t, l, "firstfit"), replay(t, l, "easy")}
	f := backfill.Figure("many", results)
	if n := len(f.Runs[0].Rows); n > 300 || n < 290 || !strings.Contains(f.Subtitle, "1 of 334 is shown") {
		t.Errorf("%d rows; %s", n, f.Subtitle)
	}
	most, mean := 0.0, 0.0
	points := f.Runs[1].Series[0].Points
	for i, p := range points {
		most = max(most, p.Value)
		if i+1 < len(points) {
			mean += p.Value * (points[i+1].At - p.At).Seconds()
		}
	}
	s := results[1].Summary()
	if used := mean / 4 / float64(s.Makespan); most > 4 || used < s.Used-1e-9 || used > s.Used+1e-9 {
		t.Errorf("at most %v and %v of 4 are used, want %v", most, used, s.Used)
	}
	var b bytes.Buffer
	if err := chart.Write(&b, f); err != nil || b.Len() > 1<<20 {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
}
