package planner_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vjob/papers/repacking"
	"vjob/repack"
	"vjob/repack/format"
	"vjob/repack/rule"
	"vjob/tests/planted"
)

// others are the results of other planners on a file.
type others struct {
	BtrPlace   found `json:"btrplace"`
	Greedy     found `json:"greedy"`
	LowerBound int64 `json:"lower_bound"`
}

type found struct {
	Solved    bool    `json:"solved"`
	Objective int64   `json:"objective"`
	CPU       float64 `json:"cpu_s"`
}

// figures returns the results of other planners, by the name of the instance.
func figures(t *testing.T) map[string]others {
	t.Helper()
	text, err := os.ReadFile("testdata/figures.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Figures map[string]others }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Figures
}

// instances returns the paths of the benchmark's files in VJOB_BRSP, or of the few in the
// repository.
func instances(t *testing.T) (paths []string) {
	t.Helper()
	folders := []string{"testdata", "../../repack/solve/testdata"}
	if folder := os.Getenv("VJOB_BRSP"); folder != "" {
		folders = []string{folder}
	}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			name := strings.TrimSuffix(filepath.Base(path), ".gz")
			if strings.HasSuffix(name, ".json") && strings.Contains(name, "-") {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(paths)
	return paths
}

// load reads an instance file, plain or compressed.
func load(t *testing.T, path string) *format.Problem {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	in := io.Reader(bytes.NewReader(text))
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(in); err != nil {
			t.Fatal(err)
		}
	}
	p, err := format.ReadInstance(in, path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// nameOf returns the name of an instance file in tables.
func nameOf(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".json")
}

// made is a generated problem.
type made struct {
	name string
	in   *repack.Instance
}

// plantations returns problems with a known final packing, as full as the name says; those with 40 nodes
// have 40 in their name, the others 200 nodes.
func plantations() (list []made) {
	for _, percent := range []int{98, 100} {
		for seed := range uint64(4) {
			o := planted.Options{Nodes: 40, Fill: float64(percent) / 100, Seed: seed}
			list = append(list, made{fmt.Sprintf("planted-40-%d%%-%d", percent, seed), planted.New(o)})
		}
	}
	for _, percent := range []int{95, 98, 100} {
		for seed := range uint64(3) {
			o := planted.Options{Nodes: 200, Fill: float64(percent) / 100, Seed: seed}
			list = append(list, made{fmt.Sprintf("planted-%d%%-%d", percent, seed), planted.New(o)})
			o.Flavours = true
			list = append(list, made{fmt.Sprintf("flavours-%d%%-%d", percent, seed), planted.New(o)})
		}
	}
	return list
}

// huge returns a problem of the paper's distribution with ten times its nodes, with or without
// the paper's rules: tiers are spread at every instant, racks have a capacity, some nodes are
// banned.
func huge(t *testing.T, rules bool) made {
	t.Helper()
	in, err := repacking.Sample(repacking.SampleOptions{Nodes: 20_000, Ratio: 5, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if !rules {
		return made{"paper-20000-base", in}
	}
	post := func(name string, continuous bool, values map[string]any) {
		k, err := rule.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := k.New(rule.Args{Instance: in, Continuous: continuous, Values: values})
		if err != nil {
			t.Fatal(err)
		}
		in.Rules = append(in.Rules, repack.Posted{Rule: r})
	}
	for _, tier := range repacking.Tiers(in) {
		post("spread", true, map[string]any{"vms": tier})
	}
	racks := map[int][]int{}
	for n := range in.Nodes {
		racks[in.Nodes[n].Rack] = append(racks[in.Nodes[n].Rack], n)
	}
	for rack := range len(racks) {
		post("capacity", false, map[string]any{"nodes": racks[rack], "max": int64(300)})
	}
	all := make([]int, len(in.VMs))
	for vm := range all {
		all[vm] = vm
	}
	for n := range len(in.Nodes) / 200 { // any nodes will do
		post("ban", false, map[string]any{"vms": all, "nodes": []int{200 * n}})
	}
	return made{"paper-20000-sc", in}
}
