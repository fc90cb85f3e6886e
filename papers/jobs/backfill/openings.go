package backfill

// openings records where room became free in a pass, for jobs that ask for the earliest
// instant since their last search. An instant after an earlier one that was noted later is
// useless, so what is kept is in order of both.
type openings struct {
	count int // noted so far
	kept  []opening
}

type opening struct {
	number int // the first is 1
	at     Time
}

func (o *openings) clear() { o.count, o.kept = 0, o.kept[:0] }

func (o *openings) add(at Time) {
	o.count++
	last := len(o.kept)
	for last > 0 && o.kept[last-1].at >= at {
		last--
	}
	o.kept = append(o.kept[:last], opening{o.count, at})
}

// since is the earliest of those that were noted after so many, if there are any.
func (o *openings) since(count int) (at Time, some bool) {
	if count == o.count {
		return 0, false
	}
	i := len(o.kept)
	for i > 0 && o.kept[i-1].number > count {
		i--
	}
	return o.kept[i].at, true
}
