package simclock

import "time"

// timer is a function to call at an instant.
type timer struct {
	at     time.Time
	serial int
	life   int
	do     func()
}

// timers is a heap of entries in order of time, then of creation.
type timers []timer

func (a timers) Len() int      { return len(a) }
func (a timers) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a timers) Less(i, j int) bool {
	if !a[i].at.Equal(a[j].at) {
		return a[i].at.Before(a[j].at)
	}
	return a[i].serial < a[j].serial
}
func (a *timers) Push(x any) { *a = append(*a, x.(timer)) }
func (a *timers) Pop() any {
	old := *a
	last := old[len(old)-1]
	*a = old[:len(old)-1]
	return last
}
