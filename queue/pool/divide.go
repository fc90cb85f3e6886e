package pool

import (
	"cmp"
	"math/bits"
	"slices"
)

// claim is what one child may get of a quantity.
type claim struct{ least, most, shares int64 }

// divider divides a quantity among children: each gets level x shares, at least its least and at most its
// most, with the level at which the sum is the quantity.
type divider struct {
	claims []claim
	given  []int64
	free   []int   // children that are not at a bound
	rest   []int64 // remainders of the division by shares, by child
}

func (d *divider) reset(n int) {
	d.claims, d.given, d.rest = resize(d.claims, n), resize(d.given, n), resize(d.rest, n)
	d.free = d.free[:0]
}

func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// divide sets given. If even the least of all exceed the quantity, it is divided in proportion to them; if
// all have their most, the rest is given to none.
func (d *divider) divide(quantity int64) {
	least, most := int64(0), int64(0)
	for _, c := range d.claims {
		least, most = plus(least, c.least), plus(most, c.most)
	}
	switch {
	case least >= quantity:
		for k := range d.claims {
			d.claims[k].shares = d.claims[k].least
			d.free = append(d.free, k)
		}
		d.byShares(quantity, least)
	case most <= quantity:
		for k, c := range d.claims {
			d.given[k] = c.most
		}
	default:
		d.fill(quantity)
	}
}

// fill divides a quantity between the sums of the bounds. It divides by shares; the children beyond the
// bounds that are exceeded by more in sum get their bound, and the rest is divided again (Gabriel Bitran
// and Arnoldo Hax, "Disaggregation and Resource Allocation Using Convex Knapsack Problems with Bounded
// Variables", Management Science 27(4), 1981).
func (d *divider) fill(quantity int64) {
	for k := range d.claims {
		d.free = append(d.free, k)
	}
	for len(d.free) > 0 {
		shares := int64(0)
		for _, k := range d.free {
			shares += d.claims[k].shares
		}
		d.byShares(quantity, shares)
		above, below := int64(0), int64(0)
		for _, k := range d.free {
			above = plus(above, max(0, d.given[k]-d.claims[k].most))
			below = plus(below, max(0, d.claims[k].least-d.given[k]))
		}
		if above == 0 && below == 0 {
			return
		}
		d.free = slices.DeleteFunc(d.free, func(k int) bool {
			bound := d.claims[k].most
			if above < below {
				bound = d.claims[k].least
			}
			beyond := above >= below && d.given[k] > bound || above < below && d.given[k] < bound
			if beyond {
				d.given[k] = bound
				quantity -= bound
			}
			return beyond
		})
	}
}

// byShares gives the free children a quantity in proportion to their shares, which are this much in sum. The
// units that are left by rounding go to the largest remainders.
func (d *divider) byShares(quantity, shares int64) {
	if shares == 0 {
		for _, k := range d.free {
			d.given[k] = 0
		}
		return
	}
	left := quantity
	for _, k := range d.free {
		high, low := bits.Mul64(uint64(quantity), uint64(d.claims[k].shares))
		share, rest := bits.Div64(high, low, uint64(shares))
		d.given[k], d.rest[k] = int64(share), int64(rest)
		left -= int64(share)
	}
	if left == 0 {
		return
	}
	order := slices.Clone(d.free)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.rest[b], d.rest[a]) })
	for _, k := range order[:left] {
		d.given[k]++
	}
}
