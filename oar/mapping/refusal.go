package mapping

import (
	"fmt"

	"vjob/cluster"
	"vjob/oar/message"
)

// tooFew tells the level at which the empty cluster does not have what is asked for.
// Counts are nil where words do not have their numbers yet.
func (p *placer) tooFew(s *Shape, all *region, size cluster.Resources, counts []int) error {
	room := 0
	for _, r := range all.inner() {
		room = max(room, capacity(r.nodes, size, s.Unit))
	}
	want, _ := s.VMs.Count.Number()
	if len(s.Labels) == 0 || want > room {
		where := ""
		if len(s.Labels) > 0 {
			where = " of one " + s.Labels[len(s.Labels)-1].Name
		}
		return p.lack(s.VMs.Span, fmt.Sprintf("the nodes%s that match have room for %d VMs of %s", where, room, size))
	}
	l := s.Labels[0]
	have := len(all.parts)
	if counts != nil {
		have = all.good(counts, size, s.Unit)
	}
	return p.lack(l.Span, fmt.Sprintf("of the groups of nodes by %s, %d match and have enough room", l.Name, have))
}

// lack is OAR's refusal of more than there is.
func (p *placer) lack(at message.Span, text string) error {
	return &message.Error{
		Exit: message.ExitResources, OAR: message.NotEnough, Place: p.source.At(at), Text: text,
	}
}
