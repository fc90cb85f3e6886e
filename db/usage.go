package db

import (
	"time"

	"vjob/ctxswitch/journal"
)

// usageHour adds to what a vjob has used of a node in an hour.
func (t *tx) usageHour(h *journal.UsageHour) error {
	return t.exec(`INSERT INTO usage_hours (hour_ns, vjob, node, cpu_milliseconds, used_milliseconds, memory_mib_seconds) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (hour_ns, vjob, node) DO UPDATE SET cpu_milliseconds = cpu_milliseconds + excluded.cpu_milliseconds,
			used_milliseconds = used_milliseconds + excluded.used_milliseconds, memory_mib_seconds = memory_mib_seconds + excluded.memory_mib_seconds`,
		h.Hour.UnixNano(), int64(h.VJob), string(h.Node), h.Reserved, h.Used, h.MemoryTime)
}

// capacity records what a node offers from now on.
func (t *tx) capacity(c *journal.NodeCapacity) error {
	return t.exec("INSERT INTO node_capacity (node, at_ns, cpu_milli, memory_mib) VALUES (?, ?, ?, ?)",
		string(c.Node), c.At.UnixNano(), int64(c.Has.CPU), int64(c.Has.Memory))
}

// capacities returns what each node offers.
func (r *snapshot) capacities() (list []journal.NodeCapacity, err error) {
	err = r.each(`SELECT node, at_ns, cpu_milli, memory_mib FROM node_capacity
		WHERE id IN (SELECT max(id) FROM node_capacity GROUP BY node) ORDER BY node`, nil, func(s row) error {
		var c journal.NodeCapacity
		err := s.Scan(&c.Node, instant{&c.At}, &c.Has.CPU, &c.Has.Memory)
		list = append(list, c)
		return err
	})
	return list, err
}

// discard records a run that is lost: what the vjob used since the last such run. It follows the use of the same
// step. A vjob that has not run since leaves nothing.
func (t *tx) discard(c *journal.DiscardedRun) error {
	return t.exec(`INSERT INTO discarded_runs (vjob, at_ns, cause, running_ns, cpu_milliseconds)
		SELECT accounts.vjob, ?2, ?3, running_ns - coalesce(sum_ns, 0), reserved_milliseconds - coalesce(sum_ms, 0)
		FROM accounts, (SELECT sum(running_ns) AS sum_ns, iif(count(*) = count(cpu_milliseconds), sum(cpu_milliseconds), NULL) AS sum_ms
			FROM discarded_runs WHERE vjob = ?1)
		WHERE accounts.vjob = ?1 AND running_ns > coalesce(sum_ns, 0)`, int64(c.VJob), c.At.UnixNano(), string(c.Cause))
}

// oldRuns finds the discarded runs that may be deleted.
func (r *snapshot) oldRuns(before time.Time, _ int64) ([]int64, error) {
	return r.batch(`SELECT id, 1 FROM discarded_runs WHERE at_ns < ? AND NOT EXISTS (SELECT 1 FROM vjobs WHERE id = discarded_runs.vjob AND `+live+`)
		ORDER BY at_ns, id LIMIT ?`, before)
}

func (t *tx) removeRuns(_ []int64, list string) error {
	return t.exec("DELETE FROM discarded_runs WHERE id "+listed, list)
}
