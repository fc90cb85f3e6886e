package consolidation

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// dive rounds the program's solution to whole patterns, a few at a time, and solves
// it anew for what remains. It gives up when the bound of what remains shows that it
// will not come to the target.
func (m *model) dive(root *relaxation, target int64, steps *stepBudget, rng *rand.Rand) (chosen []pattern, ok bool) {
	x, spent := root, int64(0)
	for {
		picked := x.pick(rng)
		if len(picked) == 0 {
			return nil, false
		}
		r := x.clone()
		for i := range picked {
			chosen = append(chosen, picked[i])
			spent += int64(m.cost(&picked[i], root.replace))
			r.take(m, &picked[i])
		}
		if r.empty() {
			return chosen, spent <= target
		}
		if more, good := m.finish(r, target-spent, root.replace); good {
			return append(chosen, more...), true
		}
		x = m.relax(r, root.replace, x.patterns, steps, rng)
		x.casual = true
		x.solve(target - spent)
		if steps.left <= 0 || x.reached() > target-spent {
			return nil, false
		}
	}
}

// pick takes the patterns of which the solution has whole ones, and if it has none,
// those that are nearly so, at least one.
func (x *relaxation) pick(rng *rand.Rand) (picked []pattern) {
	amounts := x.lp.amounts()
	for j, a := range amounts {
		for a > 1-1e-4 {
			picked = append(picked, x.patterns[j])
			a--
		}
	}
	if len(picked) > 0 {
		return picked
	}
	type candidate struct {
		j    int
		want float64
	}
	var list []candidate
	for j, a := range amounts {
		if a > 1e-4 {
			list = append(list, candidate{j, a + 0.2*rng.Float64()})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.want, a.want), cmp.Compare(a.j, b.j)) })
	r := x.clone()
	for i, c := range list {
		p := &x.patterns[c.j]
		if i > 0 && (amounts[c.j] < 0.7 || !x.apart(r, p)) {
			continue
		}
		picked = append(picked, *p)
		r.take(x.model, p)
	}
	return picked
}

// apart reports whether a pattern takes only what remains.
func (x *relaxation) apart(r *remainder, p *pattern) bool {
	for _, s := range p.of {
		if r.left[s.kind] < s.n {
			return false
		}
	}
	return r.spare[p.class] > 0 && (!x.replace || r.open > 0 || x.classOf(p.class).busy)
}

// finishWork is how much work finish does at most: where no two nodes are equal, it
// takes too long for many of them.
const finishWork = 20_000_000

// finish fills one node after the other, the fullest pattern first, and reports
// whether that is within the target. Where costs matter it is no match for the dive.
func (m *model) finish(r *remainder, target int64, replace bool) (chosen []pattern, ok bool) {
	if replace || len(m.homeClasses)*len(m.kinds)*m.nodes > finishWork {
		return nil, false
	}
	r = r.clone()
	for !r.empty() {
		spot, of := m.fullest(r)
		if of == nil {
			return nil, false
		}
		p := pattern{class: spot, of: of}
		target -= int64(m.cost(&p, false))
		if target < 0 {
			return nil, false
		}
		chosen = append(chosen, p)
		r.take(m, &p)
	}
	return chosen, true
}

// fullest fills a node of the spot that can take the most of what remains: kind after
// kind, the one first that goes best with what is free.
func (m *model) fullest(r *remainder) (spot int, of []share) {
	weight := r.weights(m)
	best := -1.0
	for s, n := range r.spare {
		if n == 0 {
			continue
		}
		shares, worth := m.stuff(m.classOf(s), r, weight)
		if m.classOf(s).busy && len(shares) > 0 {
			worth += 1e9
		}
		if worth > best && len(shares) > 0 {
			spot, of, best = s, shares, worth
		}
	}
	return spot, of
}

// weights say how scarce each dimension is: what remains to be packed, for one unit of
// room.
func (r *remainder) weights(m *model) []float64 {
	weight := make([]float64, m.dims)
	for d := range weight {
		need, room := 0.0, 0.0
		for k, n := range r.left {
			need += float64(n) * float64(m.kinds[k].need[d])
		}
		for s, n := range r.spare {
			room += float64(n) * float64(m.classOf(s).room[d])
		}
		if room > 0 {
			weight[d] = need / room
		}
	}
	return weight
}

// stuff fills one node.
func (m *model) stuff(s *nodeClass, r *remainder, weight []float64) (of []share, worth float64) {
	f := filler{m: m, site: s, left: r.left, count: make([]int, len(m.kinds)), room: slices.Clone(s.room)}
	for {
		best, score := -1, -1.0
		for k := range m.kinds {
			if r.left[k] == f.count[k] || !s.may.has(k) || !f.fits(k) {
				continue
			}
			sum := 0.0
			for d, need := range m.kinds[k].need {
				if s.room[d] > 0 {
					share := float64(need) / float64(s.room[d])
					sum += weight[d] * share * (float64(f.room[d])/float64(s.room[d]) + 0.2)
				}
			}
			if sum > score {
				best, score = k, sum
			}
		}
		if best < 0 {
			return f.shares(), worth
		}
		for d, need := range m.kinds[best].need {
			worth += weight[d] * float64(need)
		}
		f.put(best, 1, 0)
	}
}
