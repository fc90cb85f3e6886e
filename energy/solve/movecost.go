package solve

// Jobs that are somewhere already cost something when they go elsewhere. To a search
// that is a price like others, so it leaves them where they are unless that is paid for.

// moveDelta is by how much more it costs that a job goes from one node to another.
func (s *state) moveDelta(j, from, to int) float64 {
	switch {
	case j == s.noJob:
		return 0
	case from == s.initial[j]:
		return s.moveCost[j]
	case to == s.initial[j]:
		return -s.moveCost[j]
	}
	return 0
}

// swapMoveDelta is the same when two nodes change all their jobs.
func (s *state) swapMoveDelta(h, g int) (sum float64) {
	if s.initial == nil {
		return 0
	}
	for _, j := range s.jobs[h] {
		sum += s.moveDelta(j, h, g)
	}
	for _, j := range s.jobs[g] {
		sum += s.moveDelta(j, g, h)
	}
	return sum
}

// moveCosts is what it costs that jobs are where they are.
func (s *state) moveCosts() (sum float64) {
	if s.initial == nil {
		return 0
	}
	for j, n := range s.at {
		if n != s.initial[j] {
			sum += s.moveCost[j]
		}
	}
	return sum
}
