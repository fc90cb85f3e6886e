package format

import (
	"fmt"
	"slices"
	"strings"

	"vjob/repack/rule"
)

// orders are the rules that order VMs: no plan has a cycle in one. A cycle of VMs that never
// act would do no harm, but is a mistake.
var orders = []string{"precedence", "seq"}

// order looks for cycles in the hard rules that put VMs in an order.
func (m *maker) order(list []Constraint, at []posted) error {
	for _, name := range orders {
		next := map[int][]edge{}
		for i := range list {
			if list[i].Type == name && list[i].Penalty == 0 {
				addEdges(next, &list[i], i)
			}
		}
		if cycle := findCycle(next); cycle != nil {
			var words []string
			for _, e := range cycle {
				if e.vm >= 0 {
					words = append(words, m.in.VMName(e.vm))
				}
			}
			last := cycle[len(cycle)-1].by
			return &Error{
				File: m.file, Place: at[last].at, Path: fmt.Sprintf("constraints[%d]", last),
				Text: fmt.Sprintf("the order of the %s rules is a cycle: %s before %s", name, strings.Join(words, " before "), words[0]),
			}
		}
	}
	return nil
}

// edge leads to a VM that comes later, by a constraint.
type edge struct{ vm, by int }

// addEdges adds what a constraint wants: the VMs of its first argument before
// those of its second, or those of its only one in their order.
func addEdges(next map[int][]edge, c *Constraint, by int) {
	kind, err := rule.Find(c.Type)
	if err != nil {
		return
	}
	var groups [][]int
	for _, p := range kind.Params {
		switch v := c.Args[p.Name].(type) {
		case int:
			groups = append(groups, []int{v})
		case []int:
			groups = append(groups, v)
		}
	}
	if len(groups) == 1 {
		all := groups[0]
		groups = nil
		for _, vm := range all {
			groups = append(groups, []int{vm})
		}
	}
	for i := 1; i < len(groups); i++ {
		// A point between the two groups: from each to it, and from it to each.
		between := -1 - len(next)
		for _, a := range groups[i-1] {
			next[a] = append(next[a], edge{between, by})
		}
		for _, b := range groups[i] {
			next[between] = append(next[between], edge{b, by})
		}
	}
}

// findCycle returns a cycle, or nil: each edge leads from the VM of the one before, the first
// from the VM of the last.
func findCycle(next map[int][]edge) []edge {
	starts := make([]int, 0, len(next))
	for vm := range next {
		starts = append(starts, vm)
	}
	slices.Sort(starts)
	done := map[int]bool{}
	for _, vm := range starts {
		if cycle := walkFrom(next, edge{vm, 0}, done); cycle != nil {
			return cycle
		}
	}
	return nil
}

// walkFrom goes as deep as it can, without recursion: chains may be long.
func walkFrom(next map[int][]edge, start edge, done map[int]bool) []edge {
	path, tried, on := []edge{start}, []int{0}, map[int]int{start.vm: 0}
	for len(path) > 0 {
		top := len(path) - 1
		vm := path[top].vm
		if done[vm] || tried[top] == len(next[vm]) {
			done[vm] = true
			delete(on, vm)
			path, tried = path[:top], tried[:top]
			continue
		}
		e := next[vm][tried[top]]
		tried[top]++
		if from, ok := on[e.vm]; ok {
			cycle := slices.Clone(path[from:])
			cycle[0] = e // the edge that closes it
			return append(cycle[1:], cycle[0])
		}
		if !done[e.vm] {
			on[e.vm] = len(path)
			path, tried = append(path, e), append(tried, 0)
		}
	}
	return nil
}
