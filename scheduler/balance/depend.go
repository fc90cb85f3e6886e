package balance

// depend finds which moves have to end before others begin (§3.1.6): a move depends on earlier departures from its
// destination if it would not fit there beside all that arrives before it. Later moves count as not begun.
func (b *balancer) depend() {
	r := b.round
	arrived := make(map[int]*ends, len(r.Moves))
	at := func(i int) *ends {
		e := arrived[i]
		if e == nil {
			e = &ends{}
			arrived[i] = e
		}
		return e
	}
	// The sums of the nodes are those after all moves: take the moves back to get those before.
	for k := range r.Moves {
		m := &r.Moves[k]
		need, from, to := b.layout.needs(m), at(m.From), at(m.To)
		for d := range need {
			from.sum[d], to.sum[d] = from.sum[d].plus(need[d]), to.sum[d].minus(need[d])
		}
	}
	for i, e := range arrived {
		e.sum[0], e.sum[1] = e.sum[0].plus(b.limits.nodes[i].reserved), e.sum[1].plus(b.loads.nodes[i].entitlement)
	}
	for k := range r.Moves {
		m := &r.Moves[k]
		need, to := b.layout.needs(m), at(m.To)
		for d := range need {
			to.sum[d] = to.sum[d].plus(need[d])
		}
		sum := to.sum
		for _, j := range to.left {
			if b.limits.fits(m.To, sum) {
				break
			}
			m.After = append(m.After, j)
			gone := b.layout.needs(&r.Moves[j])
			for d := range gone {
				sum[d] = sum[d].minus(gone[d])
			}
		}
		from := at(m.From)
		from.left = append(from.left, k)
	}
}

// ends is what is on a node if no departure ends, and the departures from it so far.
type ends struct {
	sum  [2]Amounts // reserved, entitlement
	left []int
}
