package rule

import (
	"cmp"
	"fmt"
	"slices"

	"vjob/repack"
)

// What follows is for checks; nothing of it is used to post a rule.

// visit is a VM on a node without interruption. The place is that node, or its group; VMs of
// one party may meet.
type visit struct {
	repack.Stay
	place, party int
}

// visits are those of one VM, its changes of demand left out.
func visits(t *repack.Timeline, vm, party int, place func(node int) int) (list []visit) {
	for _, s := range t.Stays[vm] {
		if last := len(list) - 1; last >= 0 && s.Inherited && list[last].Inherited {
			list[last].To = s.To
			continue
		}
		list = append(list, visit{s, place(s.Node), party})
	}
	return list
}

// itself is the place of rules on nodes.
func itself(node int) int { return node }

// ever reports whether both are there at the end. That is a breach of another kind.
func ever(x, y visit) bool { return x.To == repack.Forever && y.To == repack.Forever }

// meetings reports each arrival at a place where another party is.
func meetings(t *repack.Timeline, list []visit) (found []repack.Breach) {
	slices.SortStableFunc(list, func(a, b visit) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.From, b.From), cmp.Compare(early(a), early(b)))
	})
	first := 0
	for i, x := range list {
		if list[first].place != x.place {
			first = i
		}
		if x.Inherited || x.place == repack.Nowhere {
			continue
		}
		k := slices.IndexFunc(list[first:i], func(y visit) bool {
			return y.party != x.party && y.VM != x.VM && x.From < y.To && !ever(x, y)
		})
		if k >= 0 {
			found = append(found, meeting(t, x, list[first+k]))
		}
	}
	return found
}

// early sorts VMs that were there before the plan first.
func early(v visit) int {
	if v.Inherited {
		return 0
	}
	return 1
}

func meeting(t *repack.Timeline, x, y visit) repack.Breach {
	in := t.Instance
	text := fmt.Sprintf("%s comes to %s, where %s is", in.VMName(x.VM), in.NodeName(x.Node), in.VMName(y.VM))
	if x.Node != y.Node {
		text = fmt.Sprintf("%s comes to %s while %s is on %s", in.VMName(x.VM), in.NodeName(x.Node), in.VMName(y.VM), in.NodeName(y.Node))
	}
	return repack.Breach{Text: text, At: x.From}
}

// apart reports whether VMs run at several places before the plan begins, or at none.
func apart(t *repack.Timeline, vms []int, place func(node int) int) bool {
	first := repack.Nowhere
	for _, vm := range vms {
		v := &t.Instance.VMs[vm]
		if v.State != repack.Running {
			continue
		}
		p := place(v.Host)
		if p == repack.Nowhere || first != repack.Nowhere && p != first {
			return true
		}
		first = p
	}
	return false
}

// partings reports each arrival of a VM at another place than one where some of the VMs are,
// itself included. Where VMs ran at first counts only if they were together.
func partings(t *repack.Timeline, vms []int, place func(node int) int) (found []repack.Breach) {
	apart := apart(t, vms, place)
	list := slices.DeleteFunc(grouped(t, vms, 0, place), func(v visit) bool {
		vm := &t.Instance.VMs[v.VM]
		return apart && vm.State == repack.Running && vm.Host == v.Node
	})
	slices.SortStableFunc(list, func(a, b visit) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(early(a), early(b)))
	})
	for i, x := range list {
		if x.Inherited {
			continue
		}
		if x.place == repack.Nowhere {
			if x.To < repack.Forever {
				found = append(found, repack.Breach{
					Text: fmt.Sprintf("%s is on %s, which is in no group", t.Instance.VMName(x.VM), t.Instance.NodeName(x.Node)), At: x.From,
				})
			}
			continue
		}
		k := slices.IndexFunc(list[:i], func(y visit) bool { return y.place != x.place && x.From < y.To && !ever(x, y) })
		if k >= 0 {
			found = append(found, meeting(t, x, list[k]))
		}
	}
	return found
}

// change is a change of something that is counted over time.
type change struct {
	at repack.Ticks
	by int64
}

// high is an instant at which too much is counted.
type high struct {
	at   repack.Ticks
	load int64
}

// highs follows a count from what it was before the plan began to the end. It may
// be at most so much; if it is more at first, it may only come down. What is no
// more than at the end is left out: that is a breach of another kind.
func highs(start int64, steps []change, most int64) (list []high, end int64) {
	slices.SortFunc(steps, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	load, allowed := start, max(most, start)
	for i := 0; i < len(steps); {
		at := steps[i].at
		for ; i < len(steps) && steps[i].at == at; i++ {
			load += steps[i].by
		}
		if load > allowed {
			list = append(list, high{at, load})
		}
		allowed = max(most, min(allowed, load))
	}
	if load > most {
		list = slices.DeleteFunc(list, func(h high) bool { return h.load <= load })
	}
	return list, load
}

// demand is what VMs occupy in a dimension, over time.
type demand struct {
	start int64
	steps []change
}

// usage is the demand at each place. A VM is at places on both ends of its way.
func usage(t *repack.Timeline, d, places int, place func(node int) int) []demand {
	list := make([]demand, places)
	note := func(node int, at repack.Ticks, by int64) {
		if p := place(node); p != repack.Nowhere && at < repack.Forever {
			list[p].steps = append(list[p].steps, change{at, by})
		}
	}
	for vm, stays := range t.Stays {
		if v := &t.Instance.VMs[vm]; v.State == repack.Running && place(v.Host) != repack.Nowhere {
			list[place(v.Host)].start += v.Now[d]
			note(v.Host, 0, -v.Now[d])
		}
		for _, s := range stays {
			note(s.Node, s.From, s.Need[d])
			note(s.Node, s.To, -s.Need[d])
		}
	}
	return list
}

// tooMuch is the breach of a bound at the end, which stands for each one over it.
func tooMuch(end, most int64, text string) repack.Breach {
	return repack.Breach{Text: text, At: repack.Forever, More: int(end - most - 1)}
}
