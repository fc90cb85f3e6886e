package solve

import (
	"fmt"
	"slices"
	"strings"

	"vjob/repack"
)

// Infeasible is why there can be no plan whatever is searched, in words; none: that
// was not shown. Every VM is looked at alone, then all of them against the room
// that there is, then sets of them that rules hold together or apart.
func Infeasible(m *Problem) (why []string) {
	for _, test := range []func(*Problem) []string{vmsWithoutNode, pinnedOverload, shortOfCapacity, shortOfNodes, shortOfQuota, tooManyOn, stranded} {
		if why = test(m); len(why) > 0 {
			return why
		}
	}
	return nil
}

// vmsWithoutNode are the VMs for which no node is left.
func vmsWithoutNode(m *Problem) (why []string) {
	for _, vm := range m.wanted {
		if h := m.home[vm]; h != repack.Nowhere && m.allows(vm, h) && large(m, vm, h) ||
			slices.ContainsFunc(m.openNodes, func(n int) bool { return m.allows(vm, n) && large(m, vm, n) }) {
			continue
		}
		allowed := 0
		for n := range m.in.Nodes {
			if m.allows(vm, n) {
				allowed++
			}
		}
		text := fmt.Sprintf("%s (%s) can be on no node: ", m.in.VMName(vm), m.demandText(vm))
		if allowed == 0 {
			text += "its rules and the states of the nodes leave none"
		} else {
			text += fmt.Sprintf("its rules and the states of the nodes leave %d, and none of those is large enough", allowed)
		}
		if why = append(why, text+hurry(m, vm)); len(why) == MaxReasons {
			return why
		}
	}
	return why
}

// pinnedOverload are the nodes on which those alone are too many that must not leave.
func pinnedOverload(m *Problem) (why []string) {
	for _, n := range m.openNodes {
		for d := range m.dims {
			var sum int64
			for _, vm := range m.residents[n] {
				if m.rooted[vm] && m.in.VMs[vm].State == repack.Running {
					sum += m.next[vm*m.dims+d]
				}
			}
			if room := m.room[n*m.dims+d]; sum > room && len(why) < MaxReasons {
				why = append(why, fmt.Sprintf("%s has %d %s, and the VMs that must not leave it need %d", m.in.NodeName(n), room, m.in.Dims[d], sum))
			}
		}
	}
	return why
}

// MaxReasons is how many reasons of one sort are worth reading.
const MaxReasons = 5

// large reports whether a node is large enough for a VM alone.
func large(m *Problem, vm, n int) bool {
	for d := range m.dims {
		if m.next[vm*m.dims+d] > m.room[n*m.dims+d] {
			return false
		}
	}
	return true
}

// shortOfCapacity compares what all VMs need with what the nodes have that may host
// them. Of a node only that part counts that VMs can fill: if all their demands
// are multiples of two, of 201 only 200. The same is asked of VMs that are
// confined to the same nodes.
func shortOfCapacity(m *Problem) []string {
	groups := map[*nodeSet][]int{nil: m.wanted}
	for _, vm := range m.wanted {
		if s := m.banned[vm]; s != nil {
			groups[s] = append(groups[s], vm)
		}
	}
	for _, not := range inOrder(groups) {
		for d := range m.dims {
			if why := shortOf(m, d, groups[not], not); why != "" {
				return []string{why}
			}
		}
	}
	return nil
}

// inOrder are the sets for which there are VMs, those for more of them first, and
// then by the first VM.
func inOrder(groups map[*nodeSet][]int) (list []*nodeSet) {
	for s, vms := range groups {
		if len(vms) > 0 {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *nodeSet) int {
		switch x, y := groups[a], groups[b]; {
		case len(x) != len(y):
			return len(y) - len(x)
		case x[0] != y[0]:
			return x[0] - y[0]
		case a == nil:
			return -1
		default:
			return 1
		}
	})
	return list
}

// shortOf is what VMs lack of a resource on the nodes that are not in the set.
func shortOf(m *Problem, d int, vms []int, not *nodeSet) string {
	var sum, unit int64
	for _, vm := range vms {
		need := m.next[vm*m.dims+d]
		sum += need
		unit = gcd(unit, need)
	}
	if sum == 0 {
		return ""
	}
	var room, usable int64
	nodes := 0
	for _, n := range m.openNodes {
		if !not.has(n) {
			room += m.room[n*m.dims+d]
			usable += m.room[n*m.dims+d] / unit * unit
			nodes++
		}
	}
	if sum <= usable {
		return ""
	}
	text := fmt.Sprintf("%d VMs need %d %s, and the %d nodes that may host them have %d: %d are missing",
		len(vms), sum, m.in.Dims[d], nodes, room, sum-room)
	if sum <= room {
		text = fmt.Sprintf("%d VMs need %d %s, and of the %d that the %d nodes have only %d can be used, as all demands are multiples of %d: %d are missing",
			len(vms), sum, m.in.Dims[d], room, nodes, usable, unit, sum-usable)
	}
	if nodes > 0 && room > 0 {
		text += fmt.Sprintf("; add %d nodes, or let some VMs wait", (sum-usable+room/int64(nodes)-1)/(room/int64(nodes)))
	}
	return text
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// shortOfNodes asks whether VMs that must be apart have as many nodes.
func shortOfNodes(m *Problem) []string {
	for _, r := range m.in.Rules {
		a, ok := r.Rule.(Apart)
		if !ok || r.Penalty > 0 {
			continue
		}
		var vms []int
		for _, vm := range a.Apart() {
			if m.in.VMs[vm].Want == repack.Running {
				vms = append(vms, vm)
			}
		}
		nodes := 0
		for _, n := range m.openNodes {
			if nodes == len(vms) {
				break // enough
			}
			if slices.ContainsFunc(vms, func(vm int) bool { return m.allows(vm, n) && large(m, vm, n) }) {
				nodes++
			}
		}
		if len(vms) > nodes {
			return []string{fmt.Sprintf("%s: %d VMs run, and only %d nodes may host any of them", r.Rule, len(vms), nodes)}
		}
	}
	return nil
}

// quota is a rule that limits how many VMs end on some nodes.
type quota interface {
	Quota() (nodes []int, most int64)
}

// shortOfQuota adds up the quotas of nodes that do not overlap.
func shortOfQuota(m *Problem) []string {
	seen := make([]bool, len(m.in.Nodes))
	var sum int64
	var rules []string
	for _, r := range m.in.Rules {
		q, ok := r.Rule.(quota)
		if !ok || r.Penalty > 0 {
			continue
		}
		nodes, most := q.Quota()
		if slices.ContainsFunc(nodes, func(n int) bool { return seen[n] }) {
			continue
		}
		for _, n := range nodes {
			seen[n] = true
		}
		sum += most
		rules = append(rules, r.String())
	}
	for _, n := range m.openNodes {
		if !seen[n] {
			return nil
		}
	}
	if int64(len(m.wanted)) <= sum || len(rules) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d VMs are to run, and the rules leave room for %d: %s", len(m.wanted), sum, list(rules))}
}

// list shows the first few of many.
func list(words []string) string {
	if len(words) > MaxReasons {
		return strings.Join(words[:MaxReasons], "; ") + fmt.Sprintf(" and %d more", len(words)-MaxReasons)
	}
	return strings.Join(words, "; ")
}

// tooManyOn asks whether nodes can go off of which only so many may be on: those may
// that are not wanted on and keep no image.
func tooManyOn(m *Problem) []string {
	for _, l := range m.limits {
		wanted, images := 0, 0
		for _, n := range l.nodes {
			switch {
			case m.in.Nodes[n].Want == repack.Online:
				wanted++
			case m.keepsImage[n]:
				images++
			}
		}
		if wanted+images > l.most {
			return []string{fmt.Sprintf("%s: %d of the nodes are to be online, and %d others keep VMs that are to sleep", l.rule, wanted, images)}
		}
	}
	return nil
}

// stranded are VMs that are to sleep on a node that goes off, or to become what no
// action makes of them.
func stranded(m *Problem) (why []string) {
	for vm := range m.in.VMs {
		v, name := &m.in.VMs[vm], m.in.VMName(vm)
		switch {
		case len(why) == MaxReasons:
			return why
		case v.Stays && v.State != v.Want:
			why = append(why, fmt.Sprintf("%s is %s and is to be %s, and to stay as it is", name, v.State, v.Want))
		case v.State != v.Want && v.State != repack.Running && (v.Want != repack.Running || v.State == repack.Killed):
			why = append(why, fmt.Sprintf("%s is %s and is to be %s: no action does that", name, v.State, v.Want))
		case v.Want == repack.Sleeping && m.in.Nodes[v.Host].Want == repack.Offline:
			why = append(why, fmt.Sprintf("%s is to sleep on %s, which is to go offline: resume it elsewhere first", name, m.in.NodeName(v.Host)))
		}
	}
	return why
}

// hurry says that a VM writes too fast for some of the links that it would cross.
func hurry(m *Problem, vm int) string {
	v := &m.in.VMs[vm]
	if m.in.Network == nil || !v.Keeps() {
		return ""
	}
	for _, n := range m.openNodes {
		if n != v.Host && (m.neverConverges(vm) || !m.converges(vm, n)) {
			return fmt.Sprintf("; it writes %d per tick, and to get to %s would have to do so more slowly than the links send, which is %d, or sleep on its way",
				v.Dirty, m.in.NodeName(n), m.maxRate(v.Host, n))
		}
	}
	return ""
}
