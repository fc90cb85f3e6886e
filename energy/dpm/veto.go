package dpm

import (
	"fmt"
	"slices"

	"vjob/cluster"
)

// Veto returns why some hosts that are on may not all go off although they are empty: the
// others would be too busy, so that one would be switched on again; too little capacity would
// stay free; or demand is not known for long enough. It returns "" if they may. Other code
// that empties hosts asks it first, so that the two never work against each other.
func (s *Settings) Veto(c *Cluster, place Rebalance, off []cluster.NodeID) string {
	d := decision{Settings: s, Cluster: c, place: place}
	for _, h := range c.Hosts {
		if h.State != Off && !slices.Contains(off, h.ID) {
			d.on = append(d.on, h.ID)
		}
	}
	slices.Sort(d.on)
	switch {
	case !c.History.covers(s.OffWindow):
		return fmt.Sprintf("demand is not known for %s yet", s.OffWindow)
	case c.JobsWait:
		return "a job waits for capacity"
	case len(d.on) == 0:
		return "no other node would be on"
	case d.lacksSpare(d.on):
		return "too little would be kept free"
	}
	where, ok := place(d.on, c.Where)
	if !ok {
		return "the other nodes have no room for all"
	}
	if scores := s.Scores(c, d.on, where); scores.High.positive() {
		return fmt.Sprintf("the other nodes would be too busy: high score %s", scores.High)
	}
	return ""
}

// MaxUtilisation is the utilisation above which more hosts are switched on.
func (s *Settings) MaxUtilisation() float64 { return s.highUse() }
