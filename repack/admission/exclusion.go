package admission

import (
	"vjob/repack/internal/problem"
)

// exclusionClasses numbers the sets of VMs that need nodes of their own: two VMs may share a
// node only if they are in the same class. VMs without such a rule are in class 0. Guards know
// the same, but one by one, and may be many.
func exclusionClasses(m *problem.Problem) []int {
	of, known := make([]int, len(m.In.VMs)), map[[2]int]int{}
	for i, r := range m.In.Rules {
		d, ok := r.Rule.(problem.Dedicated)
		if !ok || r.Penalty > 0 {
			continue
		}
		for _, vm := range d.Dedicated() {
			key := [2]int{of[vm], i}
			if known[key] == 0 {
				known[key] = len(known) + 1
			}
			of[vm] = known[key]
		}
	}
	return of
}

// sameClass reports whether a VM may share a node with the VMs there, without asking rules.
func (t *search) sameClass(vm, n int) bool {
	return len(t.VMsOn.At(n)) == 0 || t.exclusionClass[t.VMsOn.At(n)[0]] == t.exclusionClass[vm]
}
