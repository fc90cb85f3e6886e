package db

import (
	"time"

	"vjob/ctxswitch/journal"
)

// charge adds to the charges of an account in an hour.
func (t *tx) charge(c *journal.Charge) error {
	return t.exec(`INSERT INTO charges (hour_ns, user, project, queue, cpu_milliseconds, memory_mib_seconds) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (hour_ns, user, project, queue) DO UPDATE SET cpu_milliseconds = cpu_milliseconds + excluded.cpu_milliseconds,
			memory_mib_seconds = memory_mib_seconds + excluded.memory_mib_seconds`,
		c.Hour.UnixNano(), c.User, c.Project, c.Queue, c.CPUTime, c.MemoryTime)
}

func (r *snapshot) charges() (list []journal.Charge, err error) {
	err = r.each(`SELECT hour_ns, user, project, queue, cpu_milliseconds, memory_mib_seconds FROM charges
		ORDER BY hour_ns, user, project, queue`, nil, func(s row) error {
		var c journal.Charge
		err := s.Scan(instant{&c.Hour}, &c.User, &c.Project, &c.Queue, &c.CPUTime, &c.MemoryTime)
		list = append(list, c)
		return err
	})
	return list, err
}

func (r *snapshot) oldCharges(before time.Time, _ int64) ([]int64, error) {
	return r.batch("SELECT id, 1 FROM charges WHERE hour_ns < ? ORDER BY hour_ns, id LIMIT ?", before)
}

func (t *tx) removeCharges(_ []int64, list string) error {
	return t.exec("DELETE FROM charges WHERE id "+listed, list)
}
