package admission_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/repack"
	"vjob/repack/admission"
	"vjob/repack/script"
)

// instance reads an instance: the capacities of nodes, and of each VM where it is and
// what it needs, such as "n0:3" for one that runs there, "z0:3" for an image, "-:3"
// for one that is nowhere, "p0:3" for one that stays. Two dimensions are "3/4".
func instance(t *testing.T, nodes, vms, rules string) *repack.Instance {
	t.Helper()
	amounts := func(word string) (list []int64) {
		for x := range strings.SplitSeq(word, "/") {
			var n int64
			if _, err := fmt.Sscan(x, &n); err != nil {
				t.Fatalf("%s: %v", word, err)
			}
			list = append(list, n)
		}
		return list
	}
	in := &repack.Instance{}
	for i, word := range strings.Fields(nodes) {
		in.Nodes = append(in.Nodes, repack.Node{Name: fmt.Sprintf("n%d", i), Capacity: amounts(word)})
	}
	in.Dims = []string{"cpu", "mem"}[:len(in.Nodes[0].Capacity)]
	for i, word := range strings.Fields(vms) {
		place, need, _ := strings.Cut(word, ":")
		v := repack.VM{
			Name: fmt.Sprintf("v%d", i), Want: repack.Running, Host: repack.Nowhere, Now: amounts(need), Next: amounts(need), Weight: 1,
			Takes: repack.Durations{Boot: 1, Shutdown: 1, Suspend: 2, ResumeLocal: 2, ResumeRemote: 4, Migrate: 3},
		}
		if place != "-" {
			v.State, v.Host = repack.Running, int(place[1]-'0')
			v.Stays = place[0] == 'p'
		}
		if place[0] == 'z' {
			v.State = repack.Sleeping
		}
		in.VMs = append(in.VMs, v)
	}
	program, err := script.Compile("rules", rules, script.OfInstance(in, time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if in.Rules, err = program.Rules(in); err != nil {
		t.Fatal(err)
	}
	return in
}

// What a test answers to one gang after the other, and where VMs are in the end. The members
// of a gang have the same letter.
func TestTake(t *testing.T) {
	for _, c := range []struct {
		name, nodes, vms, rules, gangs string
		effort                         int
		answers, at                    string
	}{
		{
			"running VMs stay, sleeping VMs are resumed where the image is, others go where they fit best",
			"4 9 3", "n0:2 z1:2 -:2", "", "abc", 0, "yes yes yes", "0 1 0",
		},
		{"all of a gang or no VM", "4 4", "-:3 -:3 -:2 -:1", "", "aabb", 0, "yes 1 cpu are missing", "0 1 - -"},
		{"the sum by dimension", "4/4 4/4", "-:4/1 -:4/1 -:1/7", "", "aab", 0, "yes 1 cpu and 1 mem are missing", "0 1 -"},
		{"what stays counts from the beginning", "4 4", "p0:3 -:4 -:2", "", "_ab", 0, "yes 1 cpu are missing", "0 1 -"},
		{
			"pieces are not put together without effort", "4 4", "n0:2 n1:2 -:4", "", "abc", -1,
			"yes yes the room left lies in pieces too small for VM v2", "0 1 -",
		},
		{"pieces are put together", "4 4", "n0:2 n1:2 -:4", "", "abc", 0, "yes yes yes", "1 1 0"},
		{
			"everything is packed anew where moving a few does not help", "6 6", "n0:3 n0:2 n1:2 n1:2 -:3", "", "abcde", 0,
			"yes yes yes yes yes", "0 1 1 1 0",
		},
		{
			"a ban in the way is named, and not one of a node closed to all", "2 4", "-:1 -:1", "ban(v0, n0); ban(v0, n1); ban(v1, n0);", "ab", 0,
			"ban({VM v0}, {node n1}) is in the way of VM v0 yes", "- 1",
		},
		{
			"a fence in the way is named", "4 4", "p0:3 -:2 -:2", "fence(v1, n0); ban(v1, n1);", "_ab", 0,
			"fence({VM v1}, {node n0}) is in the way of VM v1 yes", "0 - 1",
		},
		{
			"a quota in the way is named", "4 4", "-:1 -:1 -:1", "capacity({n0, n1}, 2);", "aab", 0,
			"yes capacity({node n0, node n1}, 2) is in the way of VM v2", "0 0 -",
		},
		{"fewer nodes than VMs that spread", "9 9", "-:1 -:1 -:1", "spread(v[0..2]);", "aaa", 0, "spread({VM v0, VM v1, VM v2}) is in the way of VM v2", "- - -"},
		{"gathered VMs look for room for all", "2 4", "-:2 -:2", "gather({v0, v1});", "aa", 0, "yes", "1 1"},
		{"for gathered VMs others move", "3 4", "n1:1 n0:1 -:2 -:2", "gather({v2, v3});", "abcc", 0, "yes yes yes", "0 0 1 1"},
		{"gathered VMs too large for a node", "3 3", "-:2 -:2", "gather({v0, v1});", "aa", 0, "gather({VM v0, VM v1}) is in the way of VM v0", "- -"},
		{"a gang that crosses a rack goes to another", "3 3 4 4", "n0:1 -:3 -:3", "among({v1, v2}, {{n0, n1}, {n2, n3}});", "abb", 0, "yes yes", "0 2 3"},
		{"VMs of their own kind on their own nodes", "4 4 4", "n0:1 -:2 -:2 -:2 -:1", "lonely({v1, v2, v3});", "abbbc", 0, "yes yes yes", "0 1 1 2 0"},
		{"others move for a VM that needs a node alone", "4 4", "n0:1 n1:1 -:2", "lonely({v2});", "abc", 0, "yes yes yes", "1 1 0"},
		{
			"no node is left for a VM that needs one alone", "4 4", "n0:3 n1:3 -:1", "lonely({v2});", "abc", 0,
			"yes yes lonely({VM v2}) is in the way of VM v2", "0 1 -",
		},
		{
			"a draining node keeps its own as a last resort", "5 4", "n0:2 n0:3 -:2 -:1",
			"soft(100000) ban({v0, v1}, n0); ban({v2, v3}, n0);", "abcd", 0, "yes yes yes 1 cpu are missing", "1 0 1 -",
		},
		{"soft rules steer", "4 9", "-:1 -:1", "soft(10) ban(v0, n0); soft(10) spread({v0, v1});", "ab", 0, "yes yes", "1 0"},
		{"soft rules are broken where nothing else is left", "4", "-:1 -:1", "soft(10) spread({v0, v1});", "ab", 0, "yes yes", "0 0"},
		{"demands and capacities are those of the rules", "4 4", "-:1 -:1", "overbook(n[0..1], cpu, 2); preserve(v0, cpu, 8); preserve(v1, cpu, 9);", "ab", 0, "yes 1 cpu are missing", "0 -"},
		{
			"the same question again has the same answer, from memory", "5 5 5", "-:3 -:3 -:3 -:3 -:3 -:3 -:1", "ban(v[0..2], n2); ban(v[3..5], n2);", "aaabbbc", 0,
			"ban({VM v0, VM v1, VM v2}, {node n2}) is in the way of VM v2 ban({VM v3, VM v4, VM v5}, {node n2}) is in the way of VM v5 yes",
			"- - - - - - 0",
		},
		{"a VM that must not run", "4", "-:1", "ready(v0);", "a", 0, "ready({VM v0}) is in the way of VM v0", "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := instance(t, c.nodes, c.vms, c.rules)
			test, err := admission.New(in, admission.Options{Effort: c.effort})
			if err != nil {
				t.Fatal(err)
			}
			var answers []string
			for letter := 'a'; strings.ContainsRune(c.gangs, letter); letter++ {
				var gang []int
				for vm, member := range c.gangs {
					if member == letter {
						gang = append(gang, vm)
					}
				}
				if ok, why := test.Take(gang); ok {
					answers = append(answers, "yes")
				} else {
					answers = append(answers, why.String())
				}
			}
			if got := strings.Join(answers, " "); got != c.answers {
				t.Errorf("answers %q, must be %q", got, c.answers)
			}
			var at []string
			for vm := range in.VMs {
				at = append(at, strings.ReplaceAll(fmt.Sprint(test.At(vm)), "-1", "-"))
			}
			if got := strings.Join(at, " "); got != c.at {
				t.Errorf("places %q, must be %q", got, c.at)
			}
		})
	}
}

// A test refuses an instance that contradicts itself.
func TestNewRefuses(t *testing.T) {
	in := instance(t, "4", "-:1", "")
	in.VMs[0].Next = nil
	if _, err := admission.New(in, admission.Options{}); err == nil || !strings.Contains(err.Error(), "VM v0") {
		t.Errorf("%v, must name VM v0", err)
	}
	in = instance(t, "4", "-:1", "ready(v0); running(v0);")
	if _, err := admission.New(in, admission.Options{}); err == nil || !strings.Contains(err.Error(), "contradict") {
		t.Errorf("%v, must name the contradiction", err)
	}
}
