package schedule

import (
	"cmp"
	"slices"
)

// ends is a heap of running tasks, the next to end first.
type ends struct {
	list  *[]task
	order []int
}

func (e *ends) Len() int { return len(e.order) }

func (e *ends) Less(i, j int) bool {
	a, b := e.order[i], e.order[j]
	return cmp.Or(cmp.Compare((*e.list)[a].end, (*e.list)[b].end), cmp.Compare(a, b)) < 0
}
func (e *ends) Swap(i, j int) { e.order[i], e.order[j] = e.order[j], e.order[i] }
func (e *ends) Push(x any)    { e.order = append(e.order, x.(int)) }

func (e *ends) Pop() any {
	last := len(e.order) - 1
	x := e.order[last]
	e.order = e.order[:last]
	return x
}

// holds reports whether a task that ends in this instant has not ended yet.
func (e *ends) holds(i int) bool { return slices.Contains(e.order, i) }
