package quota

import (
	"time"

	"vjob/queue/availability"
)

// Forecast is how quotas are going to limit waiting vjobs if running ones use their whole walltimes.
type Forecast struct {
	book   *Book
	past   History
	now    time.Time
	until  time.Time
	limits []*availability.Limit
	index  map[measured]int
	of     map[Association][]measured
}

// measured is one measure of one quota for one group.
type measured struct {
	key
	measure Measure
}

// Forecast looks ahead from now until an instant, after which limits are constant. past may be nil.
func (b *Book) Forecast(now, until time.Time, past History) *Forecast {
	return &Forecast{book: b, past: past, now: now, until: until, index: map[measured]int{}, of: map[Association][]measured{}}
}

// Parts returns what a vjob takes of the limits that apply to it.
func (p *Forecast) Parts(j *Job) (parts []availability.LimitPart) {
	list, known := p.of[j.Association]
	if !known {
		for _, i := range p.book.matching(j.Association) {
			group, _ := p.book.quotas[i].group(j.Association)
			for _, m := range []Measure{VMs, CPU, Memory, CPUTime} {
				if p.book.quotas[i].limits(m) {
					list = append(list, measured{key{i, group}, m})
				}
			}
		}
		p.of[j.Association] = list
	}
	need := j.need(0)
	need[CPUTime] = need[CPU] // in a second
	for _, k := range list {
		if need[k.measure] == 0 {
			continue
		}
		part := availability.LimitPart{Of: p.limit(k), Amount: need[k.measure]}
		if k.measure == CPUTime {
			part.Within = p.book.quotas[k.quota].Within
		}
		parts = append(parts, part)
	}
	return parts
}

// limits reports whether the quota ever limits a measure.
func (q *Quota) limits(m Measure) bool {
	for _, l := range q.Limits.Values() {
		if _, limited := l[m]; limited {
			return true
		}
	}
	return false
}

func (p *Forecast) limit(k measured) *availability.Limit {
	if i, known := p.index[k]; known {
		return p.limits[i]
	}
	q := &p.book.quotas[k.quota]
	var steps []availability.LimitStep
	for at, changes := p.now, true; changes && at.Before(p.until); at, changes = q.Limits.Next(at) {
		inForce, window := q.Limits.At(at)
		most, limited := inForce[k.measure]
		s := availability.LimitStep{From: at, Most: most, Name: title(q.Name, window, k.group) + ": at most " + k.measure.text(most)}
		if !limited {
			s.Most = availability.Unlimited
		}
		steps = append(steps, s)
	}
	p.index[k] = len(p.limits)
	c := availability.NewLimit(p.now, steps)
	if k.measure == CPUTime && p.past != nil {
		for _, h := range p.past.Hours(k.group, p.now.Add(-q.Within)) {
			c.Take(p.now, h.fades(q.Within).Sub(p.now), true, h.CPUTime)
		}
	}
	p.limits = append(p.limits, c)
	return c
}
