package db

import (
	"database/sql"
	"encoding/json"
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// meter writes up to where the account of a vjob goes.
func (t *tx) meter(m *journal.Meter) error {
	seen, err := json.Marshal(m.CPU)
	if err != nil {
		return fmt.Errorf("meter of vjob %s: %w", m.VJob, err)
	}
	err = t.exec(`INSERT INTO accounts (vjob, running_ns, crowded_ns, cpu_ns, wanted_ns, memory_mib_seconds, energy_joules, until_ns, seen_json)
		VALUES (?, 0, 0, 0, 0, 0, 0, ?, ?)
		ON CONFLICT (vjob) DO UPDATE SET until_ns = excluded.until_ns, seen_json = excluded.seen_json`,
		int64(m.VJob), m.At.UnixNano(), string(seen))
	if err != nil {
		return fmt.Errorf("meter of vjob %s: %w", m.VJob, err)
	}
	return nil
}

// meters returns the meters of the vjobs that have not ended.
func (r *snapshot) meters() (map[cluster.VJobID]journal.Meter, error) {
	list := map[cluster.VJobID]journal.Meter{}
	err := r.each(`SELECT vjob, until_ns, seen_json FROM accounts JOIN vjobs ON vjobs.id = accounts.vjob
		WHERE until_ns <> 0 AND vjobs.`+live, nil, func(s row) error {
		var m journal.Meter
		var seen sql.RawBytes
		if err := s.Scan(&m.VJob, instant{&m.At}, &seen); err != nil {
			return err
		}
		err := json.Unmarshal(seen, &m.CPU)
		list[m.VJob] = m
		return err
	})
	return list, err
}
