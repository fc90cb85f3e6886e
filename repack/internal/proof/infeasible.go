package proof

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"vjob/repack"
	"vjob/repack/internal/problem"
)

// Infeasible returns in words why no plan exists; nil if that is not proved. It tests every VM
// alone, then all VMs against the capacity, then sets of VMs that rules hold together or
// apart.
func Infeasible(m *problem.Problem) (why []string) {
	for _, test := range []func(*problem.Problem) []string{vmsWithoutNode, pinnedOverload, shortOfCapacity, shortOfNodes, shortOfQuota, tooManyOn, stranded} {
		if why = test(m); len(why) > 0 {
			return why
		}
	}
	return nil
}

// vmsWithoutNode reports VMs that have no node left.
func vmsWithoutNode(m *problem.Problem) (why []string) {
	for _, vm := range m.Wanted {
		if h := m.Home[vm]; h != repack.Nowhere && m.Allows(vm, h) && large(m, vm, h) ||
			slices.ContainsFunc(m.OpenNodes, func(n int) bool { return m.Allows(vm, n) && large(m, vm, n) }) {
			continue
		}
		allowed := 0
		for n := range m.In.Nodes {
			if m.Allows(vm, n) {
				allowed++
			}
		}
		text := fmt.Sprintf("%s (%s) can be on no node: ", m.In.VMName(vm), m.DemandText(vm))
		if allowed == 0 {
			text += "its rules and the states of the nodes leave none"
		} else {
			text += fmt.Sprintf("its rules and the states of the nodes leave %d, and none of those is large enough", allowed)
		}
		if why = append(why, text+hurry(m, vm)); len(why) == problem.MaxReasons {
			return why
		}
	}
	return why
}

// pinnedOverload reports nodes that lack capacity for the VMs that must not leave.
func pinnedOverload(m *problem.Problem) (why []string) {
	for _, n := range m.OpenNodes {
		for d := range m.Dims {
			var sum int64
			for _, vm := range m.Residents.At(n) {
				if m.Rooted[vm] && m.In.VMs[vm].State == repack.Running {
					sum += m.Next[vm*m.Dims+d]
				}
			}
			if room := m.Room[n*m.Dims+d]; sum > room && len(why) < problem.MaxReasons {
				why = append(why, fmt.Sprintf("%s has %d %s, and the VMs that must not leave it need %d", m.In.NodeName(n), room, m.In.Dims[d], sum))
			}
		}
	}
	return why
}

// large reports whether an empty node has room for a VM.
func large(m *problem.Problem, vm, n int) bool {
	for d := range m.Dims {
		if m.Next[vm*m.Dims+d] > m.Room[n*m.Dims+d] {
			return false
		}
	}
	return true
}

// shortOfCapacity compares the demand of all VMs with the capacity of the nodes that may host
// them. Of a node only the part counts that VMs can fill: if all demands are multiples of two,
// 200 of 201. VMs that are confined to the same nodes are compared with those nodes.
func shortOfCapacity(m *problem.Problem) []string {
	groups := map[*problem.NodeSet][]int{nil: m.Wanted}
	for _, vm := range m.Wanted {
		if s := m.Banned[vm]; s != nil {
			groups[s] = append(groups[s], vm)
		}
	}
	for _, not := range inOrder(groups) {
		for d := range m.Dims {
			if why := shortOf(m, d, groups[not], not); why != "" {
				return []string{why}
			}
		}
	}
	return nil
}

// inOrder returns the node sets that have VMs, sorted by number of VMs and then by first VM.
func inOrder(groups map[*problem.NodeSet][]int) (list []*problem.NodeSet) {
	for s, vms := range groups {
		if len(vms) > 0 {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *problem.NodeSet) int {
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

// shortOf reports what VMs lack of a resource on the nodes outside a set.
func shortOf(m *problem.Problem, d int, vms []int, not *problem.NodeSet) string {
	var sum, unit int64
	for _, vm := range vms {
		need := m.Next[vm*m.Dims+d]
		sum += need
		unit = new(big.Int).GCD(nil, nil, big.NewInt(unit), big.NewInt(need)).Int64()
	}
	if sum == 0 {
		return ""
	}
	var room, usable int64
	nodes := 0
	for _, n := range m.OpenNodes {
		if !not.Has(n) {
			room += m.Room[n*m.Dims+d]
			usable += m.Room[n*m.Dims+d] / unit * unit
			nodes++
		}
	}
	if sum <= usable {
		return ""
	}
	text := fmt.Sprintf("%d VMs need %d %s, and the capacity of the %s that may host them is %d: %d are missing",
		len(vms), sum, m.In.Dims[d], countNodes(nodes), room, sum-room)
	if sum <= room {
		text = fmt.Sprintf("%d VMs need %d %s, and of the %d of the %s only %d can be used, as all demands are multiples of %d: %d are missing",
			len(vms), sum, m.In.Dims[d], room, countNodes(nodes), usable, unit, sum-usable)
	}
	if nodes > 0 && room > 0 {
		text += fmt.Sprintf("; add %s, or let some VMs wait", countNodes(int((sum-usable+room/int64(nodes)-1)/(room/int64(nodes)))))
	}
	return text
}

func countNodes(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

// shortOfNodes tests whether VMs that must be apart have enough nodes.
func shortOfNodes(m *problem.Problem) []string {
	for _, r := range m.In.Rules {
		a, ok := r.Rule.(problem.Apart)
		if !ok || r.Penalty > 0 {
			continue
		}
		var vms []int
		for _, vm := range a.Apart() {
			if m.In.VMs[vm].Want == repack.Running {
				vms = append(vms, vm)
			}
		}
		nodes := 0
		for _, n := range m.OpenNodes {
			if nodes == len(vms) {
				break
			}
			if slices.ContainsFunc(vms, func(vm int) bool { return m.Allows(vm, n) && large(m, vm, n) }) {
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

// shortOfQuota adds up the quotas of disjoint sets of nodes.
func shortOfQuota(m *problem.Problem) []string {
	seen := make([]bool, len(m.In.Nodes))
	var sum int64
	var rules []string
	for _, r := range m.In.Rules {
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
	for _, n := range m.OpenNodes {
		if !seen[n] {
			return nil
		}
	}
	if int64(len(m.Wanted)) <= sum || len(rules) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d VMs are to run, and the rules leave room for %d: %s", len(m.Wanted), sum, list(rules))}
}

// list shows the first few of many words.
func list(words []string) string {
	if len(words) > problem.MaxReasons {
		return strings.Join(words[:problem.MaxReasons], "; ") + fmt.Sprintf(" and %d more", len(words)-problem.MaxReasons)
	}
	return strings.Join(words, "; ")
}

// tooManyOn tests whether enough nodes can go off: those that are not wanted on and keep no
// image.
func tooManyOn(m *problem.Problem) []string {
	for _, l := range m.Limits {
		wanted, images := 0, 0
		for _, n := range l.Nodes {
			switch {
			case m.In.Nodes[n].Want == repack.Online:
				wanted++
			case m.KeepsImage[n]:
				images++
			}
		}
		if wanted+images > l.Most {
			return []string{fmt.Sprintf("%s: %d of the nodes are to be online, and %d others keep VMs that are to sleep", l.Rule, wanted, images)}
		}
	}
	return nil
}

// stranded reports VMs that are to sleep on a node that goes off, or are wanted in a state
// that no action leads to.
func stranded(m *problem.Problem) (why []string) {
	for vm := range m.In.VMs {
		v, name := &m.In.VMs[vm], m.In.VMName(vm)
		switch {
		case len(why) == problem.MaxReasons:
			return why
		case v.Stays && v.State != v.Want:
			why = append(why, fmt.Sprintf("%s is %s and is to be %s, and to stay as it is", name, v.State, v.Want))
		case v.State != v.Want && v.State != repack.Running && (v.Want != repack.Running || v.State == repack.Killed):
			why = append(why, fmt.Sprintf("%s is %s and is to be %s: no action does that", name, v.State, v.Want))
		case v.Want == repack.Sleeping && m.In.Nodes[v.Host].Want == repack.Offline:
			why = append(why, fmt.Sprintf("%s is to sleep on %s, which is to go offline: resume it elsewhere first", name, m.In.NodeName(v.Host)))
		}
	}
	return why
}

// hurry says that a VM writes too fast for some of the links that it would cross.
func hurry(m *problem.Problem, vm int) string {
	v := &m.In.VMs[vm]
	if m.In.Network == nil || !v.Keeps() {
		return ""
	}
	for _, n := range m.OpenNodes {
		if n != v.Host && (m.NeverConverges(vm) || !m.Converges(vm, n)) {
			return fmt.Sprintf("; it writes %d per tick, and to get to %s would have to do so more slowly than the links send, which is %d, or sleep on its way",
				v.Dirty, m.In.NodeName(n), m.MaxRate(v.Host, n))
		}
	}
	return ""
}
