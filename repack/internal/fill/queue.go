package fill

// follow computes the waits on nodes in the queue anew, and on nodes that items leave later or sooner then.
func (a *Annealing) follow() {
	for k := 0; k < len(a.queue) && k < farthest; k++ {
		a.queueOn(a.queue[k])
	}
}

// setDelay sets when an item comes to its node.
func (a *Annealing) setDelay(i int, delay int64) {
	if a.delay[i] == delay {
		return
	}
	a.log = append(a.log, change{i, Nowhere, a.delay[i]})
	a.delay[i] = delay
	if n := a.first[i]; n != Nowhere && n != a.at[i] {
		a.queue = append(a.queue, n)
	}
}

// queueOn lets items come to a node as soon as others have left enough room.
func (a *Annealing) queueOn(n int) {
	var buffers [2][24]int
	var room [8]int64
	comes, goes, free := buffers[0][:0], buffers[1][:0], append(room[:0], a.Room[n*a.Dims:(n+1)*a.Dims]...)
	for _, i := range a.on[n] {
		if a.first[i] == n {
			a.take(free, a.Need, i, 1)
		} else {
			comes = append(comes, i)
		}
	}
	var sum int64
	if len(comes) > 0 {
		for _, i := range a.Start.At(n) {
			if a.at[i] != n {
				goes = append(goes, i)
				a.take(free, a.Now, i, 1)
			}
		}
		sortBy(goes, func(i int) int64 { return a.delay[i] + a.Leave[i] })
		sortBy(comes, func(i int) int64 { return a.Key[i] })
		sum = a.comeAfter(n, comes, goes, free)
	}
	if before := a.late[n]; sum != before {
		a.log = append(a.log, change{Nowhere, n, before})
		a.late[n] = sum
		a.cost += sum - before
	}
}

// comeAfter lets items come after others, and returns the cost of their delays.
func (a *Annealing) comeAfter(n int, comes, goes []int, free []int64) (sum int64) {
	clock := a.Ready[n]
	for {
		rest := comes[:0]
		for _, i := range comes {
			if len(goes) > 0 && !a.fits(free, i) { // an overloaded node takes all in the end
				rest = append(rest, i)
				continue
			}
			a.take(free, a.Need, i, 1)
			a.setDelay(i, clock)
			sum += a.LateCost[i] * clock
		}
		if comes = rest; len(comes) == 0 {
			return sum
		}
		clock = max(clock, min(a.delay[goes[0]]+a.Leave[goes[0]], maxDelay))
		a.take(free, a.Now, goes[0], -1)
		goes = goes[1:]
	}
}

func (a *Annealing) fits(free []int64, i int) bool {
	for d := range free {
		if need := a.Need[i*a.Dims+d]; need > 0 && need > free[d] {
			return false
		}
	}
	return true
}

func (a *Annealing) take(free, demand []int64, i int, sign int64) {
	for d := range free {
		free[d] -= sign * demand[i*a.Dims+d]
	}
}

// sortBy sorts a short list.
func sortBy(list []int, key func(int) int64) {
	for i := 1; i < len(list); i++ {
		for k := i; k > 0 && key(list[k]) < key(list[k-1]); k-- {
			list[k], list[k-1] = list[k-1], list[k]
		}
	}
}
