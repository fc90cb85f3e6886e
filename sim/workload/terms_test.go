package workload_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vjob/cluster"
	"vjob/scheduler/admission"
	"vjob/sim/workload"
)

// one is a line of a trace with more keys.
func one(id string, submit int, more string) string {
	if !strings.HasPrefix(more, `,"walltime"`) {
		more = `,"walltime":20` + more
	}
	return fmt.Sprintf(`{"id":%q,"submit":%d,"runtime":10,"vms":1,"cpu":1,"memory_mb":64,"model":"ED"%s}`+"\n", id, submit, more)
}

// TestTerms reads all terms from both forms.
func TestTerms(t *testing.T) {
	const keys = `"owner":"ann","project":"physics","queue":"urgent","priority":3,"rules":"spread($VMS);","deadline":500,"not_before":40,"not_after":90,"floor":0.5,` +
		`"yields":"end","min_run":60,"after":["sweep","afterany:sweep[2]","after:first"],"unmet":"hold","idempotent":true,` +
		`"notify":["mail:ann@example.org"],"labels":{"kind":"test"},"comment":"a try"`
	sweep := `"array":3,"at_once":2,"best_effort":true`
	moldable := `"shapes":[{"runtime":5,"walltime":15,"vms":2,"cpu":1,"memory_mb":32,"model":"ED"}]`
	trace := one("first", 0, `,"owner":"ann","reserve":30`) + one("sweep", 0, `,"owner":"ann",`+sweep) + one("last", 10, ","+keys) + one("soft", 10, ","+moldable)
	const vms = `"walltime":20,"vms":[{"id":"x","memory_mb":64,"cpu_reserved":1,"duration":10}]`
	const less = `"walltime":15,"vms":[{"id":"x","memory_mb":32,"cpu_reserved":1,"duration":5},{"id":"y","memory_mb":32,"cpu_reserved":1,"duration":5}]`
	graphs := `{"vjobs":[{"id":"last","submit":10,` + keys + "," + vms + `},{"id":"first","owner":"ann","reserve":30,` + vms + `},{"id":"sweep","owner":"ann",` + sweep + "," + vms +
		`},{"id":"soft","submit":10,"shapes":[{` + less + `}],` + vms + `}]}`
	begin := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for form, text := range map[string]string{"trace": trace, "graphs": graphs} {
		t.Run(form, func(t *testing.T) {
			w, err := workload.Parse(form, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]admission.Submission{}
			for i := range w.Jobs {
				s, err := w.Submission(i, begin, []cluster.VJobID{1, 2, 5, 6})
				if err != nil {
					t.Fatal(err)
				}
				got[s.Name] = s
			}
			if at := got["first"].Reservation; !at.Equal(begin.Add(30 * time.Second)) {
				t.Errorf("reserved from %s", at)
			}
			if s := got["sweep"]; len(s.Array) != 3 || s.MaxConcurrent != 2 || !s.BestEffort {
				t.Errorf("%+v", s)
			}
			want := cluster.Terms{
				Queue: "urgent", Project: "physics", Deadline: begin.Add(500 * time.Second), NotBefore: begin.Add(40 * time.Second), NotAfter: begin.Add(90 * time.Second), MinShare: 0.5, Preemption: cluster.ByEnd,
				MinRun: cluster.Seconds(time.Minute), Unmet: cluster.UnmetHolds, Idempotent: true, Notify: []string{"mail:ann@example.org"},
				Labels: map[string]string{"kind": "test"}, Comment: "a try", After: []cluster.Dependency{
					{On: 2, Array: true}, {On: 3, When: cluster.AfterAny}, {On: 1, When: cluster.AfterStart},
				},
			}
			last := got["last"]
			if diff := cmp.Diff(want, last.Terms); diff != "" || last.Owner != "ann" || last.Priority != 3 || last.Rules != "spread($VMS);" {
				t.Errorf("%+v\n%s", last, diff)
			}
			if s := got["soft"].Shapes; len(s) != 2 || len(s[0].VMs) != 1 || len(s[1].VMs) != 2 || s[0].Walltime != 20*time.Second || s[1].Walltime != 15*time.Second {
				t.Errorf("%+v", s)
			}
			if w.VJobs() != 6 || w.VMs() != 6 {
				t.Errorf("%d vjobs, %d VMs", w.VJobs(), w.VMs())
			}
		})
	}
}

// TestTermErrors checks the errors of both forms: line, field, value, and what is valid.
func TestTermErrors(t *testing.T) {
	for more, want := range map[string]string{
		`,"after":["b"]`:                         `f:2:1: after[0]: "b" closes a cycle: b waits for b`,
		`,"after":["c"]`:                         `f:2:1: after[0]: "c" closes a cycle: b waits for c, which waits for d, which waits for b`,
		`,"after":["late"]`:                      `f:2:1: after[0]: "late": want a vjob that is submitted before it: that one comes at 9s, this at 1s`,
		`,"after":["afterok:none"]`:              `f:2:1: after[0]: "afterok:none": want the id of a vjob of this file, with a condition (afterok, afterany, afternotok or after) and a colon before it, or without`,
		`,"after":["a","a[1]"]`:                  `f:2:1: after[1]: "a[1]" has [], and a is not an array`,
		`,"after":["many[4]"]`:                   `f:2:1: after[0]: "many[4]": want a place from 1 to 3 in the array many`,
		`,"owner":"eve","after":["a"]`:           `f:2:1: after[0]: "a": want a vjob of the same owner: that one is of replay, this of eve`,
		`,"inner":"a"`:                           `f:2:1: inner: "a": want the id of a container that is submitted before it`,
		`,"array":1000000`:                       `f:2:1: array: 1000000: want 1 to 100000 vjobs, or 0 for a single vjob`,
		`,"array":-1`:                            `f:2:1: array: -1: want 1 to 100000 vjobs, or 0 for a single vjob`,
		`,"at_once":2`:                           `f:2:1: at_once: 2 requires an array`,
		`,"reserve":0`:                           `f:2:1: reserve: 0: want seconds from the start of the workload, at least the 1 of its submission`,
		`,"reserve":5,"best_effort":true`:        `f:2:1: best_effort: a best-effort vjob cannot have a reservation`,
		`,"reserve":5,"after":["a"]`:             `f:2:1: after: a vjob with a reservation cannot have dependencies: it begins at its time`,
		`,"reserve":5,"array":2`:                 `f:2:1: array: an array cannot have a reservation; submit single vjobs`,
		`,"walltime":0,"reserve":5`:              `f:2:1: walltime: 0: want more than 0: it is the length of the reservation`,
		`,"deadline":-3`:                         `f:2:1: deadline: -3: want seconds, from 0 to 1000000000`,
		`,"min_run":1e10`:                        `f:2:1: min_run: 1e+10: want seconds, from 0 to 1000000000`,
		`,"walltime":315360000000`:               `f:2:1: walltime: 3.1536e+11: want seconds, from 0 to 1000000000`,
		`,"floor":2`:                             `f:2:1: floor: 2: want from 0 to 1`,
		`,"yields":"no"`:                         `f:2:1: yields: "no": want one of end, never, suspend`,
		`,"yields":"never","best_effort":true`:   `f:2:1: yields: a best-effort vjob is preempted, want suspend or end instead of never`,
		`,"unmet":"no"`:                          `f:2:1: unmet: "no": want one of fail, hold, run`,
		`,"queue":[1]`:                           `f:2:1: queue: "[1]": want the name of a queue; a number is only for people`,
		`,"shapes":[{"runtime":1}]`:              `f:2:1: shapes[0].vms: 0: want 1 to 100000`,
		`,"walltime":0,"shapes":[{"runtime":1}]`: `f:2:1: walltime: 0: want more than 0 beside shapes: the one that ends first is taken`,
		`,"idempotent":true,"shapes":[{"runtime":1,"walltime":1,"vms":1,"cpu":1,"memory_mb":1,"model":"ED"}]`: `f:2:1: idempotent: a vjob with alternatives cannot be tried again: another attempt has one shape`,
	} {
		text := one("a", 0, "") + one("b", 1, more) + one("c", 1, `,"after":["d"]`) + one("d", 1, `,"after":["b"]`) + one("late", 9, "") + one("many", 0, `,"array":3`)
		if !strings.Contains(want, "cycle") {
			text = strings.NewReplacer(`,"after":["d"]`, "", `,"after":["b"]`, "").Replace(text)
		}
		_, err := workload.Parse("f", []byte(text))
		if got := fmt.Sprint(err); got != want || !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%s:\ngot  %s\nwant %s", more, got, want)
		}
	}
	graphs := "vjobs:\n- {id: a, vms: [{id: x, memory_mb: 1, cpu_reserved: 1, duration: 1}]}\n- {id: b, after: [c], vms: [{id: x, memory_mb: 1, cpu_reserved: 1, duration: 1}]}\n"
	for from, want := range map[string]string{
		"after: [c]":               `f:3:19: vjobs[1].after[0]: "c": want the id of a vjob`,
		"reserve: 1, walltime: 0":  `f:3:33: vjobs[1].walltime: 0: want more than 0`,
		"yields: [no]":             `f:3:19: vjobs[1].yields:`,
		"walltime: 1, shapes: [1]": `f:3:33: vjobs[1].shapes[0]:`,
	} {
		if _, err := workload.Parse("f", []byte(strings.Replace(graphs, "after: [c]", from, 1))); !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%s: %v\nwant %s", from, err, want)
		}
	}
}

// A walltime of ten years is valid, and without one there is no limit.
func TestWalltimes(t *testing.T) {
	w, err := workload.Parse("f", []byte(one("a", 0, `,"walltime":315360000`)+one("b", 0, `,"walltime":0`)))
	if err != nil || w.Jobs[0].Submission.Walltime != 10*365*24*time.Hour || w.Jobs[1].Submission.Walltime != 0 {
		t.Errorf("%+v, %v", w, err)
	}
}

// A vjob that depends on a refused one is refused too.
func TestRefusedBefore(t *testing.T) {
	w, err := workload.Parse("f", []byte(one("a", 0, "")+one("b", 1, `,"after":["a"]`)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Submission(1, time.Time{}, []cluster.VJobID{0}); fmt.Sprint(err) != `after: "a" is not a vjob that was not refused` {
		t.Error(err)
	}
}

// FuzzParse parses any input without a panic; accepted workloads can be submitted.
func FuzzParse(f *testing.F) {
	f.Add(one("a", 0, "") + one("b", 1, `,"after":["afterany:a"],"array":2`))
	f.Add("cluster: {nodes: [{id: n, cpu: 1, memory_mb: 9}]}\nvjobs:\n- {id: a, vms: [{id: x, memory_mb: 1, cpu_reserved: 1, duration: 1}]}\n")
	f.Add(`{"id":"a","submit":`)
	f.Fuzz(func(t *testing.T, text string) {
		w, err := workload.Parse("f", []byte(text))
		if err != nil {
			return
		}
		numbers := make([]cluster.VJobID, len(w.Jobs))
		for i := range w.Jobs {
			if _, err := w.Submission(i, time.Unix(0, 0), numbers[:i+1]); err != nil {
				t.Fatal(err)
			}
			numbers[i] = cluster.VJobID(i + 1)
		}
	})
}
