package db

import (
	"vjob/ctxswitch/duration"
)

// observation writes how long an action took, and deletes what is older than the window of its
// node and kind.
func (t *tx) observation(o *duration.Observation) error {
	kind := o.Kind.String()
	return firstError(
		func() error {
			return t.exec("INSERT INTO durations (node, kind, at_ns, memory_mib, taken_ns) VALUES (?, ?, ?, ?, ?)",
				string(o.Node), kind, nanos(o.At), int64(o.Memory), int64(o.Taken))
		},
		func() error {
			return t.exec(`DELETE FROM durations WHERE node = ?1 AND kind = ?2 AND id <=
				(SELECT id FROM durations WHERE node = ?1 AND kind = ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3)`,
				string(o.Node), kind, duration.Window)
		},
	)
}

// observations lists how long actions took, in the order in which they were learned.
func (r *snapshot) observations() (list []duration.Observation, err error) {
	err = r.each("SELECT node, kind, at_ns, memory_mib, taken_ns FROM durations ORDER BY id", nil, func(s row) error {
		var o duration.Observation
		var kind string
		if err := s.Scan(&o.Node, &kind, instant{&o.At}, &o.Memory, &o.Taken); err != nil {
			return err
		}
		list = append(list, o)
		return list[len(list)-1].Kind.UnmarshalText([]byte(kind))
	})
	return list, err
}
