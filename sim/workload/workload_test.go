package workload_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vjob/cluster"
	"vjob/sim/workload"
)

func TestThesisExperiment(t *testing.T) {
	w, err := workload.Read("testdata/nasgrid-8x9.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Nodes) != 11 || len(w.Jobs) != 8 || w.VMs() != 72 {
		t.Fatalf("%d nodes, %d vjobs, %d VMs; want 11, 8, 72", len(w.Nodes), len(w.Jobs), w.VMs())
	}
	if want := (cluster.Resources{CPU: 2 * cluster.CPU, Memory: 3686}); w.Nodes[10].Capacity != want {
		t.Errorf("n11 has %s, want %s", w.Nodes[10].Capacity, want)
	}
	j1 := w.Jobs[0].Submission
	if j1.Name != "J1" || j1.Walltime != 7500*time.Second || len(j1.VMs) != 9 {
		t.Errorf("J1: %+v", j1)
	}
	second := j1.VMs[1].Payload.Program.Steps
	want := []cluster.Step{
		{Duration: 130 * time.Second},
		{CPU: cluster.CPU, Duration: 660 * time.Second, After: []cluster.StepRef{{Rank: 0, Index: 1}}},
	}
	if diff := cmp.Diff(want, second); diff != "" {
		t.Error(diff)
	}
	if got := len(j1.VMs[0].Payload.Program.Steps[1].After); got != 8 {
		t.Errorf("the first component waits for %d prologues, want 8", got)
	}
}

// The models computed here and the intervals of the file have one author each.
func TestTraceModels(t *testing.T) {
	explicit, err := workload.Read("testdata/kth_50_explicit.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	if len(explicit.Jobs) != 50 || len(explicit.Nodes) != 0 {
		t.Fatalf("%d vjobs on %d nodes", len(explicit.Jobs), len(explicit.Nodes))
	}
	computed, err := workload.Parse("computed", withoutActive(t, "testdata/kth_50_explicit.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(explicit.Jobs, computed.Jobs, cmpopts.IgnoreUnexported(workload.Job{})); diff != "" {
		t.Error(diff)
	}
}

func withoutActive(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for line := range bytes.Lines(data) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		delete(m, "active")
		if err := json.NewEncoder(&out).Encode(m); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func TestTraceLine(t *testing.T) {
	const line = `{"id":"a","submit":5,"runtime":100,"walltime":200,"vms":3,"cpu":2,"memory_mb":64,"active":[[0,40],[40,100],[7,7]]}`
	w, err := workload.Parse("t", []byte(line))
	if err != nil {
		t.Fatal(err)
	}
	job := w.Jobs[0]
	if job.At != 5*time.Second || job.Submission.Walltime != 200*time.Second {
		t.Errorf("%+v", job)
	}
	step := func(cpu cluster.MilliCPU, s int) cluster.Step {
		return cluster.Step{CPU: cpu, Duration: time.Duration(s) * time.Second}
	}
	want := [][]cluster.Step{{step(2000, 40), step(0, 60)}, {step(0, 40), step(2000, 60)}, {step(0, 100)}}
	for k, vm := range job.Submission.VMs {
		if diff := cmp.Diff(want[k], vm.Payload.Program.Steps); diff != "" || !vm.Payload.Program.Lockstep {
			t.Errorf("VM %d: %s", k, diff)
		}
	}
}

func TestErrors(t *testing.T) {
	const ok = `{"id":"a","submit":0,"runtime":10,"walltime":20,"vms":1,"cpu":1,"memory_mb":64,"model":"ED"}`
	replace := func(from, to string) string {
		return ok + "\n" + strings.Replace(strings.Replace(ok, `"a"`, `"b"`, 1), from, to, 1)
	}
	graph := func(vjobs string) string {
		return "cluster: {nodes: [{id: n1, cpu: 2, memory_mb: 100}]}\nvjobs:\n" + vjobs
	}
	const vm = "{id: x, memory_mb: 10, cpu_reserved: 1, duration: 5, after: [%s]}"
	tests := []struct{ name, text, want string }{
		{"empty", "", `vjobs: "[]" is not at least one vjob`},
		{"same id", ok + "\n" + ok, `f:2:1: id: "a": want a name that no other vjob has`},
		{"negative submit", replace(`"submit":0`, `"submit":-1`), `f:2:1: submit: -1: want seconds, from 0 to 1000000000`},
		{"no VMs", replace(`"vms":1`, `"vms":0`), `f:2:1: vms: 0: want 1 to 100000`},
		{"no memory", replace(`64`, `0`), `f:2:1: memory_mb: 0: want whole MiB, 1 or more`},
		{"fraction", replace(`"runtime":10`, `"runtime":1.5`), `f:2:1: runtime: 1.5: want a whole number`},
		{"unknown key", replace(`"model"`, `"mdoel"`), `f:2:1: mdoel: an unknown field, want probably model, or one of active, after, array, at_once, best_effort, comment, container, cpu, cpu_limit_milli, cpu_reservation_milli, deadline, error, flexible_seconds, floor, id, idempotent, inner, labels, led, memory_from, memory_mb, min_run, min_run_seconds, model, moves, not_after, not_before, notify, output, owner, pool, priority, project, queue, reservation, reserve, rules, runtime, shapes, shares, submit, success, unmet, user, vms, walltime, yields`},
		{"key twice", replace(`"vms":1`, `"vms":1,"vms":2`), `f:2:1: vms: a second value, want each field once`},
		{"not JSON", replace(`"vms":1`, `"vms":`), `f:2:1: syntax: byte 54 (invalid character ',' at start of value), want one JSON object and nothing after it`},
		{"model", replace(`ED`, `XX`), `f:2:1: model: "XX": want one of ED, HC, MB, VP, where active is not given`},
		{"intervals", replace(`"model":"ED"`, `"active":[]`), `f:2:1: active: "0 intervals": want one for each of the 1 VMs`},
		{"interval", replace(`"model":"ED"`, `"active":[[4,11]]`), `f:2:1: active[0]: [4 11]: want [from, to] with 0 ≤ from ≤ to ≤ 10`},
		{"no vjobs", "title: x\n", `vjobs: "[]" is not at least one vjob`},
		{"graph key", "vjbos: []\n", `f:1:1: vjbos: unknown key: want probably vjobs; one of action_cost_model, action_seconds_assumed, assumptions, cluster, expected, from_text, source, start, title, units, vjobs`},
		{"predecessor", graph("- {id: a, vms: [" + fmt.Sprintf(vm, "y") + "]}"), `f:3:78: vjobs[0].vms[0].after[0]: "y": want the id of a VM of the same vjob`},
		{"cycle", graph("- {id: a, vms: [" + fmt.Sprintf(vm, "x") + "]}"), `f:3:78: vjobs[0].vms[0].after[0]: "x": want predecessors without a cycle`},
		{"same VM", graph("- {id: a, vms: [" + fmt.Sprintf(vm, "") + "," + fmt.Sprintf(vm, "") + "]}"), `f:3:86: vjobs[0].vms[1].id: "x": want a name that no other VM of the vjob has`},
		{"prologue", graph("- {id: a, prologue: -1, vms: [" + fmt.Sprintf(vm, "") + "]}"), `f:3:21: vjobs[0].prologue: -1: want seconds, from 0 to 1000000000`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := workload.Parse("f", []byte(tt.text))
			if got := fmt.Sprint(err); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if !errors.Is(err, cluster.ErrInvalid) {
				t.Errorf("%v does not match ErrInvalid", err)
			}
		})
	}
	for _, bad := range []string{"\x1f\x8bnonsense", "{", `{"id":"a"}{"id":"b"}`, ok + "\nx"} {
		if _, err := workload.Parse("f", []byte(bad)); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := workload.Read("testdata/none"); !errors.Is(err, cluster.ErrInvalid) {
		t.Error(err)
	}
}
