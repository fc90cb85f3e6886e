package duration

import (
	"cmp"
	"math"
	"slices"
	"time"

	"vjob/cluster"
)

const (
	// Window is how many observations of one node and kind count; older ones are forgotten.
	Window = 32
	// Enough is how many observations a node needs before its own line counts.
	Enough = 3
	// decay is the weight of an observation relative to the one after it: the last ten weigh as
	// much as all before.
	decay = 0.95
	// priorWeight is how many observations the prior counts for.
	priorWeight = 2
	// tuning is the constant of Tukey's biweight: 95 % efficiency on normal errors.
	tuning = 4.685
	// leastScale is the smallest relative spread that separates outliers from others.
	leastScale = 0.05
	// phases is how often the scale of the errors is estimated, and rounds how often the weights
	// are in each of them.
	phases, rounds = 3, 10
	// leastSeconds keeps the ratio to a prior of 0 finite.
	leastSeconds = 1e-3
)

// sample is an observation in the units of the fit.
type sample struct {
	gib, seconds float64
}

func sampleOf(o *Observation) sample {
	return sample{float64(o.Memory) / float64(cluster.GiB), max(o.Taken.Seconds(), leastSeconds)}
}

// line is a [Line] in the units of the fit.
type line struct {
	constant, perGiB float64
}

func lineOf(l Line) line { return line{l.Constant.Seconds(), l.PerGiB.Seconds()} }

func (l line) of(gib float64) float64 { return max(l.constant+l.perGiB*gib, leastSeconds) }

func (l line) scaled(by float64) line { return line{l.constant * by, l.perGiB * by} }

// round returns the line in whole nanoseconds; a year per part is more than any action lasts.
func (l line) round() Line {
	const most = float64(366 * 24 * time.Hour)
	part := func(seconds float64) time.Duration {
		return time.Duration(math.Round(min(max(seconds*float64(time.Second), 0), most)))
	}
	return Line{part(l.constant), part(l.perGiB)}
}

// point is a weighted observation.
type point struct {
	sample
	weight float64
}

// fit returns the line through the samples, the oldest first, and their relative spread around it.
// It is an MM-estimate of regression (Yohai: High breakdown-point and high efficiency robust estimates
// for regression, 1987): iteratively reweighted least squares with Tukey's biweight, from a start
// and with a scale that half of the samples may be outliers of. Errors are relative: a transfer of
// twice the memory errs twice as much.
//
// The start is the prior, scaled by the weighted median of the ratios of the samples to it, where
// the prior counts as [priorWeight] samples with the ratio 1. The start also counts as samples at
// half and twice the usual memory: they state the slope if all VMs have the same size.
func fit(samples []sample, prior line) (line, float64) {
	if len(samples) == 0 {
		return prior, 0
	}
	ratios, sizes := make([]weighted, 0, len(samples)+1), make([]weighted, 0, len(samples))
	points := make([]point, 0, len(samples))
	weight := 1.0
	for _, s := range slices.Backward(samples) {
		ratios = append(ratios, weighted{s.seconds / prior.of(s.gib), weight})
		sizes = append(sizes, weighted{s.gib, weight})
		points = append(points, point{s, weight})
		weight *= decay
	}
	at := prior.scaled(median(append(ratios, weighted{1, priorWeight})))
	usual := median(sizes)
	var supports []point
	for _, gib := range [...]float64{usual / 2, usual * 2} {
		supports = append(supports, point{sample{gib, at.of(gib)}, priorWeight / 2})
	}
	scale := spread(points, at)
	for range phases {
		unit := at
		scale = max(leastScale, min(scale, spread(points, at)))
		for range rounds {
			var normal sums
			for _, p := range supports {
				normal.add(p, p.weight, unit)
			}
			for _, p := range points {
				off := (p.seconds - at.of(p.gib)) / (unit.of(p.gib) * scale * tuning)
				if inside := 1 - off*off; inside > 0 {
					normal.add(p, p.weight*inside*inside, unit)
				}
			}
			at = normal.solve()
		}
	}
	return at, spread(points, at)
}

// spread returns the normal standard deviation that belongs to the median of the absolute relative
// errors.
func spread(points []point, l line) float64 {
	const normal = 1.4826 // of the median absolute deviation (Huber 1981, §5.1)
	errors := make([]weighted, len(points))
	for i, p := range points {
		errors[i] = weighted{math.Abs(p.seconds/l.of(p.gib) - 1), p.weight}
	}
	return normal * median(errors)
}

// sums are those of the normal equations of a line.
type sums struct {
	w, wx, wy, wxx, wxy float64
}

// add adds a point. Its error is relative to a line.
func (s *sums) add(p point, weight float64, unit line) {
	expected := unit.of(p.gib)
	u := weight / (expected * expected)
	s.w, s.wx, s.wy = s.w+u, s.wx+u*p.gib, s.wy+u*p.seconds
	s.wxx, s.wxy = s.wxx+u*p.gib*p.gib, s.wxy+u*p.gib*p.seconds
}

// solve returns the line of the least squares. A part that came out negative is 0 instead.
func (s *sums) solve() line {
	determinant := s.w*s.wxx - s.wx*s.wx
	if determinant <= 1e-12*s.w*s.wxx { // no VM has memory
		return line{constant: s.wy / s.w}
	}
	l := line{(s.wxx*s.wy - s.wx*s.wxy) / determinant, (s.w*s.wxy - s.wx*s.wy) / determinant}
	switch {
	case l.constant < 0:
		return line{perGiB: s.wxy / s.wxx}
	case l.perGiB < 0:
		return line{constant: s.wy / s.w}
	}
	return l
}

// weighted is a value with a weight.
type weighted struct {
	value, weight float64
}

// median returns the weighted median: the smallest value up to which values have half the weight.
// It sorts the list.
func median(list []weighted) float64 {
	slices.SortFunc(list, func(a, b weighted) int { return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.weight, b.weight)) })
	total := 0.0
	for _, x := range list {
		total += x.weight
	}
	sum := 0.0
	for _, x := range list {
		sum += x.weight
		if 2*sum >= total {
			return x.value
		}
	}
	return 0
}
