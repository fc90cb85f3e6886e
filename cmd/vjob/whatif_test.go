package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/tests/golden"
)

// whatIfAnswer is an answer with figures: a node is added, another demand and a pool more are asked about.
func whatIfAnswer() wire.WhatIfResult {
	use := func(pool string, depth int, demand, given int64) wire.WhatIfUse {
		return wire.WhatIfUse{Pool: pool, Depth: depth, Demand: demand, Entitlement: given, Satisfied: float64(given) / float64(demand)}
	}
	before := wire.WhatIfFigures{
		Nodes: 2, Running: 2, Waiting: 1, Suspended: 1, Imbalance: 0.4, CPU: 8000, Memory: 16384, Demand: 6500, Served: 6500,
		Loads: []wire.WhatIfLoad{{Node: "n1", CPU: 1.1, Memory: 0.5}, {Node: "n2", CPU: 0.3, Memory: 0.25}},
		Power: &wire.WhatIfPower{Watts: 350.5, Budgets: []wire.WhatIfBudget{{Most: 400, Drawn: 350.5}, {Group: "rack=r1", Most: 300, Drawn: 200}}},
		Pools: []wire.WhatIfUse{use("cluster", 0, 6500, 6500), use("physics", 1, 4000, 4000), use("theory", 2, 1000, 1000)},
		Waits: wire.WhatIfWaits{Known: 2, Mean: 1800, Longest: 3600, Latest: at(60)}, Balancing: &wire.WhatIfBalancing{Imbalance: 0.4, Why: "nothing"},
	}
	after := wire.WhatIfFigures{
		Nodes: 3, Running: 3, Suspended: 1, Imbalance: 0.21, CPU: 12000, Memory: 24576, Demand: 9000, Served: 8500,
		Loads: []wire.WhatIfLoad{{Node: "n1", CPU: 1.25, Memory: 0.5}, {Node: "n3", CPU: 0.75, Memory: 0.75}, {Node: "n2", CPU: 0.3, Memory: 0.25}},
		Power: &wire.WhatIfPower{Watts: 520, Unknown: 1, Budgets: []wire.WhatIfBudget{{Most: 400, Drawn: 520}, {Group: "rack=r1", Most: 300, Drawn: 200}}},
		Pools: []wire.WhatIfUse{use("cluster", 0, 9000, 8500), use("biology", 1, 1000, 1000), use("physics", 1, 5000, 4500), use("theory", 2, 1000, 1000)},
		Waits: wire.WhatIfWaits{Known: 1, Unknown: 1, Mean: 900, Longest: 900, Latest: at(15)},
		Balancing: &wire.WhatIfBalancing{
			Imbalance: 0.04, Moves: []wire.BalanceMove{{Move: wire.Move{VM: "13.1", From: "n1", To: "n3"}}}, Makespan: 12,
		},
	}
	return wire.WhatIfResult{
		Nodes: 3, Before: &before, After: &after,
		VJobs: []wire.WhatIfVJob{
			{ID: 14, Owner: "ada", State: "waiting", VMCount: 1, Now: "wait", Then: "run", Reason: "runs: there is room", NowStart: at(60)},
			{ID: 15, Owner: "bob", State: "suspended", VMCount: 2, Now: "wait", Then: "wait", Reason: "waits: needs 1 CPU more", NowStart: at(30), ThenStart: at(15)},
		},
		Plan: wire.Plan{MakespanSeconds: 6, ActionCount: 1, Actions: []wire.Action{{Kind: "boot", VM: "14.0", To: "n3", EndSec: 6}}},
	}
}

func TestWhatIfTable(t *testing.T) {
	s, f := against(t, map[string]any{"/v1/what-if": whatIfAnswer(), "/v1/nodes": wire.NodeList{}})
	file := filepath.Join(t.TempDir(), "pools.yaml")
	if err := os.WriteFile(file, []byte("pools:\n  - {name: physics, cpu: {limit: 6, shares: high}}\n  - {name: theory, parent: physics}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	line := []string{
		"plan", "--what-if", "--add", "n[3-4]=n1,2xn2", "--off", "n2", "--demand", "pool:physics=+30%,vjob:12=2.5", "--demand", "owner:ada=-12.5%",
		"--demand", "all=500m", "--pools", file,
	}
	golden.Same(t, "testdata/whatif.golden", s.ok(line...))
	var asked wire.WhatIf
	if err := json.Unmarshal([]byte(f.question), &asked); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(asked)
	want := `{"add":[{"name":"n3","like":"n1"},{"name":"n4","like":"n1"},{"count":2,"like":"n2"}],"off":["n2"],` +
		`"demand":[{"pool":"physics","percent":30},{"vjob":12,"cpu_milli":2500},{"owner":"ada","percent":-12.5},{"all":true,"cpu_milli":500}],` +
		`"pools":[{"name":"physics","cpu":{"limit":"6","shares":"high"}},{"name":"theory","parent":"physics"}]}`
	if err != nil || string(got) != want {
		t.Errorf("asked\n%s, want\n%s", got, want)
	}
	if out := s.ok(append(line, "-o", "json")...); !strings.Contains(out, `"cpu_served_milli": 8500`) {
		t.Error(out)
	}
}

// Mistakes that are easily made have messages of their own, each with its fix.
func TestWhatIfFlags(t *testing.T) {
	s, _ := against(t, map[string]any{"/v1/what-if": whatIfAnswer()})
	bad := filepath.Join(t.TempDir(), "pools.yaml")
	if err := os.WriteFile(bad, []byte("pools:\n  - {name: physics, cpu: {limit: 30%}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"--demand pool:a=30%":      `--demand: "30%" has no sign: write +30% for so much more, -30% for less`,
		"--demand pool:a=+2":       `--demand: "+2" has no unit: a change is in percent, such as +30%`,
		"--demand pool:a=-200%":    `--demand: "-200%" leaves less than nothing`,
		"--demand pool:a=+x%":      `--demand: "+x%" is not a change in percent`,
		"--demand pool:a=2GiB":     `--demand: "2GiB" is not a change in percent, such as +30%, or the CPU of each VM`,
		"--demand a=+30%":          `--demand: "a" does not say of what kind it is: want all, pool:NAME, owner:NAME or vjob:VJOB, such as pool:a`,
		"--demand 12=+30%":         `such as vjob:12`,
		"--demand user:a=+30%":     `there is no kind "user"`,
		"--demand +30%":            `--demand: "+30%" is not vjobs and their demand`,
		"--add n4":                 `--add: "n4" is not new nodes`,
		"--add =n1":                `--add: "=n1" is not new nodes`,
		"--add n4=":                `--add: "n4=" is not new nodes`,
		"--add 0xn1":               `--add: "0xn1" is not a number of nodes`,
		"--pools " + bad:           `pools.yaml:2:`,
		"--pools " + bad + ".none": `--pools: `,
	} {
		s.fails(cli.ExitInput, want, append([]string{"plan", "--what-if"}, strings.Fields(line)...)...)
	}
	s.fails(cli.ExitInput, "--add: needs --what-if", "plan", "--add", "n4=n1")
}

// A script is submitted in question with the flags and the directives in its head, as vjob submit reads it.
func TestWhatIfOfAScript(t *testing.T) {
	s, f := against(t, map[string]any{"/v1/what-if": whatIfAnswer(), "/v1/nodes": wire.NodeList{}})
	file := filepath.Join(t.TempDir(), "run.sh")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n#VJOB --vms 3 --cpu 2 --queue night --array 4%2\nsleep 60\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.ok("plan", "--what-if", "--submit", file)
	var asked wire.WhatIf
	if err := json.Unmarshal([]byte(f.question), &asked); err != nil {
		t.Fatal(err)
	}
	vjob := asked.Submit
	if vjob == nil || vjob.Count != 3 || vjob.Template == nil || vjob.Template.CPUMilli != 2000 || vjob.Queue != "night" || vjob.Array != 4 ||
		!strings.Contains(vjob.Template.Script, "sleep 60") {
		t.Errorf("asked: %+v", vjob)
	}
	s.fails(cli.ExitInput, "--submit: \"missing.sh\"", "plan", "--what-if", "--submit", "missing.sh")
}
