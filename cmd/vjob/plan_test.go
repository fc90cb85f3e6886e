package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/plan"
)

// formats has the instances that the package of the files has.
const formats = "../../repack/format/testdata/"

// ticking runs a command with a clock that goes on by a step each time that it is
// asked, so that searches end however fast the machine is.
func ticking(t *testing.T, width int, step time.Duration, input string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	now := noon
	code := run(t.Context(), cli.Streams{
		In: strings.NewReader(input), Out: &out, Err: &errs, Getenv: func(string) string { return "" },
		Now: func() time.Time { now = now.Add(step); return now }, Width: func() int { return width },
	}, args)
	return result{code, out.String(), errs.String()}
}

// tick is short enough for searches that end soon.
const tick = 10 * time.Millisecond

func fileWith(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// alone fails if a directory has anything but the given files.
func alone(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(names) {
		t.Errorf("%d files in %s, want %v: %v", len(entries), dir, names, entries)
	}
}

func TestPlan(t *testing.T) {
	dir := t.TempDir()
	out, svg := filepath.Join(dir, "plan.json"), filepath.Join(dir, "plan.svg")
	args := []string{"plan", "--in", formats + "mic-spread-sleeping.json.gz", "--out", out, "--svg", svg}
	r := ticking(t, 0, tick, "", args...)
	if r.code != cli.ExitOK || r.err != "" {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	for _, want := range []string{"2 nodes, 2 VMs, 1 rule", "completion       6 s", "makespan         6 s", "1 resume", "\nresult  "} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%s", want, r.out)
		}
	}
	alone(t, dir, "plan.json", "plan.svg")
	d := xml.NewDecoder(strings.NewReader(content(t, svg)))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	first := content(t, out)
	if !strings.Contains(first, "\n{\"type\":\"resume\",\"vm\":1,\"from\":0,\"to\":1,\"start\":0,\"end\":6}\n") {
		t.Error(first)
	}

	r = ticking(t, 0, tick, "", append(args, "-o", "json")...)
	var got plan.Planned
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != cli.ExitOK {
		t.Fatal(err, r)
	}
	if !got.Solved || *got.Objective != 6 || *got.Bound > 6 || *got.Makespan != 6 || *got.Migrations != 0 || *got.OverBound < 1 ||
		got.Actions["resume"] != 1 || got.Elapsed <= 0 || *got.FirstPlan <= 0 {
		t.Errorf("%+v", got)
	}
	if content(t, out) != first {
		t.Error("the same search wrote another plan")
	}
	if r := ticking(t, 0, tick, "", "check", "--in", args[2], "--plan", out, "--strict"); r.code != cli.ExitOK || !strings.HasPrefix(r.out, "VALID\n") {
		t.Error(r)
	}
}

// With a network, transfers take turns on the links; the plan tells their rates, and
// transfers that overload a link are found.
func TestPlanOnLinks(t *testing.T) {
	in, out := formats+"network.json", filepath.Join(t.TempDir(), "plan.json")
	r := ticking(t, 0, tick, "", "plan", "--in", in, "--out", out)
	if r.code != cli.ExitOK || !strings.Contains(r.out, "\nnetwork          2 transfers over links with a limit, at most 1 at a time\n") {
		t.Fatal(r)
	}
	file := content(t, out)
	if !strings.Contains(file, `"type":"migrate","vm":1,"from":0,"to":1,"start":0,"end":4,"rate":100}`) {
		t.Error(file)
	}
	if r := ticking(t, 0, tick, "", "check", "--in", in, "--plan", out, "--strict"); r.code != cli.ExitOK || !strings.HasPrefix(r.out, "VALID\n") {
		t.Error(r)
	}
	greedy := fileWith(t, strings.Replace(file, `"rate":100`, `"rate":110`, 1))
	if r := ticking(t, 0, tick, "", "check", "--in", in, "--plan", greedy); r.code != cli.ExitInvalid ||
		!strings.Contains(r.out, "the NIC out of node 0 carries 110 of 100 at 0\n") {
		t.Error(r)
	}
	r = ticking(t, 0, tick, "", "plan", "--in", in, "-o", "json")
	var got plan.Planned
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || got.Transfers != 2 {
		t.Error(err, r)
	}
}

// An instance may come from the standard input.
func TestPlanFromInput(t *testing.T) {
	text := content(t, formats+"mic-spread-sleeping.json.gz")
	if r := ticking(t, 0, tick, text, "plan", "--in", "-"); r.code != cli.ExitOK || !strings.Contains(r.out, "mic-spread-sleeping") {
		t.Error(r)
	}
	if r := ticking(t, 0, tick, "{", "plan", "--in", "-"); r.code != cli.ExitInput || !strings.Contains(r.err, "standard input:1:2: the file ends") {
		t.Error(r)
	}
}

// Without a plan nothing is written, and what was there stays as it was.
func TestNoPlan(t *testing.T) {
	for _, name := range []string{"mic-swap-none", "mic-fragmented"} {
		dir := t.TempDir()
		old := filepath.Join(dir, "old.json")
		if err := os.WriteFile(old, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"plan", "--in", formats + name + ".json.gz", "--out", old, "--svg", filepath.Join(dir, "new.svg"), "--deadline", "2s"}
		r := ticking(t, 0, tick, "", args...)
		if r.code != cli.ExitNoPlan || !strings.HasPrefix(r.err, "vjob: no plan ") || r.out != "" {
			t.Errorf("%s: %+v", name, r)
		}
		r = ticking(t, 0, tick, "", append(args, "-o", "json")...)
		var got plan.Planned
		if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != cli.ExitNoPlan || got.Solved || got.Objective != nil || got.Verdict == "solved" {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
		if content(t, old) != "precious" {
			t.Errorf("%s: the old file was written over", name)
		}
		alone(t, dir, "old.json")
	}
}

// Rules that contradict each other are a proof that there is no plan.
func TestContradiction(t *testing.T) {
	r := ticking(t, 0, tick, edit(t, `{"type":"spread","vms":[0,1]}`, `{"type":"running","vms":[0]},{"type":"sleeping","vms":[0]}`), "plan", "--in", "-")
	if r.code != cli.ExitNoPlan || !strings.HasPrefix(r.err, "vjob: no plan exists (proved)\nvjob:   ") {
		t.Errorf("%+v", r)
	}
}

const little = `{"format":"brsp-instance/1","name":"little",
"durations":{"boot":1,"shutdown":2,"suspend":4,"resume_local":5,"resume_remote":6,"node_off":1,"node_on":1},
"nodes":[
{"id":0,"cpu":100,"mem":100,"state":"online","next":"online"},
{"id":1,"cpu":100,"mem":100,"state":"offline","next":"online"}
],
"vms":[
{"id":0,"cpu":10,"mem":60,"migrate":6,"state":"running","host":0,"next":"running"},
{"id":1,"cpu":10,"mem":60,"migrate":6,"state":"ready","host":null,"next":"running"}
],
"constraints":[
{"type":"spread","vms":[0,1]}
]
}
`

// edit changes one place of the little instance.
func edit(t *testing.T, old, with string) string {
	t.Helper()
	if strings.Count(little, old) != 1 {
		t.Fatalf("%q is %d times in the instance", old, strings.Count(little, old))
	}
	return strings.Replace(little, old, with, 1)
}

// Errors in files name their place, and nothing is written.
func TestPlanRefuses(t *testing.T) {
	for _, tt := range []struct{ name, old, with, want string }{
		{"unknown node", `"host":0`, `"host":2`, `:8:64: vms[0].host: 2 is not a node from 0 to 1`},
		{"offline node", `"host":0`, `"host":1`, `vms[0].host: 1 is not a node that is online`},
		{"negative demand", `{"id":0,"cpu":10,`, `{"id":0,"cpu":-10,`, `:8:15: vms[0].cpu: -10 is not a whole number from 0`},
		{"huge demand", `{"id":0,"cpu":10,`, `{"id":0,"cpu":9e15,`, `vms[0].cpu: 9e15 is not`},
		{"cyclic precedence", `{"type":"spread","vms":[0,1]}`, `{"type":"precedence","first":0,"then":1},{"type":"precedence","first":1,"then":0}`, `is a cycle: VM 0 before VM 1 before VM 0`},
		{"two of one id", `{"id":1,"cpu":10,`, `{"id":0,"cpu":10,`, `vms[1].id: 0 is not 1: vms[0] is VM 0 already`},
		{"ids", `{"id":1,"cpu":100,`, `{"id":7,"cpu":100,`, `nodes[1].id: 7 is not 1`},
		{"rule without VMs", `[0,1]`, `[]`, `constraints[0]: spread: vms: names no VM`},
		{"rule of strangers", `[0,1]`, `[0,11]`, `constraints[0].vms[1]: 11 is not`},
		{"unknown state", `"ready"`, `"waiting\u001b[2J"`, `vms[1].state: "waiting\x1b[2J" is not "ready", "running", "sleeping", "killed"`},
		{"unknown key", `"name"`, `"title"`, `the key "title" is not`},
		{"wrong format", `brsp-instance/1`, `brsp-instance/2`, `format: "brsp-instance/2" is not "brsp-instance/1"`},
		{"not JSON", little, `PK\x03\x04`, `not JSON`},
		{"empty", little, ``, `the file ends`},
		{"cut", "\n]\n}\n", "", `cut off`},
		{"deep lists", little, `{"expect":` + strings.Repeat(`[`, 100_000), `nested more than 100 levels deep`},
		{"deep objects", little, `{"expect":` + strings.Repeat(`{"a":`, 100_000), `nested more than 100 levels deep`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := fileWith(t, edit(t, tt.old, tt.with))
			dir := t.TempDir()
			r := ticking(t, 0, tick, "", "plan", "--in", in, "--out", filepath.Join(dir, "out"), "--svg", filepath.Join(dir, "svg"))
			if r.code != cli.ExitInput || !strings.Contains(r.err, tt.want) || !strings.Contains(r.err, in) || r.out != "" {
				t.Errorf("exit %d, %s\nwant %s", r.code, r.err, tt.want)
			}
			alone(t, dir)
			if r := ticking(t, 0, tick, "", "check", "--in", in, "--plan", in); r.code != cli.ExitInput || !strings.Contains(r.err, tt.want) {
				t.Errorf("check: exit %d, %s\nwant %s", r.code, r.err, tt.want)
			}
		})
	}
}

func TestPlanFlags(t *testing.T) {
	in := fileWith(t, little)
	dir := t.TempDir()
	for line, want := range map[string]string{
		"":                                           `--in: "" is not a file`,
		"--in " + dir + "/none":                      `is not a file that can be read: no such file or directory`,
		"--in " + dir:                                `cannot be read`,
		"--in " + in + " --out " + in:                `--out: "` + in + `" is the same file as ` + in,
		"--in " + in + " --out " + dir:               `is a directory, want a file`,
		"--in " + in + " --out " + dir + "/no/x":     `--out: "` + dir + `/no/x" is not a file that can be written`,
		"--in " + in + " --out a --svg a":            `--svg: "a" is the same file as a`,
		"--in " + in + " --objective speed":          `--objective: "speed" is not one of completion, makespan, migrations, moved, nodes`,
		"--in " + in + " --deadline -1s":             `--deadline: -1s is not`,
		"--in " + in + " --deadline soon":            `invalid argument "soon"`,
		"--in " + in + " --iterations -2":            `--iterations: -2 is not`,
		"--in " + in + " --workers 0":                `--workers: 0 is not`,
		"--in " + in + " --seed -1":                  `invalid argument "-1"`,
		"--in " + in + " more":                       `argument "more": want none`,
		"--in " + in + " --out " + in + "/beneath/x": `is not a file that can be written: not a directory`,
	} {
		if r := ticking(t, 0, tick, "", append([]string{"plan"}, strings.Fields(line)...)...); r.code != cli.ExitInput || !strings.Contains(r.err, want) || r.out != "" {
			t.Errorf("%s: exit %d, %s\nwant %s", line, r.code, r.err, want)
		}
	}
	alone(t, dir)
}

// A file that is written keeps its permissions and the links that lead to it.
func TestPlanReplaces(t *testing.T) {
	dir := t.TempDir()
	in, file, link := fileWith(t, little), filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("old"), 0o640), os.Chmod(file, 0o640), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	if r := ticking(t, 0, tick, "", "plan", "--in", in, "--out", link); r.code != cli.ExitOK {
		t.Fatal(r)
	}
	info, err := os.Lstat(file)
	if err != nil || info.Mode() != 0o640 || !strings.HasPrefix(content(t, file), `{"format":"brsp-plan/1"`) {
		t.Error(info, err, content(t, file))
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone", err)
	}
	alone(t, dir, "file", "link")
	if _, err := os.Stat("/dev/full"); err == nil {
		if r := ticking(t, 0, tick, "", "plan", "--in", in, "--out", "/dev/full"); r.code != cli.ExitInternal || !strings.Contains(r.err, "no space left") {
			t.Error(r)
		}
	}
}

// On a terminal the search can be followed.
func TestPlanLine(t *testing.T) {
	in := formats + "cal-r2-base-1.json.gz"
	r := ticking(t, 80, time.Second, "", "plan", "--in", in, "--deadline", "3s")
	if r.code != cli.ExitOK || !strings.Contains(r.err, "\rlooking for a plan") && !strings.Contains(r.err, "completion ") || !strings.HasSuffix(r.err, "\r\x1b[K") {
		t.Errorf("%d %q", r.code, r.err)
	}
	if strings.Contains(r.out, "\r") {
		t.Errorf("%q", r.out)
	}
	if r := ticking(t, 0, time.Second, "", "plan", "--in", in, "--deadline", "3s"); r.err != "" {
		t.Errorf("not a terminal: %q", r.err)
	}
}

func TestPlanCompletion(t *testing.T) {
	if r := ticking(t, 0, tick, "", "__complete", "plan", "--objective", ""); !strings.Contains(r.out, "makespan\n") {
		t.Error(r)
	}
}

// TestGuideInstance solves the instance in docs/reference/plan-files.md.
func TestGuideInstance(t *testing.T) {
	_, rest, _ := strings.Cut(content(t, "../../docs/reference/plan-files.md"), "```json\n{\"format\"")
	text, _, _ := strings.Cut(rest, "```")
	r := ticking(t, 0, tick, `{"format"`+text, "plan", "--in", "-", "-o", "json")
	var got plan.Planned
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != cli.ExitOK || *got.Objective != 9 {
		t.Error(err, r)
	}
}
