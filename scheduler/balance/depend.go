package balance

// depend finds which moves have to end before others begin (§3.1.6): a move depends on earlier departures from its
// destination if it would not fit there beside all that arrives before it. Later moves count as not begun.
func (st *state) depend(r *Round) {
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
		need, from, to := st.needs(m), at(m.From), at(m.To)
		for d := range need {
			from.sum[d], to.sum[d] = from.sum[d].plus(need[d]), to.sum[d].minus(need[d])
		}
	}
	for i, e := range arrived {
		n := &st.nodes[i]
		e.sum[0], e.sum[1] = e.sum[0].plus(n.reserved), e.sum[1].plus(n.entitlement)
	}
	for k := range r.Moves {
		m := &r.Moves[k]
		need, to := st.needs(m), at(m.To)
		for d := range need {
			to.sum[d] = to.sum[d].plus(need[d])
		}
		sum := to.sum
		for _, j := range to.left {
			if st.fits(m.To, sum) {
				break
			}
			m.After = append(m.After, j)
			gone := st.needs(&r.Moves[j])
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

// needs is what the VMs of a move occupy: reservations and entitlements.
func (st *state) needs(m *Move) [2]Amounts {
	u := &st.units[st.unitOf[m.VMs[0]]]
	return [2]Amounts{u.reserved, u.entitlement}
}

func (st *state) fits(i int, sum [2]Amounts) bool {
	has := st.c.Nodes[i].Capacity
	if !sum[0].Within(has) {
		return false
	}
	for _, r := range st.resources {
		if sum[1][r] > st.most(has[r]) {
			return false
		}
	}
	return true
}
