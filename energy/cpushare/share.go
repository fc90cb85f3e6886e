package cpushare

// Share returns the yield of each job that runs: its floor, raised evenly from the smallest up
// within the limits (max-min fairness), up to the yield that Lambda allows. If the floors
// already exceed a limit, they are not raised.
func (p *Problem) Share(runs []bool) []float64 {
	yields, rising := make([]float64, len(p.Jobs)), []int(nil)
	for j, run := range runs {
		if run {
			yields[j] = p.Jobs[j].Floor
			rising = append(rising, j)
		}
	}
	most := p.maxYield(runs)
	for level := 0.0; len(rising) > 0 && level < most; {
		level = p.level(yields, rising, level, most)
		for _, j := range rising {
			yields[j] = max(yields[j], level)
		}
		left := p.unlimited(yields, rising, level+step)
		if len(left) == len(rising) {
			break // no job rises by a whole step any more
		}
		rising = left
	}
	return yields
}

// step is the granularity of yields. A smaller one would change CPU caps all the time.
const step = 0.01

// level is the largest level, in steps, to which all rising jobs can be raised.
func (p *Problem) level(yields []float64, rising []int, low, high float64) float64 {
	if p.keepsLimits(yields, rising, high) {
		return high
	}
	from, to := int(low/step+0.5), int(high/step+0.5) // kept at from, broken at to
	for to-from > 1 {
		if mid := (from + to) / 2; p.keepsLimits(yields, rising, float64(mid)*step) {
			from = mid
		} else {
			to = mid
		}
	}
	return max(low, float64(from)*step)
}

// keepsLimits reports whether all rising jobs keep the limits at a level.
func (p *Problem) keepsLimits(yields []float64, rising []int, level float64) bool {
	return len(p.unlimited(yields, rising, level)) == len(rising)
}

// at is the ledger with the rising jobs at a level.
func (p *Problem) at(yields []float64, rising []int, level float64) *Draw {
	l := p.NewDraw()
	for j, y := range yields {
		if y > 0 {
			l.add(&p.Jobs[j], y)
		}
	}
	for _, j := range rising {
		if level > yields[j] {
			l.add(&p.Jobs[j], level-yields[j])
		}
	}
	return l
}

// unlimited returns the jobs that exceed no limit if all rising jobs are at a level.
func (p *Problem) unlimited(yields []float64, rising []int, level float64) (left []int) {
	l := p.at(yields, rising, level)
	for _, j := range rising {
		if _, broken := l.breach(&p.Jobs[j]); !broken {
			left = append(left, j)
		}
	}
	return left
}

// maxYield is the yield beyond which no job is raised.
func (p *Problem) maxYield(runs []bool) float64 {
	if p.Lambda >= 1 {
		return p.MaxYield
	}
	all := func(level float64) (sum float64) {
		l := p.NewDraw()
		for j, run := range runs {
			if run {
				l.add(&p.Jobs[j], max(level, p.Jobs[j].Floor))
			}
		}
		for _, w := range l.watts {
			sum += float64(w)
		}
		return sum
	}
	full := all(1)
	best, z := p.MaxYield, 0.0
	for i := int(p.MaxYield/step + 0.5); i >= 0; i-- { // of equal ones the largest yield
		y := float64(i) * step
		if v := p.Lambda*y + (1-p.Lambda)*(1-all(y)/max(full, 1)); v > z+slack {
			best, z = y, v
		}
	}
	return best
}
