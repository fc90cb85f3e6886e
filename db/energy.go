package db

import "vjob/ctxswitch/journal"

// budgets replaces the power budgets; nil leaves them as they are.
func (t *tx) budgets(b *journal.Budgets) error {
	if b == nil {
		return nil
	}
	return t.exec("INSERT OR REPLACE INTO budgets (id, text, stated_by, stated_ns) VALUES (1, ?, ?, ?)", b.Text, b.By, nanos(b.At))
}

func (r *snapshot) budgets() (b journal.Budgets, err error) {
	err = r.each("SELECT text, stated_by, stated_ns FROM budgets", nil, func(s row) error {
		return s.Scan(&b.Text, &b.By, instant{&b.At})
	})
	return b, err
}

// prices replaces the prices of energy; nil leaves them as they are.
func (t *tx) prices(p *journal.Prices) error {
	if p == nil {
		return nil
	}
	return t.exec("INSERT OR REPLACE INTO prices (id, text, stated_by, stated_ns) VALUES (1, ?, ?, ?)", p.Text, p.By, nanos(p.At))
}

func (r *snapshot) prices() (p journal.Prices, err error) {
	err = r.each("SELECT text, stated_by, stated_ns FROM prices", nil, func(s row) error {
		return s.Scan(&p.Text, &p.By, instant{&p.At})
	})
	return p, err
}

// drawn adds to the energy that a node has drawn.
func (t *tx) drawn(d *journal.NodeEnergy) error {
	return t.exec(`INSERT INTO node_energy (node, joules) VALUES (?, ?)
		ON CONFLICT (node) DO UPDATE SET joules = joules + excluded.joules`, string(d.Node), d.Joules)
}

func (r *snapshot) drawn() (list []journal.NodeEnergy, err error) {
	err = r.each("SELECT node, joules FROM node_energy ORDER BY node", nil, func(s row) error {
		var d journal.NodeEnergy
		err := s.Scan(&d.Node, &d.Joules)
		list = append(list, d)
		return err
	})
	return list, err
}
