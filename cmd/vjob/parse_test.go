package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vjob/api/wire"
)

func TestParseWalltime(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1:00:00": time.Hour, "90m": 90 * time.Minute, "0:00:01": time.Second, "100:30:05": 100*time.Hour + 30*time.Minute + 5*time.Second,
		"90:00": 90 * time.Minute, "1h30m": 90 * time.Minute, "2d": 48 * time.Hour, "45s": 45 * time.Second,
	} {
		if got, err := parseWalltime("w", text); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "0s", "1", "-1h", "1:60:00", "1:0:0", "1:2:3:4", "1.5s", "a:b", "::", "11y", "99999d", "+1:00", "500ms"} {
		if got, err := parseWalltime("--walltime", text); err == nil {
			t.Errorf("%q was read as %s", text, got)
		} else if exitCode(err) != exitInput || !strings.HasPrefix(err.Error(), "--walltime: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseSteps(t *testing.T) {
	got, err := parseSteps("s", "2m@1, 90s@0.5,1h@250m,10s@0")
	want := []wire.Step{{CPUMilli: 1000, Seconds: 120}, {CPUMilli: 500, Seconds: 90}, {CPUMilli: 250, Seconds: 3600}, {Seconds: 10}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, text := range []string{"2m", "@1", "2m@", "2m@-1", "x@1", "2m@1,,1m@1", "2m@1,"} {
		if _, err := parseSteps("--steps", text); exitCode(err) != exitInput {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseCluster(t *testing.T) {
	nodes, err := parseCluster("12x0.5x1GiB")
	if err != nil || len(nodes) != 12 || nodes[0].ID != "n01" || nodes[11].ID != "n12" || nodes[0].Capacity.CPU != 500 {
		t.Errorf("%v, %v", nodes, err)
	}
	for _, text := range []string{"", "5", "5x2", "0x1x1GiB", "5x0x1GiB", "5x1x0", "-1x1x1", "99999x1x1"} {
		if _, err := parseCluster(text); exitCode(err) != exitInput {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain ä 字": "plain ä 字", "\x1b[31m": `\x1b[31m`, "a\nb\tc": `a\nb\tc`, "\u009b2J": `\x9b2J`, "\xff": `\xff`,
		"\u202eabc": `\u202eabc`, "\x7f": `\x7f`, "\ufffd": "\ufffd",
	} {
		if got := clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A letter that arrives in two pieces is not torn.
func TestCleanWriter(t *testing.T) {
	text := "grün\r\n\x1b[1m字\t\u202e.\n"
	for size := 1; size < 6; size++ {
		var out bytes.Buffer
		w := &cleanWriter{to: &out}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		got := strings.ReplaceAll(out.String(), `\x0d`, "") // a pair that arrived in two pieces
		if want := "grün\n\\x1b[1m字\t\\u202e.\n"; got != want {
			t.Errorf("in pieces of %d: %q, want %q", size, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 90 * time.Millisecond: "90ms", 8300 * time.Millisecond: "8.3s", 42 * time.Second: "42s", 245 * time.Second: "4m05s",
		134 * time.Minute: "2h14m", 76 * time.Hour: "3d04h", -time.Minute: "-1m00s",
	} {
		if got := span(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}

// TestSubmit shows what each way of submitting sends.
func TestSubmit(t *testing.T) {
	s, server := against(t, nil)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	script := file("run.sh", "#!/bin/sh\necho hello\n")
	words := file("words.yaml", "name: w\nwalltime: 1:30:00\ncount: 2\ntemplate: {cpu: 0.5, memory: 2GiB, work: '2m@1,1m@0.5'}\nrules: [{rule: ban, vms: $VMS, nodes: n3}]\n")
	plain := file("plain.json", `{"name": "p", "walltime_seconds": 60, "vms": [{"cpu_milli": 1000, "memory_mib": 64, "command": ["sleep", "10"]}]}`)
	s.input = "{template: {cpu: 1, memory: 64}}"
	one := wire.VMSpec{CPUMilli: 1000, MemoryMiB: 512}
	tests := []struct {
		name string
		args []string
		want wire.Submission
	}{
		{"defaults", nil, wire.Submission{Count: 1, Template: &one}},
		{"flags", []string{
			"--name", "n", "--vms", "4", "--cpu", "250m", "--mem", "2GiB", "--walltime", "1:00:00", "--image", "debian", "--hold", "--priority", "-3",
			"--spread", "--ban", "n1,n2", "--fence", "n3", "--rule", "soft(5) root(VM0)", "--env", "A=b=c", "--", "./run.sh", "--fast",
		}, wire.Submission{
			Name: "n", Priority: -3, WalltimeSeconds: 3600, Hold: true, Count: 4,
			Template: &wire.VMSpec{CPUMilli: 250, MemoryMiB: 2048, Image: "debian", Command: []string{"./run.sh", "--fast"}, Env: map[string]string{"A": "b=c"}},
			Rules:    "continuous spread($VMS);\ncontinuous ban($VMS, {n1, n2});\ncontinuous fence($VMS, {n3});\nsoft(5) root(VM0);\n",
		}},
		{"script", []string{"--script", script}, wire.Submission{Count: 1, Template: &wire.VMSpec{CPUMilli: 1000, MemoryMiB: 512, Script: "#!/bin/sh\necho hello\n"}}},
		{"file in words", []string{words, "--gather", "--name", "other"}, wire.Submission{
			Name: "other", WalltimeSeconds: 5400, Count: 2,
			Template: &wire.VMSpec{CPUMilli: 500, MemoryMiB: 2048, Steps: []wire.Step{{CPUMilli: 1000, Seconds: 120}, {CPUMilli: 500, Seconds: 60}}},
			Rules:    "ban(vms=$VMS, nodes=n3);\ngather($VMS);\n",
		}},
		{"file of the API", []string{plain, "--walltime", "2m"}, wire.Submission{
			Name: "p", WalltimeSeconds: 120, VMs: []wire.VMSpec{{CPUMilli: 1000, MemoryMiB: 64, Command: []string{"sleep", "10"}}},
		}},
		{"standard input", []string{"-"}, wire.Submission{Count: 1, Template: &wire.VMSpec{CPUMilli: 1000, MemoryMiB: 64}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if out := s.ok(append([]string{"submit", "--idempotency-key", "k"}, tt.args...)...); out != "7\n" {
				t.Errorf("printed %q", out)
			}
			if diff := cmp.Diff(tt.want, server.submitted); diff != "" || server.key != "k" {
				t.Errorf("key %q: %s", server.key, diff)
			}
		})
	}
}

// TestBadInput: each is refused before anything is sent, with the field's name.
func TestBadInput(t *testing.T) {
	s, server := against(t, nil)
	dir := t.TempDir()
	n := 0
	file := func(text string) string {
		n++
		path := filepath.Join(dir, fmt.Sprintf("%d.yaml", n))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"submit", "--vms", "0"}, "vjob: --vms: 0 is wrong: want 1 or more"},
		{[]string{"submit", "--vms", "x"}, `vjob: invalid argument "x" for "--vms" flag`},
		{[]string{"submit", "--cpu", "0"}, `vjob: --cpu: "0" is wrong: want more than 0 processors`},
		{[]string{"submit", "--cpu", "-1"}, `vjob: --cpu: "-1" is wrong`},
		{[]string{"submit", "--mem", "lots"}, `vjob: --mem: "lots" is wrong: want a size`},
		{[]string{"submit", "--walltime", "1:99"}, `vjob: --walltime: "1:99" is wrong`},
		{[]string{"submit", "--steps", "1m"}, `vjob: --steps, part 1: "1m" is wrong`},
		{[]string{"submit", "--env", "A"}, `vjob: --env: "A" is wrong: want NAME=VALUE`},
		{[]string{"submit", "--script", "/none"}, `vjob: --script: "/none" is wrong`},
		{[]string{"submit", "/none"}, "no such file"},
		{[]string{"submit", "a", "b"}, "2 files given: want one"},
		{[]string{"submit", "a", "--", "b"}, "a file and a command given"},
		{[]string{"submit", file("template: {cpu: 1, memory: 1GiB}"), "--vms", "3"}, "--vms: want it in the file"},
		{[]string{"submit", file("naem: x")}, "naem: unknown key: want probably name"},
		{[]string{"submit", file("template: {cpu: 1, memory: 1GiB, cpu_milli: 5}")}, "template.cpu: given beside cpu_milli: want one of the two"},
		{[]string{"submit", file("template: {cpu: 0, memory: 1GiB}")}, `template.cpu: "0": want more than 0`},
		{[]string{"submit", file("vms: [{cpu: 1, memory: -1GiB}]")}, `vms[0].memory: "-1GiB": want a size`},
		{[]string{"submit", file("vms: [{cpu: 1, memory: 1GiB}]\ncount: 3")}, "count: 3: want a template as well"},
		{[]string{"submit", file("name: x")}, "vms: \"none\" is wrong: want a list of VMs, or count and template"},
		{[]string{"submit", file("walltime: soon\ntemplate: {cpu: 1, memory: 1GiB}")}, `walltime: "soon": want hours:minutes:seconds`},
		{[]string{"lst"}, `unknown command "lst": want probably list`},
		{[]string{"list", "--state", "sleeping"}, `--state: "sleeping" is wrong: want one of booting`},
		{[]string{"list", "--limit", "-1"}, "--limit: -1 is wrong"},
		{[]string{"list", "-o", "xml"}, `--output: "xml" is wrong: want json or table`},
		{[]string{"list", "extra"}, `argument "extra": want none`},
		{[]string{"list", "--nope"}, "unknown flag: --nope; see vjob list --help"},
		{[]string{"show"}, "0 arguments given: want the number or the name of a vjob"},
		{[]string{"show", "0"}, `vjob: "0" is wrong`},
		{[]string{"delete"}, "0 arguments given"},
		{[]string{"logs", "1", "--rank", "-1"}, "--rank: -1 is wrong"},
		{[]string{"nodes", "down", "n1"}, "--fenced: false is wrong: want --fenced, once you have made sure"},
		{[]string{"nodes", "dwon", "n1"}, `unknown command "dwon"`},
		{[]string{"plans", "show", "x"}, `plan: "x" is wrong`},
		{[]string{"events", "--kind", "x"}, `--kind: "x" is wrong: want one of submitted`},
		{[]string{"users", "token", "a", "--expires", "soon"}, `--expires: "soon" is wrong`},
		{[]string{"watch", "--interval", "1ms"}, "--interval: 1ms is wrong"},
		{[]string{"replay", "/none"}, "no such file"},
		{[]string{"replay", "../../examples/nasgrid-8x9.json", "--policy", "best"}, `--policy: "best" is wrong: want one of conservative, dynamic-easy, easy, fcfs, firstfit, timeslices`},
		{[]string{"replay", "../../examples/nasgrid-8x9.json", "--profile", "x"}, `--profile: "x" is wrong`},
		{[]string{"replay", "../../examples/nasgrid-8x9.json", "--cluster", "1x1x1GiB"}, `vjob J1 of line 122: vms`},
		{[]string{"replay", "../../workload/testdata/kth_50_explicit.jsonl.gz"}, `--cluster: "" is wrong`},
		{[]string{"--server", "ftp://x", "list"}, `server: "ftp://x" is wrong`},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			r := s.run(tt.args...)
			if r.code != exitInput || !strings.Contains(r.err, tt.want) || r.out != "" {
				t.Errorf("exit %d, out %q, err %s\nwant %s", r.code, r.out, r.err, tt.want)
			}
		})
	}
	if server.submitted.Count != 0 {
		t.Errorf("something was submitted: %+v", server.submitted)
	}
}
