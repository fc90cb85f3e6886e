package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/tests/golden"
)

// plannedCluster is a forecast with one vjob of each kind.
func plannedCluster() map[string]any {
	slots := []wire.Slot{
		{ID: 12, Name: "climate", Owner: "ada", State: "running", VMCount: 9, CPUMilli: 18000, Runs: true, Start: at(-85), End: at(40), Why: "runs"},
		{ID: 13, Name: "evil\x1b[2J\u202e", Owner: "bob", State: "running", VMCount: 2, CPUMilli: 2000, Runs: true, Start: at(-2), Why: "runs"},
		{
			ID: 14, Owner: "ada", State: "waiting", VMCount: 1, CPUMilli: 16000, Start: at(40), End: at(100),
			Why: "waits: needs 6 CPU more; 1st in line; 12 ends at 12:40: then there is room",
		},
		{ID: 15, Name: "lecture", Owner: "ada", State: "waiting", CPUMilli: 8000, Reserved: true, Start: at(60), End: at(180), Why: "waits for its reservation at 13:00, in 1h0m0s"},
		{ID: 16, Name: "held", Owner: "ada", State: "waiting", CPUMilli: 8000, Why: "is held"},
	}
	var jobs []wire.VJob
	for _, s := range slots {
		jobs = append(jobs, wire.VJob{ID: s.ID, Name: s.Name, Owner: s.Owner, State: s.State, Reason: "as last decided", Submitted: *at(-90)})
	}
	return map[string]any{
		"/v1/vjobs": wire.VJobList{VJobs: jobs, Total: len(jobs)},
		"/v1/forecast": wire.Schedule{At: noon, CPUMilli: 32000, MemoryMiB: 65536, Nodes: 8, VJobs: slots, Use: []wire.Use{
			{At: noon, CPUMilli: 20000, MemoryMiB: 20480, Nodes: 5},
			{At: *at(40), CPUMilli: 18000, MemoryMiB: 2048, Nodes: 5},
			{At: *at(60), CPUMilli: 26000, MemoryMiB: 4096, Nodes: 7},
			{At: *at(100), CPUMilli: 10000, MemoryMiB: 4096, Nodes: 3},
			{At: *at(180), CPUMilli: 2000, MemoryMiB: 1024, Nodes: 1},
		}},
	}
}

func TestGantt(t *testing.T) {
	s, _ := against(t, plannedCluster())
	golden.Same(t, "testdata/gantt.golden", s.ok("gantt"))
	golden.Same(t, "testdata/list-estimate.golden", s.ok("list", "--estimate"))
	if out := s.ok("gantt", "-n", "2", "--ahead", "1h"); !strings.Contains(out, "and 3 vjobs more; -n 0 shows all") || !strings.Contains(out, "58 columns of 1m03s") {
		t.Errorf("two of them:\n%s", out)
	}
	if out := s.ok("gantt", "-o", "json"); !strings.Contains(out, `"why": "is held"`) {
		t.Errorf("as JSON:\n%s", out)
	}
}

// However wide the terminal, no line is wider.
func TestGanttFits(t *testing.T) {
	s, _ := against(t, plannedCluster())
	for _, width := range []int{62, 80, 133, 250} {
		s.width = width
		for line := range strings.SplitSeq(s.ok("gantt"), "\n") {
			if n := len([]rune(line)); n > width && !strings.Contains(line, "columns of") {
				t.Errorf("a line of %d in %d columns: %q", n, width, line)
			}
		}
	}
}

func TestGanttFigure(t *testing.T) {
	s, _ := against(t, plannedCluster())
	file := filepath.Join(t.TempDir(), "schedule.svg")
	if out := s.ok("gantt", "--svg", file); out != "" {
		t.Errorf("it prints %q", out)
	}
	svg, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "s-planned", "s-reserved", "s-running", "vjob 14: needs 6 CPU more", "Memory"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("the figure has no %q", want)
		}
	}
}
