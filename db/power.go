package db

import (
	"vjob/energy/power/cycle"
)

// power writes the power record of a node.
func (t *tx) power(p *cycle.Record) error {
	if err := p.Check(); err != nil {
		return err
	}
	n, err := t.change(`INSERT OR REPLACE INTO power (node, phase, since_ns, wanted_off, wanted_by, attempt, called_ns, reason)
		SELECT id, ?, ?, ?, ?, ?, ?, ? FROM nodes WHERE id = ?`,
		p.Phase.String(), nanos(p.Since), p.Want == cycle.WantOff, p.By, p.Attempt, nanos(p.RequestedAt), p.Reason, string(p.Node))
	if err == nil && n == 0 {
		err = notFound("node", p.Node)
	}
	return err
}

func (r *snapshot) power() (list []cycle.Record, err error) {
	const all = "SELECT node, phase, since_ns, wanted_off, wanted_by, attempt, called_ns, reason FROM power ORDER BY node"
	err = r.each(all, nil, func(s row) error {
		var p cycle.Record
		var phase string
		var off bool
		err := s.Scan(&p.Node, &phase, instant{&p.Since}, &off, &p.By, &p.Attempt, instant{&p.RequestedAt}, &p.Reason)
		if err != nil {
			return err
		}
		if off {
			p.Want = cycle.WantOff
		}
		p.Phase, err = cycle.ParsePhase(phase)
		list = append(list, p)
		return err
	})
	return list, err
}
