package format_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vjob/cmd/vjob/energy/format"
	"vjob/energy"
)

const small = `{"format":"easched/1","set":"hand","instances":[
{"id":"a","problem":"boundedyield","hosts":[
{"cpu":1.0,"mem":1.0,"cmin":100,"cmax":200}
],"jobs":[
{"cpu":0.5,"mem":0.5}
],"ybound":0.75,"reference":{"lpbound":137.5,"lbh":null,"best":{"value":137.5,"Y":0.75,"assign":[0]}}},
{"id":"b","problem":"mixed","resources":["gpu"],"hosts":[
{"cpu":2,"mem":1,"gpu":4,"cmin":100,"cmax":200,"coff":5,"points":[[0.25,120],[0.5,120]]}
],"jobs":[
{"cpu":0.5,"mem":0.5,"gpu":1}
],"lambda":0.5,"emax":150}
]}
`

func read(text string) ([]*format.Instance, error) {
	return format.ReadInstances(strings.NewReader(text), "in.json")
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRead(t *testing.T) {
	for _, text := range []string{small, packed(t, small)} {
		list, err := read(text)
		if err != nil {
			t.Fatal(err)
		}
		want := []*energy.Problem{
			{
				ID: "a", Resources: []string{"mem"}, Floor: 0.75,
				Nodes: []energy.Node{{CPU: 1, Capacity: []float64{1}, Power: energy.Power{Idle: 100, Full: 200}}},
				Jobs:  []energy.Job{{CPU: 0.5, Need: []float64{0.5}}},
			},
			{
				ID: "b", Objective: energy.Mixed, Resources: []string{"mem", "gpu"}, Floor: 0.01, Lambda: 0.5, EMax: 150,
				Nodes: []energy.Node{{CPU: 2, Capacity: []float64{1, 4}, Power: energy.Power{Idle: 100, Full: 200, Standby: 5, Measured: []energy.Point{{Load: 0.25, Power: 120}, {Load: 0.5, Power: 120}}}}},
				Jobs:  []energy.Job{{CPU: 0.5, Need: []float64{0.5, 1}}},
			},
		}
		for i, in := range list {
			if diff := cmp.Diff(want[i], in.Problem); diff != "" {
				t.Error(diff)
			}
		}
		if ref := list[0].Reference; *ref.LPBound != 137.5 || ref.LBH != nil || *ref.Best.Value != 137.5 || list[1].Reference != nil {
			t.Errorf("%+v", ref)
		}
	}
}

func TestBadInstances(t *testing.T) {
	for _, tt := range []struct{ name, old, with, want string }{
		{"idle above full", `"cmin":100,"cmax":200}`, `"cmin":250,"cmax":200}`, `in.json:3:29: instances[0].hosts[0].cmin: 250 is not idle watts from 0 to cmax, which is 200`},
		{"NaN", `"ybound":0.75`, `"ybound":NaN`, `not JSON`},
		{"yield above 1", `"ybound":0.75`, `"ybound":1.2`, `instances[0].ybound: 1.2 is not a yield above 0, up to 1`},
		{"no yield", `"ybound":0.75`, `"ymin":0.75`, `instances[0]: "ybound" is missing`},
		{"no hosts", "\n{\"cpu\":1.0,\"mem\":1.0,\"cmin\":100,\"cmax\":200}\n", ``, `instances[0].hosts: [] is not at least a host`},
		{"no jobs", "\n{\"cpu\":0.5,\"mem\":0.5}\n", ``, `instances[0].jobs: [] is not at least a job`},
		{"two of one id", `"id":"b"`, `"id":"a"`, `instances[1]: id "a" is taken by instances[0]`},
		{"no id", `"id":"a"`, `"id":""`, `instances[0].id: "" is not a name`},
		{"unknown key", `"cmin":100,"cmax":200}`, `"cmin":100,"cmax":200,"Mem":1}`, `instances[0].hosts[0]: the key "Mem" is not one of cpu, cmin`},
		{"a key twice", `"mem":0.5}`, `"mem":0.5,"mem":0.4}`, `"mem" is given twice`},
		{"negative", `"mem":0.5}`, `"mem":-0.5}`, `jobs[0].mem: -0.5 is not an amount from 0 to 1e15`},
		{"text", `"mem":0.5}`, `"mem":"0.5"}`, `jobs[0].mem: "0.5" is not`},
		{"huge", `"mem":0.5}`, `"mem":1e400}`, `1e400 is not`},
		{"no need", `{"cpu":0.5,"mem":0.5}`, `{"cpu":0,"mem":0.5}`, `jobs[0].cpu: 0 is not a CPU need above 0`},
		{"problem", `"boundedyield"`, `"bounded"`, `instances[0].problem: "bounded" is not "boundedyield"`},
		{"format", `easched/1`, `easched/2`, `format: "easched/2" is not "easched/1"`},
		{"points", `[0.5,120]`, `[0.2,130]`, `points[1][0]: 0.2 is not`},
		{"falling points", `[0.5,120]`, `[0.5,110]`, `points[1][1]: 110 is not`},
		{"resource", `["gpu"]`, `["cpu"]`, `resources[0]: "cpu" is not a name that means nothing else yet`},
		{"resource missing", `,"gpu":1}`, `}`, `jobs[0]: "gpu" is missing`},
		{"lambda", `"lambda":0.5`, `"lambda":-1`, `lambda: -1 is not`},
		{"reference", `"lpbound":137.5`, `"lpbound":"x"`, `instances[0].reference: bounds and values of others that cannot be read`},
		{"deep", `"reference":{`, `"reference":{"x":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `,`, `not JSON: exceeded max depth`},
		{"list", small, `[1]`, `in.json:1:1: [1] is not an object`},
		{"empty", small, ``, `cut off, or empty`},
		{"not UTF-8", `"a"`, "\"\xff\"", `instances[0].id: not JSON: invalid UTF-8`},
		{"trailing", "]}\n", "]} x", `not JSON`},
	} {
		if strings.Count(small, tt.old) == 0 {
			t.Fatalf("%s: %q is not there", tt.name, tt.old)
		}
		_, err := read(strings.Replace(small, tt.old, tt.with, 1))
		var e *format.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got  %v\nwant %s", tt.name, err, tt.want)
		}
	}
}

func TestCutFiles(t *testing.T) {
	text := strings.TrimRight(small, "\n")
	for n := range text {
		if _, err := read(text[:n]); err == nil {
			t.Fatalf("cut after %d bytes: no error", n)
		}
	}
	zipped := packed(t, text)
	for n := 2; n < len(zipped); n++ {
		if _, err := read(zipped[:n]); err == nil {
			t.Fatalf("compressed, and cut after %d bytes: no error", n)
		}
	}
}

// What is written is read as it was.
func TestRoundTrip(t *testing.T) {
	list, err := read(small)
	if err != nil {
		t.Fatal(err)
	}
	problems := []*energy.Problem{list[0].Problem, list[1].Problem}
	bounded := *list[0].Problem
	bounded.ID, bounded.Objective, bounded.Budget = "c \"<\n>", energy.BoundedPower, 120.5
	problems = append(problems, &bounded)
	var b bytes.Buffer
	if err := format.WriteInstances(&b, problems); err != nil {
		t.Fatal(err)
	}
	again, err := read(b.String())
	if err != nil {
		t.Fatal(err)
	}
	for i, in := range again {
		if diff := cmp.Diff(problems[i], in.Problem); diff != "" {
			t.Error(diff)
		}
	}
	made := []format.Allocation{
		{ID: "a", Allocation: &energy.Allocation{At: []int{0}, CPU: []float64{0.375}}},
		{ID: "b", Allocation: &energy.Allocation{At: []int{0}}},
		{ID: bounded.ID, Why: "none"},
	}
	b.Reset()
	if err := format.WriteAllocations(&b, "hand", made); err != nil {
		t.Fatal(err)
	}
	got, err := format.ReadAllocations(&b, "", again)
	if err != nil {
		t.Fatal(err)
	}
	made[2].Why = "" // it is for people
	if diff := cmp.Diff(made, got); diff != "" {
		t.Error(diff)
	}
}

func TestBadAllocations(t *testing.T) {
	list, err := read(small)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"allocations":[{"id":"x","assign":[0]}]}`:                `allocations[0].id: "x" is not the id of an instance that has no allocation yet`,
		`{"allocations":[{"id":"a","assign":[0]},{"id":"a"}]}`:     `allocations[1].id: "a" is not`,
		`{"allocations":[{"id":"a"}]}`:                             `"assign" is missing`,
		`{"allocations":[{"id":"a","assign":[1]}]}`:                `assign[0]: 1 is not a host from 0 to 0`,
		`{"allocations":[{"id":"a","assign":[0.5]}]}`:              `assign[0]: 0.5 is not`,
		`{"allocations":[{"id":"a","assign":[0,0]}]}`:              `2 items are wrong: want one for each of the 1 jobs`,
		`{"allocations":[{"id":"a","assign":[0],"cpu":["x"]}]}`:    `cpu[0]: "x" is not a CPU share`,
		`{"allocations":[{"id":"a","status":"yes","assign":[0]}]}`: `status: "yes" is not "ok" or "fail"`,
		`{"allocation":[]}`:                                        `the key "allocation" is not`,
	} {
		if _, err := format.ReadAllocations(strings.NewReader(text), "al.json", list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// Whatever the bytes are, there is an error, or problems that are valid and the same when
// written and read again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`{"format":"easched/1","instances":[{"id":"c","problem":"boundedpower","hosts":[{"cpu":1,"mem":1,"cmin":1,"cmax":2}],"jobs":[{"cpu":1,"mem":0}],"ebound":3}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := format.ReadInstances(bytes.NewReader(text), "")
		if err != nil {
			return
		}
		problems := make([]*energy.Problem, len(list))
		for i, in := range list {
			if err := in.Validate(); err != nil {
				t.Fatal(err)
			}
			problems[i] = in.Problem
		}
		var b bytes.Buffer
		if err := format.WriteInstances(&b, problems); err != nil {
			t.Fatal(err)
		}
		again, err := format.ReadInstances(&b, "")
		if err != nil {
			t.Fatal(err)
		}
		for i := range again {
			if diff := cmp.Diff(problems[i], again[i].Problem); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}
