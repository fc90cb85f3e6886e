package db

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// alarm writes an alarm as it is now.
func (t *tx) alarm(a *journal.Alarm) error {
	body, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("alarm %d: %w", a.ID, err)
	}
	return t.exec(`INSERT INTO alarms (id, kind, since_ns, ended_ns, json) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET since_ns = excluded.since_ns, ended_ns = excluded.ended_ns, json = excluded.json`,
		int64(a.ID), string(a.Kind), nanos(a.Since), nanos(a.Ended), string(body))
}

// Alarms lists alarms, the newest first.
func (d *DB) Alarms(ctx context.Context, f journal.AlarmFilter) (list []journal.Alarm, err error) {
	terms, args := []string{"1"}, []any{}
	if f.Open {
		terms = append(terms, "ended_ns IS NULL")
	}
	if f.Kind != "" {
		terms, args = append(terms, "kind = ?"), append(args, string(f.Kind))
	}
	if f.Before != 0 {
		terms, args = append(terms, "id < ?"), append(args, int64(f.Before))
	}
	limit := -1
	if f.Limit > 0 {
		limit = f.Limit
	}
	err = d.snapshot(ctx, func(r *snapshot) (err error) {
		list, err = r.alarms("WHERE "+strings.Join(terms, " AND ")+" ORDER BY id DESC LIMIT ?", append(args, limit)...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list alarms: %w", err)
	}
	return list, nil
}

// Alarm returns an alarm by number.
func (d *DB) Alarm(ctx context.Context, id journal.AlarmID) (journal.Alarm, error) {
	var list []journal.Alarm
	err := d.snapshot(ctx, func(r *snapshot) (err error) {
		list, err = r.alarms("WHERE id = ?", int64(id))
		return err
	})
	if err == nil && len(list) == 0 {
		err = cluster.ErrNotFound
	}
	if err != nil {
		return journal.Alarm{}, fmt.Errorf("alarm %d: %w", id, err)
	}
	return list[0], nil
}

func (r *snapshot) alarms(where string, args ...any) (list []journal.Alarm, err error) {
	err = r.each("SELECT json FROM alarms "+where, args, func(s row) error {
		var body string
		var a journal.Alarm
		if err := s.Scan(&body); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(body), &a); err != nil {
			return err
		}
		list = append(list, a)
		return nil
	})
	return list, err
}

// lateAlarms is how many ended alarms a start loads: one that is raised again soon keeps its number.
const lateAlarms = 200

// loadAlarms loads the open alarms and the last that ended, in order.
func (r *snapshot) loadAlarms(l *journal.Loaded) (err error) {
	const next = "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'alarms'"
	if err := r.one(next, nil, &l.NextAlarm); err != nil {
		return err
	}
	l.Alarms, err = r.alarms("WHERE ended_ns IS NULL OR id IN (SELECT id FROM alarms WHERE ended_ns IS NOT NULL ORDER BY ended_ns DESC, id DESC LIMIT ?)", lateAlarms)
	slices.SortFunc(l.Alarms, func(x, y journal.Alarm) int { return int(x.ID - y.ID) })
	return err
}

// oldAlarms excludes those that a start loads.
func (r *snapshot) oldAlarms(before time.Time, _ int64) ([]int64, error) {
	return r.batch(fmt.Sprintf(`SELECT id, 1 FROM alarms WHERE ended_ns < ? AND id NOT IN (
		SELECT id FROM alarms WHERE ended_ns IS NOT NULL ORDER BY ended_ns DESC, id DESC LIMIT %d) ORDER BY ended_ns, id LIMIT ?`, lateAlarms), before)
}

func (t *tx) removeAlarms(_ []int64, list string) error {
	return t.exec("DELETE FROM alarms WHERE id "+listed, list)
}
