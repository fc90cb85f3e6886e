package solve

// The cost of moving a job is one more term of the objective, so a job stays on its initial
// node unless moving it saves more.

// moveDelta returns by how much the move cost changes if a job moves from one node to another.
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

// swapMoveDelta is moveDelta for two nodes that exchange all their jobs.
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

// moveCosts returns the sum of the move costs of all jobs that left their initial nodes.
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
