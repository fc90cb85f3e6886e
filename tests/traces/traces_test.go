package traces_test

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"vjob/papers/jobs/backfill"
	"vjob/sim/swf"
)

// disciplines are the names of the disciplines in the files, and ours.
var disciplines = [][2]string{
	{"FCFS", "fcfs"},
	{"FIRSTFIT", "firstfit"},
	{"EASY", "easy"},
	{"CONS", "conservative-nocompression"},
	{"CONSC", "conservative"},
}

// expected is the file of that name.
type expected struct {
	Traces map[string]struct {
		Processors int64 `json:"procs"`
		First      part  `json:"first5000"`
		Whole      part  `json:"whole"`
	} `json:"traces"`
}

// part is what is known of a whole log or of its beginning.
type part struct {
	Jobs     int               `json:"jobs"`
	Policies map[string]figure `json:"policies"`
}

// figure is what the other simulator found.
type figure struct {
	MeanWait     float64 `json:"mean_wait"`
	MedianWait   float64 `json:"p50_wait"`
	P95Wait      float64 `json:"p95_wait"`
	MaxWait      float64 `json:"max_wait"`
	MeanSlowdown float64 `json:"mean_bsld"`
	P95Slowdown  float64 `json:"p95_bsld"`
	Makespan     float64 `json:"makespan"`
	Used         float64 `json:"utilisation"`
	AtOnce       float64 `json:"started_at_once"`
	Starts       string  `json:"starts_sha256"`
	Seconds      float64 `json:"ref_seconds"`
	Error        string  `json:"error"`
}

// folder is where whole logs are; without one, the cut ones.
func folder() (dir string, whole bool) {
	if dir := os.Getenv("VJOB_TRACES"); dir != "" {
		return dir, true
	}
	return "testdata", false
}

func expectations(t *testing.T, dir string) *expected {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var e expected
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	return &e
}

// load reads a log, or its first jobs.
func load(t *testing.T, dir, name string, processors int64, jobs int) *swf.Log {
	t.Helper()
	in, err := os.Open(filepath.Join(dir, "swf", name+".swf.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	log, err := swf.Read(in, processors)
	if err != nil {
		t.Fatal(err)
	}
	log.Jobs = log.Jobs[:min(jobs, len(log.Jobs))]
	return log
}

// starts reads the starts of the first jobs, by discipline.
func starts(t *testing.T, dir, name string) map[string][]string {
	t.Helper()
	in, err := os.Open(filepath.Join(dir, "starts", name+".first5000.csv.gz"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string][]string{}
	for i, name := range rows[0] {
		for _, row := range rows[1:] {
			columns[name] = append(columns[name], row[i])
		}
	}
	return columns
}

// digest is the sum of all starts, as the file has it.
func digest(r *backfill.Result) string {
	h := sha256.New()
	for i, start := range r.Starts {
		_, _ = fmt.Fprintf(h, "%d %d\n", r.Jobs[i].Number, start)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// differences are the figures that are not as expected, which are rounded.
func (f *figure) differences(s backfill.Summary) (list []string) {
	for _, x := range []struct {
		name      string
		got, want float64
	}{
		{"mean wait", s.Wait.Mean, f.MeanWait},
		{"median wait", s.Wait.Median, f.MedianWait},
		{"95th percentile of the wait", s.Wait.P95, f.P95Wait},
		{"longest wait", s.Wait.Max, f.MaxWait},
		{"mean bounded slowdown", s.Slowdown.Mean, f.MeanSlowdown},
		{"95th percentile of the bounded slowdown", s.Slowdown.P95, f.P95Slowdown},
		{"makespan", float64(s.Makespan), f.Makespan},
		{"utilisation", s.Used, f.Used},
		{"started at once", float64(s.AtOnce), f.AtOnce},
	} {
		if math.Abs(x.got-x.want) > 1e-6 {
			list = append(list, fmt.Sprintf("%s %v, want %v", x.name, x.got, x.want))
		}
	}
	return list
}

// names are the logs in order.
func (e *expected) names() []string {
	var names []string
	for name := range e.Traces {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// The first 5,000 jobs of the logs beside this file start when the other simulator
// starts them, and the figures are the same.
func TestFirst(t *testing.T) { first(t, "testdata") }

// The like for all logs.
func TestFirstOfAll(t *testing.T) {
	dir, whole := folder()
	if !whole {
		t.Skip("SKIPPED: VJOB_TRACES names no folder with whole logs")
	}
	first(t, dir)
}

func first(t *testing.T, dir string) {
	t.Helper()
	e := expectations(t, dir)
	for _, name := range e.names() {
		trace := e.Traces[name]
		log, want := load(t, dir, name, trace.Processors, trace.First.Jobs), starts(t, dir, name)
		for _, d := range disciplines {
			t.Run(name+"/"+d[1], func(t *testing.T) {
				r, err := backfill.Run(t.Context(), log, d[1], nil)
				if err != nil {
					t.Fatal(err)
				}
				for i := range want[d[0]] {
					if number, start := strconv.FormatInt(r.Jobs[i].Number, 10), strconv.FormatInt(int64(r.Starts[i]), 10); number != want["job"][i] || start != want[d[0]][i] {
						t.Fatalf("job %s starts at %s; want job %s at %s", number, start, want["job"][i], want[d[0]][i])
					}
				}
				f := trace.First.Policies[d[0]]
				if got := digest(r); got != f.Starts {
					t.Errorf("the sum of all starts is %s, want %s", got, f.Starts)
				}
				for _, text := range f.differences(r.Summary()) {
					t.Error(text)
				}
			})
		}
	}
}
