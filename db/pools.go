package db

import "vjob/ctxswitch/journal"

// pools replaces the pools of the cluster; nil leaves them as they are.
func (t *tx) pools(p *journal.Pools) error {
	if p == nil {
		return nil
	}
	return t.exec("INSERT OR REPLACE INTO pools (id, text, stated_by, stated_ns) VALUES (1, ?, ?, ?)", p.Text, p.By, nanos(p.At))
}

func (r *snapshot) pools() (p journal.Pools, err error) {
	err = r.each("SELECT text, stated_by, stated_ns FROM pools", nil, func(s row) error {
		return s.Scan(&p.Text, &p.By, instant{&p.At})
	})
	return p, err
}

// poolOf moves a vjob to another pool.
func (t *tx) poolOf(c *journal.PoolChange) error {
	n, err := t.change("UPDATE vjobs SET pool = ? WHERE id = ?", c.Pool, int64(c.ID))
	if err == nil && n == 0 {
		err = notFound("pool of vjob", c.ID)
	}
	return err
}
