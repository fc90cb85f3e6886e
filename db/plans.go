package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

func (t *tx) plan(p *journal.Plan, raw string) error {
	err := t.exec(`INSERT INTO plans (id, at_ns, ended_ns, policy, state, cost_mib, makespan_ns, action_count, plan_json)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		int64(p.ID), nanos(p.At), nanos(p.Ended), p.Policy, string(p.State),
		p.Plan.Cost, int64(p.Plan.Makespan), len(p.Plan.Actions), raw)
	if errors.Is(err, cluster.ErrConflict) {
		return duplicate("plan", p.ID)
	}
	return err
}

func (t *tx) planChange(c *journal.PlanChange) error {
	n, err := t.change("UPDATE plans SET state = ?, ended_ns = coalesce(?, ended_ns), note = ? WHERE id = ?",
		string(c.State), nanos(c.Ended), c.Note, int64(c.ID))
	if err == nil && n == 0 {
		return notFound("plan", c.ID)
	}
	return err
}

func (t *tx) action(a *journal.ActionChange) error {
	var actions int
	found, err := t.row("SELECT action_count FROM plans WHERE id = ?", []any{int64(a.Plan)}, &actions)
	if err != nil {
		return err
	}
	if !found {
		return notFound("plan", a.Plan)
	}
	if err := checkAction(*a, actions); err != nil {
		return err
	}
	var began, ended any
	switch a.State {
	case journal.PlanRunning:
		began = nanos(a.At)
	case journal.PlanDone, journal.PlanFailed, journal.PlanDropped:
		ended = nanos(a.At)
	case journal.PlanPending: // waits again; known times stay
	}
	return t.exec(`INSERT INTO plan_actions (plan, action, state, began_ns, ended_ns, note) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (plan, action) DO UPDATE SET state = excluded.state, note = excluded.note,
			began_ns = coalesce(excluded.began_ns, began_ns), ended_ns = coalesce(excluded.ended_ns, ended_ns)`,
		int64(a.Plan), int(a.Action), string(a.State), began, ended, a.Note)
}

// skew writes a skew. A skew of no plan is dropped: it could not be shown anywhere.
func (t *tx) skew(s *journal.SkewChange) error {
	if s.Plan == 0 {
		return nil
	}
	err := t.exec("INSERT INTO plan_skews (plan, vjob, kind, skew_ns) VALUES (?, ?, ?, ?)",
		int64(s.Plan), int64(s.VJob), s.Kind, int64(s.Skew))
	if err != nil {
		return fmt.Errorf("skew in plan %d: %w", s.Plan, err)
	}
	return nil
}

const planColumns = "id, at_ns, ended_ns, policy, state, note, cost_mib, makespan_ns, action_count"

func scanPlan(s row, more ...any) (p journal.PlanRow, err error) {
	err = s.Scan(append([]any{
		&p.ID, instant{&p.At}, instant{&p.Ended}, &p.Policy, &p.State, &p.Note, &p.Cost, &p.Makespan, &p.Actions,
	}, more...)...)
	return p, err
}

// Plans lists the plans of a filter, the newest first.
func (d *DB) Plans(ctx context.Context, f journal.PlanFilter) (list []journal.PlanRow, err error) {
	if f.Limit <= 0 {
		f.Limit = -1
	}
	query := "SELECT " + planColumns + " FROM plans WHERE (?1 = 0 OR id < ?1)"
	args := []any{int64(f.Before)}
	if f.Owner != "" {
		query += " AND id IN (SELECT plan FROM events JOIN vjobs ON vjobs.id = events.vjob WHERE owner = ?2 AND plan IS NOT NULL)"
		args = append(args, f.Owner)
	}
	query += fmt.Sprintf(" ORDER BY id DESC LIMIT %d", f.Limit)
	err = d.snapshot(ctx, func(r *snapshot) error {
		return r.each(query, args, func(s row) error {
			p, err := scanPlan(s)
			list = append(list, p)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list plans: %w", err)
	}
	return list, nil
}

// Plan returns a plan and the progress of each of its actions.
func (d *DB) Plan(ctx context.Context, id journal.PlanID) (p journal.PlanDetail, err error) {
	err = d.snapshot(ctx, func(r *snapshot) error {
		found := false
		err := r.each("SELECT "+planColumns+", plan_json FROM plans WHERE id = ?", []any{int64(id)}, func(s row) (err error) {
			var raw sql.RawBytes
			if p.PlanRow, err = scanPlan(s, &raw); err != nil {
				return err
			}
			found = true
			return json.Unmarshal(raw, &p.Plan)
		})
		if err == nil && !found {
			err = cluster.ErrNotFound
		}
		if err == nil {
			err = r.progress(&p)
		}
		return err
	})
	if err != nil {
		return journal.PlanDetail{}, fmt.Errorf("plan %d: %w", id, err)
	}
	return p, nil
}

// progress fills in the progress of the actions and the skews of the gangs.
func (r *snapshot) progress(p *journal.PlanDetail) error {
	p.Progress = make([]journal.ActionProgress, len(p.Plan.Actions))
	for i := range p.Progress {
		p.Progress[i].State = journal.PlanPending
	}
	args := []any{int64(p.ID)}
	err := r.each("SELECT action, state, began_ns, ended_ns, note FROM plan_actions WHERE plan = ?", args, func(s row) error {
		var action int
		var a journal.ActionProgress
		if err := s.Scan(&action, &a.State, instant{&a.Began}, instant{&a.Ended}, &a.Note); err != nil {
			return err
		}
		p.Progress[action] = a
		return nil
	})
	if err != nil {
		return err
	}
	return r.each("SELECT plan, vjob, kind, skew_ns FROM plan_skews WHERE plan = ? ORDER BY id", args, func(s row) error {
		var c journal.SkewChange
		err := s.Scan(&c.Plan, &c.VJob, &c.Kind, &c.Skew)
		p.Skews = append(p.Skews, c)
		return err
	})
}
