package solve

import (
	"cmp"
	"slices"

	"vjob/repack"
)

// dedicated is a rule that wants nodes for some VMs and no others. Which nodes is
// the choice that matters most; the guard sees only one VM at a time.
type dedicated interface{ Dedicated() []int }

// apart is a rule that lets no two of some VMs end on one node.
type apart interface{ Apart() []int }

// stake is what it costs to give a node to a clan or not to.
type stake struct {
	node    int
	in, out int64
}

// never is a cost that is not to be paid.
const never = 1 << 50

// clans are the sets of VMs that want nodes of their own, as far as they do not
// overlap.
func (m *model) clans() (list [][]int) {
	taken := map[int]bool{}
	for _, r := range m.in.Rules {
		d, ok := r.Rule.(dedicated)
		if !ok || r.Penalty > 0 || slices.ContainsFunc(d.Dedicated(), func(vm int) bool { return taken[vm] }) {
			continue
		}
		var hot []int
		for _, vm := range d.Dedicated() {
			taken[vm] = true
			if m.in.VMs[vm].Want == repack.Running {
				hot = append(hot, vm)
			}
		}
		list = append(list, hot)
	}
	return list
}

// dedicate gives each clan its nodes, those first where that costs least, until
// all its VMs have room there. It is called while nobody has a place.
func (s *state) dedicate() {
	clans := s.clans()
	if len(clans) == 0 {
		return
	}
	s.clan, s.owner = make([]int, len(s.in.VMs)), make([]int, len(s.in.Nodes))
	for i, vms := range clans {
		for _, vm := range vms {
			s.clan[vm] = i + 1
		}
	}
	for i, vms := range clans {
		stakes := s.stakes(vms)
		next := 0
		for ; next < len(stakes) && stakes[next].in < stakes[next].out; next++ {
			s.own(stakes[next].node, i+1)
		}
		for !s.hosts(vms) && next < len(stakes) && stakes[next].in < never {
			s.own(stakes[next].node, i+1)
			next++
		}
	}
}

// own gives a node to a clan, if it has none.
func (s *state) own(node, clan int) {
	if s.owner[node] == 0 {
		s.owner[node] = clan
	}
}

// stakes is what each node costs a clan, the best first.
func (m *model) stakes(vms []int) (list []stake) {
	mine := make([]bool, len(m.in.VMs))
	for _, vm := range vms {
		mine[vm] = true
	}
	for _, n := range m.order {
		if !slices.ContainsFunc(vms, func(vm int) bool { return m.allows(vm, n) }) {
			continue
		}
		k := stake{node: n}
		var members, others []int
		for _, vm := range m.wish[n] {
			leave := m.away(vm) - m.least[vm]
			if m.rooted[vm] && m.in.VMs[vm].State == repack.Running {
				leave = never
			}
			if mine[vm] {
				members = append(members, vm)
				k.out += leave
			} else {
				others = append(others, vm)
				k.in += leave
			}
		}
		k.in += m.excess(n, members)
		k.out += m.excess(n, others)
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b stake) int {
		return cmp.Or(cmp.Compare(a.in-a.out, b.in-b.out), cmp.Compare(a.node, b.node))
	})
	return list
}

// hosts reports whether the nodes of a clan have room for all its VMs.
func (s *state) hosts(vms []int) bool {
	s.note()
	defer func() {
		s.back(0)
		s.noted = false
	}()
	for _, vm := range vms {
		if h := s.home[vm]; h != repack.Nowhere && s.mayEnd(vm, h) && s.fits(vm, h) {
			s.move(vm, h)
		}
	}
	list := slices.DeleteFunc(slices.Clone(vms), func(vm int) bool { return s.at[vm] != repack.Nowhere })
	s.byBulk(list)
	return len(s.placeAll(list)) == 0
}
