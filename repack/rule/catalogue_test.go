package rule_test

import (
	"slices"
	"strings"
	"testing"

	"vjob/repack"
	"vjob/repack/rule"
)

func TestCatalogue(t *testing.T) {
	list := rule.Catalogue()
	if len(list) < 27 || !slices.IsSortedFunc(list, func(a, b rule.Kind) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("%d rules", len(list))
	}
	for i, k := range list {
		if k.Doc == "" || k.Modes == 0 || len(k.Params) == 0 {
			t.Errorf("%s is incomplete", k.Name)
		}
		if i > 0 && list[i-1].Name == k.Name {
			t.Errorf("two rules %s", k.Name)
		}
	}
	if _, err := rule.Find("spraed"); err == nil || !strings.HasPrefix(err.Error(), `there is no rule "spraed"; the rules are among, ban, `) {
		t.Errorf("%v", err)
	}
}

func TestArguments(t *testing.T) {
	in := instanceOf(4, "0 1 2")
	for _, c := range []struct {
		rule       string
		continuous bool
		values     values
		want       string
	}{
		{"spread", false, values{}, "spread needs vms: a set of VMs"},
		{"spread", false, values{"vms": []int{}}, "spread: vms: names no VM"},
		{"spread", false, values{"vms": []int{0, 3}}, "spread: vms: there is no VM 3: the last is 2"},
		{"spread", false, values{"vms": []int{1, 1}}, "spread: vms: names VM 1 twice"},
		{"spread", false, values{"vms": []int{1}, "max": int64(1)}, `spread does not take "max"`},
		{"mostlySpread", true, values{"vms": []int{1}, "min": int64(1)}, "mostlySpread holds at the end only: it cannot be continuous"},
		{"capacity", false, values{"nodes": []int{4}, "max": int64(1)}, "capacity: nodes: there is no node 4: the last is 3"},
		{"capacity", false, values{"nodes": []int{1}, "max": int64(-1)}, "capacity: max: -1 is not a number from 0 on"},
		{"overbook", false, values{"nodes": []int{1}, "resource": "cpu", "ratio": 0.0}, "overbook: ratio: 0 is not a number above 0"},
		{"overbook", false, values{"nodes": []int{1}, "resource": "gpu", "ratio": 1.0}, `overbook: resource: there is no resource "gpu"; the resources are cpu`},
		{"deadline", false, values{"vms": []int{1}, "at": repack.Ticks(-1)}, "deadline: at: -1 is not a time from 0 on"},
		{"precedence", false, values{"first": 0, "then": -1}, "precedence: then: there is no VM -1: the last is 2"},
		{"split", false, values{"sets": [][]int{}}, "split: sets: names no sets"},
		{"split", false, values{"sets": [][]int{{0}, {}}}, "split: sets: names no VM"},
		{"split", false, values{"sets": [][]int{{0, 1}, {1}}}, "split: sets: the sets overlap: names VM 1 twice"},
		{"among", false, values{"vms": []int{0}, "groups": [][]int{{0}, {9}}}, "among: groups: there is no node 9: the last is 3"},
	} {
		k, err := rule.Find(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.New(rule.Args{Instance: in, Continuous: c.continuous, Values: c.values}); err == nil || err.Error() != c.want {
			t.Errorf("%s %v: got %v, want %s", c.rule, c.values, err, c.want)
		}
	}
}

func TestTexts(t *testing.T) {
	in := instanceOf(9, "0 1 2")
	in.VMs[0].Name, in.Nodes[1].Name = "a", "n1"
	for want, r := range map[string]repack.Rule{
		"ban({VM a, VM 1}, {node n1})":                                         made(t, in, "ban", false, values{"vms": []int{0, 1}, "nodes": []int{1}}),
		"capacity({node 0, node n1}, 3)":                                       made(t, in, "capacity", false, values{"nodes": []int{0, 1}, "max": int64(3)}),
		"splitAmong({{VM a}, {VM 1}}, {{node 2}})":                             made(t, in, "splitAmong", false, values{"sets": [][]int{{0}, {1}}, "groups": [][]int{{2}}}),
		"overbook({node 0}, cpu, 1.5)":                                         made(t, in, "overbook", false, values{"nodes": []int{0}, "resource": "cpu", "ratio": 1.5}),
		"precedence(VM a, VM 1)":                                               made(t, in, "precedence", false, values{"first": 0, "then": 1}),
		"deadline({VM a}, 9)":                                                  made(t, in, "deadline", false, values{"vms": []int{0}, "at": repack.Ticks(9)}),
		"offline({node 0, node n1, node 2, node 3, node 4, node 5, … 3 more})": made(t, in, "offline", false, values{"nodes": numbers(9)}),
	} {
		if got := r.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
