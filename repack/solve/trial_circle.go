package solve

// circles number the sets of VMs that rules want to have nodes of their own: two VMs
// may share a node only if they are in the same one. 0 is of those that are in none.
// Guards know the same, but one by one, and may be many.
func circles(m *model) []int {
	of, known := make([]int, len(m.in.VMs)), map[[2]int]int{}
	for i, r := range m.in.Rules {
		d, ok := r.Rule.(dedicated)
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

// mixes reports whether a VM may share a node with those who are there, as far as
// that can be said without asking the rules.
func (t *Trial) mixes(vm, n int) bool {
	return len(t.here[n]) == 0 || t.circle[t.here[n][0]] == t.circle[vm]
}
