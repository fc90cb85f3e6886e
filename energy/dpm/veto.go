package dpm

import (
	"fmt"
	"slices"

	"vjob/cluster"
)

// Objects says why some hosts that are on may not all go off although nothing runs there:
// the others would be too busy, so that one would come on again, or too little would be
// kept free, or demand is not known for long enough. "": they may. That way whoever else
// empties hosts and these rules never fight.
func (s *Settings) Objects(c *Cluster, place WhatIf, off []cluster.NodeID) string {
	d := decision{Settings: s, Cluster: c, place: place}
	for _, h := range c.Hosts {
		if h.State != Away && !slices.Contains(off, h.ID) {
			d.on = append(d.on, h.ID)
		}
	}
	slices.Sort(d.on)
	switch {
	case !c.Past.covers(s.OffWindow):
		return fmt.Sprintf("demand is not known for %s yet", s.OffWindow)
	case c.Waits:
		return "somebody waits for room"
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

// Fill is how much of a host may be in use before others come on.
func (s *Settings) Fill() float64 { return s.highUse() }
