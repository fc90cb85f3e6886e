package solve

import (
	"slices"

	"vjob/repack"
)

// vain is a need, and how many VMs with at least that there is room for, rules aside.
// More of them need not look for places. It holds until somebody is taken.
type vain struct {
	need  []int64
	slots int // for so many there is room
	nodes int // on so many nodes is room for one
	tried int // for so many room was sought by moving others
}

// mostVain is how many needs are remembered.
const mostVain = 16

// despair remembers what VMs were short of that have found no places: what the one
// needed that failed, and what all of them need at least.
func (t *Trial) despair(vms []int, failed item) {
	least := slices.Clone(failed.need)
	for _, vm := range vms {
		for d := range least {
			least[d] = min(least[d], t.next[vm*t.dims+d])
		}
	}
	for _, need := range [][]int64{failed.need, least} {
		at := slices.IndexFunc(t.vain, func(v vain) bool { return slices.Equal(v.need, need) })
		if at < 0 && len(t.vain) < mostVain {
			at = len(t.vain)
			t.vain = append(t.vain, t.slots(need))
		}
		if at >= 0 {
			t.vain[at].tried = min(t.vain[at].tried, len(t.asking(vms, need)))
		}
	}
}

// slots counts the places for VMs with a need.
func (t *Trial) slots(need []int64) vain {
	v := vain{need: need, tried: len(t.in.VMs)}
	t.openings.each(need, func(n int) bool {
		most := int64(len(t.in.VMs))
		for d, x := range need {
			if x > 0 {
				most = min(most, (t.room[n*t.dims+d]-t.load[n*t.dims+d])/x)
			}
		}
		v.slots += int(most)
		v.nodes++
		return true
	})
	return v
}

// asking are those of the VMs that need at least so much, and have to go somewhere.
func (t *Trial) asking(vms []int, need []int64) (list []int) {
	for _, vm := range vms {
		if within(need, t.next[vm*t.dims:(vm+1)*t.dims]) && !t.mayRemain(vm) {
			list = append(list, vm)
		}
	}
	return list
}

// inVain reports whether it is known that there are not enough places for VMs.
func (t *Trial) inVain(vms []int) (why Refusal, known bool) {
	for i := range t.vain {
		v := &t.vain[i]
		list := t.asking(vms, v.need)
		if len(list) == 0 || t.effort > 0 && len(list) < v.tried {
			continue
		}
		if len(list) > v.slots {
			return Refusal{VM: list[v.slots], in: t.in}, true
		}
		for _, number := range t.ofVM[list[0]] {
			g := &t.guards[number]
			if _, ok := g.rule.(apart); ok && g.penalty == 0 {
				if members := t.members(list, number); len(members) > v.nodes {
					return Refusal{VM: members[v.nodes], Rule: g.rule, in: t.in}, true
				}
			}
		}
	}
	return Refusal{}, false
}

// mayRemain reports whether a VM runs on a node to which nobody comes any more.
func (t *Trial) mayRemain(vm int) bool {
	return t.in.VMs[vm].State == repack.Running && !t.openings.takes[t.home[vm]]
}
