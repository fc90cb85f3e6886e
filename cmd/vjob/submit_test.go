package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/queue"
)

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
		{[]string{"submit", "--vms", "0"}, "vjob: --vms: 0 is not 1 or more"},
		{[]string{"submit", "--vms", "x"}, `vjob: invalid argument "x" for "--vms" flag`},
		{[]string{"submit", "--cpu", "0"}, `vjob: --cpu: "0" is not more than 0 processors`},
		{[]string{"submit", "--cpu", "-1"}, `vjob: --cpu: "-1" is not`},
		{[]string{"submit", "--mem", "lots"}, `vjob: --mem: "lots" is not a size`},
		{[]string{"submit", "--walltime", "1:99"}, `vjob: --walltime: "1:99" is not`},
		{[]string{"submit", "--steps", "1m"}, `vjob: --steps, part 1: "1m" is not`},
		{[]string{"submit", "--env", "A"}, `vjob: --env: "A" is not NAME=VALUE`},
		{[]string{"submit", "--script", "/none"}, `vjob: --script: "/none" is not`},
		{[]string{"submit", "/none"}, "no such file"},
		{[]string{"submit", "a", "b"}, "vjob: a command stands after --: vjob submit -- a b\n"},
		{[]string{"submit", "a", "--", "b"}, "a file and a command given"},
		{[]string{"submit", file("template: {cpu: 1, memory: 1GiB}"), "--vms", "3"}, "--vms: want it in the file"},
		{[]string{"submit", file("naem: x")}, "naem: unknown key: want probably name"},
		{[]string{"submit", file("template: {cpu: 1, memory: 1GiB, cpu_milli: 5}")}, "template.cpu: given beside cpu_milli, want one of the two"},
		{[]string{"submit", file("template: {cpu: 0, memory: 1GiB}")}, `template.cpu: "0": want more than 0`},
		{[]string{"submit", file("vms: [{cpu: 1, memory: -1GiB}]")}, `vms[0].memory: "-1GiB": want a size`},
		{[]string{"submit", file("vms: [{cpu: 1, memory: 1GiB}]\ncount: 3")}, "count: 3 requires a template"},
		{[]string{"submit", file("name: x")}, "vms: missing, want a list of VMs, or count and template"},
		{[]string{"submit", file("walltime: soon\ntemplate: {cpu: 1, memory: 1GiB}")}, `walltime: "soon": want hours:minutes:seconds`},
		{[]string{"lst"}, `unknown command "lst": want probably list`},
		{[]string{"list", "--state", "sleeping"}, `--state: "sleeping" is not one of booting`},
		{[]string{"list", "--limit", "-1"}, "--limit: -1 is not"},
		{[]string{"list", "-o", "xml"}, `--format: "xml" is not table, wide, json, yaml, csv or template=`},
		{[]string{"list", "--nope"}, "unknown flag: --nope; see vjob list --help"},
		{[]string{"show"}, "0 arguments given: want vjobs or arrays"},
		{[]string{"show", "0"}, `VJOB: "0" is not`},
		{[]string{"delete"}, "nothing is selected: want vjobs, or flags"},
		{[]string{"logs", "1", "--rank", "-1"}, "--rank: -1 is not"},
		{[]string{"nodes", "down", "n1"}, "--fenced: required once you have made sure"},
		{[]string{"nodes", "dwon", "n1"}, `unknown command "dwon"`},
		{[]string{"plans", "show", "x"}, `plan: "x" is not`},
		{[]string{"events", "--kind", "x"}, `--kind: "x" is not one of submitted`},
		{[]string{"token", "create", "--expires", "soon"}, `--expires: "soon" is not`},
		{[]string{"watch", "--interval", "1ms"}, "--interval: 1ms is not"},
		{[]string{"replay", "/none"}, "no such file"},
		{[]string{"replay", "../../examples/nasgrid-8x9.json", "--policy", "best"}, `--policy: "best" is not one of ` + strings.Join(queue.Names(), ", ")},
		{[]string{"replay", "../../examples/nasgrid-8x9.json", "--profile", "x"}, `--profile: "x" is not`},
		{[]string{"replay", "../../examples/nasgrid-8x9.json", "--cluster", "1x1x1GiB"}, `vjob J1 of line 122: vms`},
		{[]string{"replay", "../../sim/workload/testdata/kth_50_explicit.jsonl.gz"}, `--cluster: required`},
		{[]string{"--server", "ftp://x", "list"}, `server: "ftp://x" is not`},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			r := s.run(tt.args...)
			if r.code != cli.ExitInput || !strings.Contains(r.err, tt.want) || r.out != "" {
				t.Errorf("exit %d, out %q, err %s\nwant %s", r.code, r.out, r.err, tt.want)
			}
		})
	}
	if server.submitted.Count != 0 {
		t.Errorf("something was submitted: %+v", server.submitted)
	}
}
