package db

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// recommendation writes a recommendation as it is now.
func (t *tx) recommendation(c *journal.Recommendation) error {
	body, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("recommendation %d: %w", c.ID, err)
	}
	return t.exec(`INSERT INTO recommendations (id, at_ns, kind, state, json) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET state = excluded.state, json = excluded.json`,
		int64(c.ID), nanos(c.At), string(c.Kind), string(c.State), string(body))
}

// Recommendations lists recommendations, the newest first.
func (d *DB) Recommendations(ctx context.Context, f journal.RecommendationFilter) (list []journal.Recommendation, err error) {
	terms, args := []string{"1"}, []any{}
	if f.Before != 0 {
		terms, args = append(terms, "id < ?"), append(args, int64(f.Before))
	}
	if f.Kind != "" {
		terms, args = append(terms, "kind = ?"), append(args, string(f.Kind))
	}
	if f.State != "" {
		terms, args = append(terms, "state = ?"), append(args, string(f.State))
	}
	limit := -1
	if f.Limit > 0 {
		limit = f.Limit
	}
	err = d.snapshot(ctx, func(r *snapshot) (err error) {
		list, err = r.recommendations("WHERE "+strings.Join(terms, " AND ")+" ORDER BY id DESC LIMIT ?", append(args, limit)...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list recommendations: %w", err)
	}
	return list, nil
}

// Recommendation returns a recommendation by number.
func (d *DB) Recommendation(ctx context.Context, id journal.RecommendationID) (journal.Recommendation, error) {
	var list []journal.Recommendation
	err := d.snapshot(ctx, func(r *snapshot) (err error) {
		list, err = r.recommendations("WHERE id = ?", int64(id))
		return err
	})
	if err == nil && len(list) == 0 {
		err = cluster.ErrNotFound
	}
	if err != nil {
		return journal.Recommendation{}, fmt.Errorf("recommendation %d: %w", id, err)
	}
	return list[0], nil
}

func (r *snapshot) recommendations(where string, args ...any) (list []journal.Recommendation, err error) {
	err = r.each("SELECT json FROM recommendations "+where, args, func(s row) error {
		var body string
		var c journal.Recommendation
		if err := s.Scan(&body); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(body), &c); err != nil {
			return err
		}
		list = append(list, c)
		return nil
	})
	return list, err
}

// loadRecommendations loads those that are open or rejected; the loop forgets old rejections.
func (r *snapshot) loadRecommendations(l *journal.Loaded) (err error) {
	const next = "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'recommendations'"
	if err := r.one(next, nil, &l.NextRecommendation); err != nil {
		return err
	}
	l.Recommendations, err = r.recommendations("WHERE state IN ('pending', 'approved', 'rejected') ORDER BY id")
	return err
}

// oldRecommendations excludes those that are open.
func (r *snapshot) oldRecommendations(before time.Time, _ int64) ([]int64, error) {
	return r.batch("SELECT id, 1 FROM recommendations WHERE state NOT IN ('pending', 'approved') AND at_ns < ? ORDER BY at_ns, id LIMIT ?", before)
}

func (t *tx) removeRecommendations(_ []int64, list string) error {
	return t.exec("DELETE FROM recommendations WHERE id "+listed, list)
}
