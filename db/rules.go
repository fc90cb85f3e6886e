package db

import "vjob/ctxswitch/journal"

// rules replaces the rules of the cluster; nil leaves them as they are.
func (t *tx) rules(r *journal.Rules) error {
	if r == nil {
		return nil
	}
	return t.exec("INSERT OR REPLACE INTO rules (id, text, stated_by, stated_ns) VALUES (1, ?, ?, ?)", r.Text, r.By, nanos(r.At))
}

func (r *snapshot) rules() (rules journal.Rules, err error) {
	err = r.each("SELECT text, stated_by, stated_ns FROM rules", nil, func(s row) error {
		return s.Scan(&rules.Text, &rules.By, instant{&rules.At})
	})
	return rules, err
}
