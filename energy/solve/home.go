package solve

// Jobs that are somewhere already cost something when they go elsewhere. To a search
// that is a price like others, so it leaves them where they are unless that is paid for.

// strays is by how much more it costs that a job goes from one node to another.
func (s *state) strays(j, from, to int) float64 {
	switch {
	case j == s.none:
		return 0
	case from == s.home[j]:
		return s.leave[j]
	case to == s.home[j]:
		return -s.leave[j]
	}
	return 0
}

// tradeAway is the same when two nodes change all their jobs.
func (s *state) tradeAway(h, g int) (sum float64) {
	if s.home == nil {
		return 0
	}
	for _, j := range s.jobs[h] {
		sum += s.strays(j, h, g)
	}
	for _, j := range s.jobs[g] {
		sum += s.strays(j, g, h)
	}
	return sum
}

// strayed is what it costs that jobs are where they are.
func (s *state) strayed() (sum float64) {
	if s.home == nil {
		return 0
	}
	for j, n := range s.at {
		if n != s.home[j] {
			sum += s.leave[j]
		}
	}
	return sum
}
