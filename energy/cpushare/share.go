package cpushare

// Share gives each job that runs its yield: its floor, and what is left of the limits
// goes to the smallest yields first, as far as the aim wants it (max-min fairness). Where
// even the floors break a limit, they are what is given.
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
			break // nobody rises by a whole step any more
		}
		rising = left
	}
	return yields
}

// step is how finely levels are told. Smaller ones would have caps change all the time.
const step = 0.01

// level is the largest level, in steps, to which those that rise can do so.
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

// keepsLimits reports whether those that rise break no limit when they are at a level.
func (p *Problem) keepsLimits(yields []float64, rising []int, level float64) bool {
	return len(p.unlimited(yields, rising, level)) == len(rising)
}

// at is the ledger with those that rise at a level.
func (p *Problem) at(yields []float64, rising []int, level float64) *Ledger {
	l := p.Ledger()
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

// unlimited are those that break no limit when all that rise are at a level.
func (p *Problem) unlimited(yields []float64, rising []int, level float64) (left []int) {
	l := p.at(yields, rising, level)
	for _, j := range rising {
		if _, broken := l.breach(&p.Jobs[j]); !broken {
			left = append(left, j)
		}
	}
	return left
}

// maxYield is the yield beyond which nobody rises.
func (p *Problem) maxYield(runs []bool) float64 {
	if p.Lambda >= 1 {
		return p.Most
	}
	all := func(level float64) (sum float64) {
		l := p.Ledger()
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
	best, z := p.Most, 0.0
	for i := int(p.Most/step + 0.5); i >= 0; i-- { // of equal ones the most yield
		y := float64(i) * step
		if v := p.Lambda*y + (1-p.Lambda)*(1-all(y)/max(full, 1)); v > z+slack {
			best, z = y, v
		}
	}
	return best
}
