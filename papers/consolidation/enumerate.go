package consolidation

import "encoding/binary"

// enumerateSteps bounds the making of the columns of one spot.
const enumerateSteps = 2_000_000

// enumerate makes a column for each full pattern that a packing within the target can have:
// those with a reduced cost at the best duals within the gap. Patterns that are less full are
// not needed, as patterns may have more of a kind than remain. It reports whether these were
// few enough.
func (x *relaxation) enumerate(target int64, most int) (patterns []pattern, ok bool) {
	if x.bound == unbounded {
		return nil, false
	}
	gap := target*x.scale - x.bound
	if gap < 0 {
		return nil, true
	}
	fillers, known := make([]*filler, len(x.nodeClasses)), map[string]bool{}
	for s, n := range x.spare {
		if n == 0 {
			continue
		}
		at := x.homeClasses[s].class
		if fillers[at] == nil {
			fillers[at] = newFiller(x.model, at, x.best.value, x.left, true)
		}
		f, toll := fillers[at], x.best.toll
		if f.site.busy {
			toll = 0
		}
		f.every = func(of []share) bool {
			key := binary.AppendVarint(nil, int64(s))
			for _, sh := range of {
				key = binary.AppendVarint(binary.AppendVarint(key, int64(sh.kind)), int64(sh.n))
			}
			if !known[string(key)] {
				known[string(key)] = true
				patterns = append(patterns, pattern{class: s, of: of, gain: x.saved(s, of)})
			}
			return len(patterns) < most
		}
		budget := min(enumerateSteps, x.steps.left)
		f.fill(x.homeClasses[s].homes, x.extra, toll+x.best.rent[s]-gap-1, budget)
		x.steps.spend(budget - max(f.budget, 0) + 1)
		if f.stopped {
			return nil, false
		}
	}
	return patterns, true
}
