package balance

// state is a cluster during a round: where the units are, and what follows from that.
type state struct {
	c       *Cluster
	layout  layout
	loads   loads
	demands demands
	limits  limits
}

func newState(s *Settings, c *Cluster) *state {
	st := &state{c: c, layout: newLayout(s, c), loads: newLoads(s, c.Nodes)}
	st.demands = newDemands(s, c.Nodes, st.layout.units, &st.loads)
	st.limits = newLimits(s, c, &st.loads)
	for k := range st.layout.units {
		u := &st.layout.units[k]
		st.count(u.node, u, 1)
	}
	st.addFlights(s)
	st.loads.refresh()
	st.loads.weigh(s)
	return st
}

// count adds a unit to the sums of a node, or with sign -1 takes it away.
func (st *state) count(i int, u *unit, sign int64) {
	st.loads.add(i, u, sign)
	st.demands.add(i, u, sign)
	st.limits.add(i, u, sign)
}

// addFlights counts VMs in flight on their destinations too.
func (st *state) addFlights(s *Settings) {
	for _, f := range st.c.Flights {
		u := &st.layout.units[st.layout.of[f.VM]]
		if u.fixed == "" {
			u.fixed = "it is migrating to " + st.c.Nodes[f.To].Name
		}
		v := unit{}
		v.add(f.VM, &st.c.VMs[f.VM], s)
		st.count(f.To, &v, 1)
		st.limits.join(f.To)
		st.limits.join(u.node)
	}
}

// move takes a unit to another node.
func (st *state) move(k, to int) {
	u := &st.layout.units[k]
	from := u.node
	st.count(from, u, -1)
	st.count(to, u, 1)
	st.layout.relocate(k, to)
	st.layout.tell(u, from, to)
	st.loads.refresh()
}

// pretend counts a unit on another node, without what is derived from that, and returns the way back.
func (st *state) pretend(c candidate) (back candidate) {
	u := &st.layout.units[c.unit]
	back = candidate{unit: c.unit, to: u.node}
	st.count(u.node, u, -1)
	st.count(c.to, u, 1)
	st.layout.tell(u, u.node, c.to)
	u.node = c.to
	st.demands.foresee(back.to)
	st.demands.foresee(c.to)
	return back
}
