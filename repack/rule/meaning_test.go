package rule_test

import (
	"fmt"
	"strings"
	"testing"

	"vjob/repack"
	"vjob/repack/rule"
)

type values = map[string]any

// What each rule means, by small plans. A breach is "text" at the end, "text @3" from
// the instant 3 on, "text x3" if it stands for three.
var meanings = []struct {
	name       string
	rule       string
	continuous bool
	values     values
	vms        string
	plan       string
	want       string // one breach a line
}{
	{"apart", "spread", true, values{"vms": []int{0, 1}}, "0 1", "", ""},
	{"together from the start", "spread", true, values{"vms": []int{0, 1, 2}}, "0 0 0", "", "VM 0 and VM 1 end on node 0\nVM 0 and VM 2 end on node 0"},
	{"together and parted", "spread", true, values{"vms": []int{0, 1}}, "0 0", "migrate 1 0>1 0-5", ""},
	{"an outsider", "spread", true, values{"vms": []int{0, 1}}, "0 1 2", "migrate 2 2>0 0-5", ""},
	{"changing places", "spread", true, values{"vms": []int{0, 1}}, "0 1", "migrate 0 0>1 0-5\nmigrate 1 1>0 0-5", "VM 1 comes to node 0, where VM 0 is @0\nVM 0 comes to node 1, where VM 1 is @0"},
	{"changing places, at the end only", "spread", false, values{"vms": []int{0, 1}}, "0 1", "migrate 0 0>1 0-5\nmigrate 1 1>0 0-5", ""},
	{"following", "spread", true, values{"vms": []int{0, 1}}, "0 1", "migrate 0 0>2 0-5\nmigrate 1 1>0 5-9", ""},
	{"following too early", "spread", true, values{"vms": []int{0, 1}}, "0 1", "migrate 0 0>2 0-5\nmigrate 1 1>0 4-9", "VM 1 comes to node 0, where VM 0 is @4"},
	{"one that does not run", "spread", true, values{"vms": []int{0, 1}}, "0 z0z", "", ""},
	{"coming to one that stays", "spread", true, values{"vms": []int{0, 1}}, "0 1", "migrate 1 1>0 3-5", "VM 0 and VM 1 end on node 0"},

	{"gathered", "gather", true, values{"vms": []int{0, 1}}, "0 0", "", ""},
	{"scattered", "gather", true, values{"vms": []int{0, 1, 2}}, "0 1 1", "", "VM 0 ends on node 0, away from the others"},
	{"gathers", "gather", true, values{"vms": []int{0, 1, 2}}, "0 1 2", "migrate 0 0>1 0-5\nmigrate 2 2>1 1-6", ""},
	{"gathers at two places at first", "gather", true, values{"vms": []int{0, 1}}, "0 1", "migrate 0 0>2 0-5\nmigrate 1 1>3 0-5\nmigrate 1 3>2 5-6", "VM 1 comes to node 3 while VM 0 is on node 2 @0\nVM 1 comes to node 2 while VM 1 is on node 3 @5"},
	{"moves together", "gather", true, values{"vms": []int{0, 1}}, "0 0", "migrate 0 0>1 0-5\nmigrate 1 0>1 0-5", "VM 0 comes to node 1 while VM 0 is on node 0 @0\nVM 1 comes to node 1 while VM 0 is on node 0 @0"},
	{"moves together, at the end only", "gather", false, values{"vms": []int{0, 1}}, "0 0", "migrate 0 0>1 0-5\nmigrate 1 0>1 0-5", ""},

	{"alone", "lonely", true, values{"vms": []int{0, 1}}, "0 0 1", "", ""},
	{"not alone", "lonely", true, values{"vms": []int{0}}, "0 0 0 1", "", "VM 1 ends on node 0 with VM 0\nVM 2 ends on node 0 with VM 0"},
	{"left alone", "lonely", true, values{"vms": []int{0}}, "0 0", "migrate 1 0>1 0-5", ""},
	{"passed by", "lonely", true, values{"vms": []int{0}}, "0 1", "migrate 1 1>0 0-5\nmigrate 1 0>2 5-9", "VM 1 comes to node 0, where VM 0 is @0"},
	{"passes by", "lonely", true, values{"vms": []int{0}}, "0 1", "migrate 0 0>1 0-5\nmigrate 0 1>0 5-9", "VM 0 comes to node 1, where VM 1 is @0"},

	{"few", "capacity", true, values{"nodes": []int{0, 1}, "max": int64(2)}, "0 1 2", "", ""},
	{"many", "capacity", true, values{"nodes": []int{0, 1}, "max": int64(1)}, "0 1 0 2", "", "3 VMs end there x2"},
	{"many at first", "runningCapacity", true, values{"nodes": []int{0}, "max": int64(1)}, "0 0", "migrate 1 0>1 0-5", ""},
	{"one more in passing", "capacity", true, values{"nodes": []int{0}, "max": int64(1)}, "0 1", "migrate 1 1>0 0-5\nmigrate 0 0>1 2-6", "2 VMs are there @0"},
	{"moving inside", "capacity", true, values{"nodes": []int{0, 1}, "max": int64(1)}, "0", "migrate 0 0>1 0-5", ""},
	{"more than it came down to", "capacity", true, values{"nodes": []int{0}, "max": int64(1)}, "0 0 0 1", "migrate 0 0>1 0-2\nmigrate 3 1>0 3-4\nmigrate 1 0>2 4-6\nmigrate 2 0>2 4-6", "3 VMs are there @3"},

	{"banned", "ban", true, values{"vms": []int{0, 1}, "nodes": []int{1, 2}}, "0 1 2", "", "VM 1 ends on node 1"},
	{"banned at first", "ban", true, values{"vms": []int{0}, "nodes": []int{1}}, "1", "migrate 0 1>0 0-5", ""},
	{"banned in passing", "ban", true, values{"vms": []int{0}, "nodes": []int{1}}, "0", "migrate 0 0>1 0-5\nmigrate 0 1>2 5-9", "VM 0 is on node 1 @0"},
	{"banned at the end only", "ban", false, values{"vms": []int{0}, "nodes": []int{1}}, "0", "migrate 0 0>1 0-5\nmigrate 0 1>2 5-9", ""},
	{"fenced", "fence", true, values{"vms": []int{0, 1}, "nodes": []int{0}}, "0 1 2", "", "VM 1 ends on node 1"},
	{"fenced in passing", "fence", true, values{"vms": []int{0}, "nodes": []int{0}}, "0", "migrate 0 0>1 0-5\nmigrate 0 1>0 5-9", "VM 0 is on node 1 @0"},

	{"stays", "root", false, values{"vms": []int{0}}, "0 1", "migrate 1 1>0 0-5", ""},
	{"moves", "root", false, values{"vms": []int{0}}, "0", "migrate 0 0>1 2-5\nmigrate 0 1>2 5-9", "VM 0 migrates @2"},
	{"sleeps and wakes elsewhere", "root", false, values{"vms": []int{0}}, "0", "suspend 0 0> 0-1\nresume 0 0>1 1-2", ""},

	{"inside a group", "among", true, values{"vms": []int{0, 1}, "groups": [][]int{{0, 1}, {2, 3}}}, "0 1", "migrate 0 0>1 0-5", ""},
	{"in two groups", "among", true, values{"vms": []int{0, 1, 2}, "groups": [][]int{{0, 1}, {2, 3}}}, "0 1 2", "", "VM 2 ends on node 2, away from the others"},
	{"in no group", "among", true, values{"vms": []int{0}, "groups": [][]int{{0}, {2, 3}}}, "1", "", "VM 0 ends on node 1, away from the others"},
	{"to another group", "among", true, values{"vms": []int{0}, "groups": [][]int{{0}, {2, 3}}}, "0", "migrate 0 0>2 1-5", "VM 0 comes to node 2 while VM 0 is on node 0 @1"},
	{"by a node in no group", "among", true, values{"vms": []int{0}, "groups": [][]int{{0}, {2, 3}}}, "0", "migrate 0 0>1 1-5\nmigrate 0 1>0 5-9", "VM 0 is on node 1, which is in no group @1\nVM 0 comes to node 0 while VM 0 is on node 1 @5"},

	{"split", "split", true, values{"sets": [][]int{{0, 1}, {2, 3}}}, "0 0 1 1", "", ""},
	{"not split", "split", true, values{"sets": [][]int{{0, 1}, {2}, {3}}}, "0 0 0 0", "", "VM 2 of set 2 and VM 0 of another end on node 0\nVM 3 of set 3 and VM 0 of another end on node 0"},
	{"met", "split", true, values{"sets": [][]int{{0}, {1}}}, "0 1 1", "migrate 0 0>1 0-5\nmigrate 1 1>2 3-5", "VM 0 comes to node 1, where VM 1 is @0"},

	{"split among", "splitAmong", true, values{"sets": [][]int{{0, 1}, {2}}, "groups": [][]int{{0, 1}, {2, 3}}}, "0 1 2", "", ""},
	{"one group for two", "splitAmong", true, values{"sets": [][]int{{0, 1}, {2}}, "groups": [][]int{{0, 1}, {2, 3}}}, "0 1 1", "", "VM 2 of set 2 and VM 0 of another end on group 1"},
	{"two groups for one", "splitAmong", false, values{"sets": [][]int{{0, 1}, {2}}, "groups": [][]int{{0}, {1}, {2}}}, "0 1 2", "", "VM 1 ends on node 1, away from the others"},
	{"the group of another in passing", "splitAmong", true, values{"sets": [][]int{{0}, {1}}, "groups": [][]int{{0, 1}, {2, 3}}}, "0 2", "migrate 1 2>1 0-5\nmigrate 1 1>2 5-9", "VM 1 comes to node 1 while VM 1 is on node 2 @0\nVM 1 comes to node 2 while VM 1 is on node 1 @5\nVM 1 comes to node 1 while VM 0 is on node 0 @0"},

	{"on two nodes", "mostlySpread", false, values{"vms": []int{0, 1, 2}, "min": int64(2)}, "0 1 1", "", ""},
	{"on one node", "mostlySpread", false, values{"vms": []int{0, 1, 2}, "min": int64(3)}, "0 0 0", "", "3 VMs end on 1 nodes x2"},
	{"fewer than nodes", "mostlySpread", false, values{"vms": []int{0, 1}, "min": int64(3)}, "0 1z", "suspend 1 1> 0-1", ""},

	{"enough", "resourceCapacity", true, values{"nodes": []int{0, 1}, "resource": "cpu", "amount": int64(20)}, "0 1 2", "", ""},
	{"too much", "resourceCapacity", true, values{"nodes": []int{0, 1}, "resource": "cpu", "amount": int64(15)}, "0 1 2", "", "20 is used at the end x5"},
	{"both ends count", "resourceCapacity", true, values{"nodes": []int{0, 1}, "resource": "cpu", "amount": int64(15)}, "0 2", "migrate 0 0>1 1-5", "20 is used @1"},
	{"both ends, at the end only", "resourceCapacity", false, values{"nodes": []int{0, 1}, "resource": "cpu", "amount": int64(15)}, "0 2", "migrate 0 0>1 1-5", ""},
	{"too much at first", "resourceCapacity", true, values{"nodes": []int{0}, "resource": "cpu", "amount": int64(10)}, "0 0", "migrate 0 0>1 1-5", ""},

	{"given", "preserve", false, values{"vms": []int{0}, "resource": "cpu", "amount": int64(10)}, "0", "", ""},
	{"not given", "preserve", false, values{"vms": []int{0}, "resource": "cpu", "amount": int64(20)}, "0", "", "VM 0 ends with 10"},
	{"overbooked", "overbook", false, values{"nodes": []int{0, 1}, "resource": "cpu", "ratio": 0.1}, "0 1", "", ""},
	{"overbooked too much", "overbook", false, values{"nodes": []int{0, 1}, "resource": "cpu", "ratio": 0.15}, "0 0 1", "", "20 of 15 is used on node 0"},
	{"overbooked in passing", "overbook", false, values{"nodes": []int{0}, "resource": "cpu", "ratio": 0.15}, "0 1", "migrate 1 1>0 1-5\nmigrate 0 0>1 2-5", "20 of 15 is used on node 0 @1"},

	{"shut", "quarantine", false, values{"nodes": []int{0}}, "0 0! 1", "shutdown 1 0> 0-2", ""},
	{"left and entered", "quarantine", false, values{"nodes": []int{0, 1}}, "0 1 2 -", "migrate 0 0>1 1-5\nmigrate 2 2>0 2-5\nboot 3 >3 0-1", "VM 0 leaves node 0 @1\nVM 2 comes to node 0 @2"},
	{"left asleep", "quarantine", false, values{"nodes": []int{0}}, "0", "suspend 0 0> 0-1\nresume 0 0>1 1-2", "VM 0 leaves node 0 @1"},
	{"woken there", "quarantine", false, values{"nodes": []int{0}}, "0", "suspend 0 0> 0-1\nresume 0 0>0 1-2", ""},

	{"on", "online", false, values{"nodes": []int{0, 1}}, "", "node_off 1 0-1", "node 1 ends offline"},
	{"off", "offline", false, values{"nodes": []int{0, 1}}, "", "node_off 1 0-1", "node 0 ends online"},
	{"not too many on", "maxOnline", true, values{"nodes": []int{0, 1, 2}, "max": int64(2)}, "", "node_off 1 0-1", ""},
	{"too many on", "maxOnline", true, values{"nodes": []int{0, 1, 2, 3}, "max": int64(1)}, "", "node_off 1 0-1", "3 end online x2"},

	{"runs", "running", false, values{"vms": []int{0, 1}}, "0 -", "", "VM 1 ends ready"},
	{"is ready", "ready", false, values{"vms": []int{0, 1}}, "0 -", "", "VM 0 ends running"},
	{"sleeps", "sleeping", false, values{"vms": []int{0, 1}}, "0 z1z", "", "VM 0 ends running"},
	{"is killed", "killed", false, values{"vms": []int{0}}, "0", "", "VM 0 ends running"},

	{"in order", "seq", false, values{"vms": []int{1, 0, 2}}, "- 0! z1", "shutdown 1 0> 0-2\nboot 0 >0 2-3\nresume 2 1>1 3-9", ""},
	{"out of order", "seq", false, values{"vms": []int{1, 0, 2}}, "- 0! z1", "shutdown 1 0> 0-2\nboot 0 >0 1-3\nresume 2 1>1 1-9", "boot of VM 0 starts before that of VM 1 has ended @1\nresume of VM 2 starts before that of VM 0 has ended @1"},
	{"migrations have no order", "seq", false, values{"vms": []int{0, 1}}, "- 0", "migrate 1 0>1 0-5\nboot 0 >0 2-3", ""},

	{"starting together", "sync", false, values{"vms": []int{0, 1, 2}}, "0 1 2", "migrate 0 0>3 1-5\nmigrate 1 1>3 1-6", ""},
	{"starting apart", "sync", false, values{"vms": []int{0, 1}}, "0 1", "migrate 0 0>3 1-5\nmigrate 1 1>3 2-5", "VM 1 starts to migrate at 2, VM 0 at 1 @2"},
	{"ending together", "syncEnd", false, values{"vms": []int{0, 1}}, "0 1", "migrate 0 0>3 1-5\nmigrate 1 1>3 2-5", ""},
	{"ending apart", "syncEnd", false, values{"vms": []int{0, 1}}, "0 1", "migrate 0 0>3 1-5\nmigrate 1 1>3 1-6", "VM 1 ends to migrate at 6, VM 0 at 5 @6"},

	{"at once", "noDelay", false, values{"vms": []int{0, 1, 2}}, "0 - 1", "migrate 0 0>1 0-5\nmigrate 0 1>2 7-9\nboot 1 >0 1-2", "boot of VM 1 waits @1"},
	{"in time", "deadline", false, values{"vms": []int{0, 1}, "at": repack.Ticks(5)}, "0 -", "migrate 0 0>1 0-5\nboot 1 >0 5-6", "boot of VM 1 ends at 6 @5"},

	{"one before the other", "precedence", false, values{"first": 0, "then": 1}, "0 1", "migrate 0 0>2 0-5\nmigrate 1 1>2 5-6", ""},
	{"the other before the one", "precedence", false, values{"first": 0, "then": 1}, "0 1", "migrate 0 0>2 1-5\nmigrate 1 1>2 4-6", "VM 1 starts to migrate before VM 0 has done @4"},
	{"only one of two", "precedence", false, values{"first": 0, "then": 1}, "0 1", "migrate 1 1>2 5-6", ""},

	{"in turn", "serialize", false, values{"vms": []int{0, 1}}, "0 1 2", "migrate 0 0>2 0-5\nmigrate 1 1>2 5-6\nmigrate 2 2>0 0-9", ""},
	{"at one time", "serialize", false, values{"vms": []int{0, 1, 2}}, "0 1 2", "migrate 0 0>2 0-5\nmigrate 1 1>2 1-2\nmigrate 2 2>0 4-9", "VM 0 and VM 1 migrate together @1\nVM 0 and VM 2 migrate together @4"},
}

func TestMeaning(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range meanings {
		t.Run(c.rule+": "+c.name, func(t *testing.T) {
			in := instanceOf(4, c.vms)
			r := made(t, in, c.rule, c.continuous, c.values)
			line, faults := repack.Trace(in, plan(t, c.plan))
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			if got := words(r.Check(line)); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
		tested[c.rule] = true
	}
	for _, k := range rule.Catalogue() {
		if !tested[k.Name] {
			t.Errorf("no case of %s", k.Name)
		}
	}
}

func words(list []repack.Breach) string {
	var lines []string
	for _, b := range list {
		text := b.Text
		if b.At < repack.Forever {
			text += fmt.Sprintf(" @%d", b.At)
		}
		if b.More > 0 {
			text += fmt.Sprintf(" x%d", b.More+1)
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "\n")
}

// A node that comes on counts from when that starts, one that goes off until it has.
func TestMaxOnlineInPassing(t *testing.T) {
	in := instanceOf(2, "")
	in.Nodes[1].State, in.Nodes[1].Want, in.Nodes[0].Want = repack.Offline, repack.AnyState, repack.AnyState
	for text, want := range map[string]string{
		"node_on 1 5-6\nnode_off 0 4-5": "",
		"node_on 1 5-6\nnode_off 0 5-6": "2 are online @5",
	} {
		line, _ := repack.Trace(in, plan(t, text))
		r := made(t, in, "maxOnline", true, values{"nodes": []int{0, 1}, "max": int64(1)})
		if got := words(r.Check(line)); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// Growth counts as arrivals do.
func TestResourceCapacityOfGrowth(t *testing.T) {
	in := instanceOf(2, "0 0")
	in.VMs[0].Next = []int64{30}
	r := made(t, in, "resourceCapacity", true, values{"nodes": []int{0}, "resource": "cpu", "amount": int64(35)})
	for text, want := range map[string]string{
		"migrate 1 0>1 0-4":                 "",
		"migrate 1 0>1 0-4\nallocate 0 3-3": "40 is used @3",
		"migrate 1 0>1 0-4\nallocate 0 4-4": "",
		"allocate 0 4-4":                    "40 is used at the end x5",
	} {
		line, _ := repack.Trace(in, plan(t, text))
		if got := words(r.Check(line)); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
