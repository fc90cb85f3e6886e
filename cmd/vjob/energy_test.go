package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/energy/format"
	"vjob/energy"
	"vjob/papers/allocation"
)

// energyFile writes some small instances of each problem into a file.
func energyFile(t *testing.T) string {
	t.Helper()
	var list []*energy.Problem
	for _, o := range []energy.Objective{energy.BoundedYield, energy.BoundedPower, energy.Mixed} {
		for seed := range uint64(2) {
			p := allocation.Sample(allocation.SampleOptions{Objective: o, Nodes: 4, Jobs: 8, Lambda: 0.5, Seed: seed})
			p.ID = o.String() + string(rune('a'+seed))
			list = append(list, p)
		}
	}
	return writeProblems(t, list...)
}

func writeProblems(t *testing.T, list ...*energy.Problem) string {
	t.Helper()
	var b bytes.Buffer
	if err := format.WriteInstances(&b, list); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "instances.json")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEnergySolve(t *testing.T) {
	s := &shell{t: t}
	in := energyFile(t)
	out := filepath.Join(t.TempDir(), "out.json")
	args := []string{"energy", "solve", "--in", in, "--out", out, "--steps", "200"}
	text := s.ok(args...)
	if strings.Count(text, "the best (proved)") != 6 {
		t.Errorf("small instances are not proved:\n%s", text)
	}
	first, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var summary struct{ Instances []solution }
	if err := json.Unmarshal([]byte(s.ok(append(args, "-o", "json")...)), &summary); err != nil {
		t.Fatal(err)
	}
	for _, r := range summary.Instances {
		if r.Status != "ok" || r.Y == nil || r.Watts == nil || r.LP == nil || (r.Z == nil) != (r.Problem != "mixed") {
			t.Errorf("%+v", r)
		}
	}
	if second, _ := os.ReadFile(out); !bytes.Equal(first, second) {
		t.Error("the same seed and steps gave other allocations")
	}
	if text := s.ok("energy", "check", "--in", in, "--allocations", out); strings.Count(text, " ok ") != 6 {
		t.Error(text)
	}
	for _, how := range []string{"equal", "fair", "sum"} {
		s.ok(append(args, "--shares", how)...)
		s.ok("energy", "check", "--in", in, "--allocations", out)
	}
}

func TestEnergyCheckFindsFaults(t *testing.T) {
	s := &shell{t: t}
	in := energyFile(t)
	out := filepath.Join(t.TempDir(), "out.json")
	text := `{"allocations":[{"id":"boundedyielda","assign":[0,0,0,0,0,0,0,0]},{"id":"boundedyieldb","status":"fail"},
{"id":"mixeda","assign":[0,1,2,3,0,1,2,3],"cpu":[9,9,9,9,9,9,9,9]}]}`
	if err := os.WriteFile(out, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := s.run("energy", "check", "--in", in, "--allocations", out)
	if r.code != cli.ExitInvalid || !strings.Contains(r.err, "2 of 3 allocations are wrong") ||
		!strings.Contains(r.out, "a CPU share of 9") || strings.Count(r.out, "missing") != 3 {
		t.Errorf("%d\n%s\n%s", r.code, r.out, r.err)
	}
}

func TestEnergyWithoutSolution(t *testing.T) {
	s := &shell{t: t}
	p := allocation.Sample(allocation.SampleOptions{Objective: energy.BoundedPower, Nodes: 2, Jobs: 2, Seed: 1})
	p.Budget = 20
	q := allocation.Sample(allocation.SampleOptions{Objective: energy.BoundedYield, Nodes: 2, Jobs: 2, Seed: 1})
	q.Jobs[0].Need[0] = 1.5
	in := writeProblems(t, p, q)
	out := filepath.Join(t.TempDir(), "out.json")
	r := s.run("energy", "solve", "--in", in, "--out", out, "--steps", "50")
	if r.code != cli.ExitNoPlan || !strings.Contains(r.out, "W, the budget is 20.0 W") || !strings.Contains(r.out, "0.5 too little") {
		t.Errorf("%d\n%s\n%s", r.code, r.out, r.err)
	}
	s.ok("energy", "check", "--in", in, "--allocations", out)
}

func TestEnergyCompare(t *testing.T) {
	s := &shell{t: t}
	in := energyFile(t)
	svg := filepath.Join(t.TempDir(), "picture.svg")
	text := s.ok("energy", "compare", "--in", filepath.Dir(in), "--svg", svg, "--steps", "200")
	for _, h := range allocation.All() {
		if !strings.Contains(text, h.Name) {
			t.Errorf("%s is not in\n%s", h.Name, text)
		}
	}
	if picture, err := os.ReadFile(svg); err != nil || !bytes.Contains(picture, []byte("ea-resalloc-power")) {
		t.Error(err)
	}
	var body struct {
		Algorithms []struct {
			Algorithm string
			Failed    int
			OverLBH   *float64 `json:"over_lbh_percent"`
		}
	}
	if err := json.Unmarshal([]byte(s.ok("energy", "compare", "--in", in, "--steps", "200", "-o", "json")), &body); err != nil {
		t.Fatal(err)
	}
	for _, c := range body.Algorithms {
		if c.Algorithm == "vjob" && (c.Failed > 0 || *c.OverLBH < -0.01) {
			t.Errorf("%+v", c)
		}
	}
}

func TestEnergyBadFlags(t *testing.T) {
	s := &shell{t: t}
	in := energyFile(t)
	for want, args := range map[string][]string{
		"--in":                           {"solve"},
		"--algorithm":                    {"solve", "--in", in, "--algorithm", "best"},
		"greedy-yield-1":                 {"solve", "--in", in, "--algorithm", "greedy-yield-1"},
		"--deadline: -1s":                {"solve", "--in", in, "--deadline", "-1s"},
		"may never end":                  {"solve", "--in", in, "--deadline", "0"},
		"--steps: -1":                    {"solve", "--in", in, "--steps", "-1"},
		"--shares":                       {"solve", "--in", in, "--shares", "most"},
		"is the same file as":            {"solve", "--in", in, "--out", in},
		"--allocations":                  {"check", "--in", in},
		"has the instances, want a file": {"check", "--in", "-", "--allocations", "-"},
		"with files *.json":              {"compare", "--in", t.TempDir()},
		"unknown command":                {"solv"},
		"--deadline: 0s":                 {"compare", "--in", in, "--deadline", "0"},
		"can be read":                    {"compare", "--in", in + "x"},
	} {
		if r := s.run(append([]string{"energy"}, args...)...); r.code != cli.ExitInput || !strings.Contains(r.err, want) {
			t.Errorf("%v: %d %s", args, r.code, r.err)
		}
	}
}

// solution is what the summary of a solved instance says, as far as it is looked at.
type solution struct {
	Problem string
	Status  string
	Y, Z    *float64
	Watts   *float64 `json:"e_watts"`
	LP      *float64 `json:"lp_bound"`
}
