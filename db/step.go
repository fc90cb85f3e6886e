package db

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// Commit writes a step, all or nothing, and returns when it is on the disk.
func (d *DB) Commit(ctx context.Context, step journal.Step) error {
	if step.Empty() {
		return ctx.Err()
	}
	plans := make([]string, len(step.Plans))
	for i := range step.Plans {
		raw, err := json.Marshal(step.Plans[i].Plan)
		if err != nil {
			return fmt.Errorf("commit: plan %d: %w", step.Plans[i].ID, err)
		}
		plans[i] = string(raw)
	}
	if err := d.writer.do(ctx, func(t *tx) error { return t.step(&step, plans) }); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// step writes the parts of a step in an order that satisfies their references.
func (t *tx) step(s *journal.Step, plans []string) error {
	err := firstError(
		func() error { return each(s.Nodes, t.node) },
		func() error { return each(s.Removed, t.removeNode) },
		func() error { return each(s.Power, t.power) },
		func() error { return t.rules(s.Rules) },
		func() error { return t.budgets(s.Budgets) },
		func() error { return t.prices(s.Prices) },
		func() error { return t.pools(s.Pools) },
		func() error { return each(s.Reshape, t.reshape) },
		func() error { return each(s.VJobs, t.vjob) },
		func() error { return each(s.Gangs, t.gang) },
		func() error { return each(s.Spans, t.walltime) },
		func() error { return each(s.Moved, t.poolOf) },
		func() error { return each(s.MoveModes, t.moveModeOf) },
		func() error { return each(s.Freed, t.removeDependencies) },
		func() error { return each(s.Again, t.writeAttempt) },
	)
	for i := range s.Plans {
		if err == nil {
			err = t.plan(&s.Plans[i], plans[i])
		}
	}
	if err != nil {
		return err
	}
	return firstError(
		func() error { return each(s.Closed, t.planChange) },
		func() error { return each(s.Actions, t.action) },
		func() error { return each(s.Skews, t.skew) },
		func() error { return t.intents(s.Intents) },
		func() error { return each(s.Results, t.result) },
		func() error { return each(s.Usage, t.usage) },
		func() error { return each(s.UsageHours, t.usageHour) },
		func() error { return each(s.Discarded, t.discard) },
		func() error { return each(s.Capacity, t.capacity) },
		func() error { return each(s.Meters, t.meter) },
		func() error { return each(s.Drawn, t.drawn) },
		func() error { return each(s.NodeHours, t.nodeHour) },
		func() error { return each(s.VJobHours, t.vjobHour) },
		func() error { return each(s.Charges, t.charge) },
		func() error { return each(s.Recommendations, t.recommendation) },
		func() error { return each(s.Alarms, t.alarm) },
		func() error { return each(s.Events, t.event) },
		func() error { return each(s.Audit, t.audit) },
		func() error { return each(s.Learned, t.observation) },
	)
}

func firstError(parts ...func() error) error {
	for _, p := range parts {
		if err := p(); err != nil {
			return err
		}
	}
	return nil
}

func each[T any](list []T, write func(*T) error) error {
	for i := range list {
		if err := write(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) vjob(c *journal.VJobChange) error {
	var old storedState
	var state string
	found, err := t.row("SELECT state, held, version FROM vjobs WHERE id = ?", []any{int64(c.ID)}, &state, &old.Held, &old.Version)
	if err != nil {
		return err
	}
	if !found {
		return notFound("vjob", c.ID)
	}
	if old.State, err = cluster.ParseState(state); err != nil {
		return err
	}
	if err := checkChange(old, *c); err != nil {
		return err
	}
	if c.State.Terminal() {
		if err := t.removeDependencies(&c.ID); err != nil {
			return err
		}
	}
	// The first start and end count: the loop does not know them after a restart.
	return t.exec(`UPDATE vjobs SET state = ?, held = ?, hold = ?, cause = ?, outcome = ?, exit_status = ?, version = ?,
		started_ns = coalesce(started_ns, ?), ended_ns = coalesce(ended_ns, ?) WHERE id = ?`,
		c.State.String(), c.Held, c.Hold.Encode(), c.Cause.Encode(), c.Outcome.String(), c.Exit.String(), c.Version, nanos(c.Started), nanos(c.Ended), int64(c.ID))
}

// walltime changes the walltime of a vjob.
func (t *tx) walltime(c *journal.WalltimeChange) error {
	n, err := t.change("UPDATE vjobs SET walltime_ns = ? WHERE id = ?", int64(c.Walltime), int64(c.ID))
	if err == nil && n == 0 {
		err = notFound("walltime of vjob", c.ID)
	}
	return err
}

func (t *tx) gang(r *gang.Record) error {
	var size int
	found, err := t.row("SELECT vm_count FROM vjobs WHERE id = ?", []any{int64(r.VJob)}, &size)
	if err != nil {
		return err
	}
	if !found {
		return notFound("gang of vjob", r.VJob)
	}
	if err := checkGang(r, size); err != nil {
		return err
	}
	kept, err := encodeKept(r.Kept)
	if err != nil {
		return err
	}
	err = t.exec(`UPDATE gangs SET phase = ?, continuation = ?, since_ns = ?, boots = ?, incarnation = ?, generation = ?, used = ?,
		restores = ?, losses = ?, cause = ?, skew_ns = ?, kept = ? WHERE vjob = ?`,
		r.Phase.String(), r.Then.String(), nanos(r.Since), r.Boots, r.Incarnation, r.Generation, r.UsedUpTo,
		r.Restores, r.Losses, r.Cause.Encode(), int64(r.Skew), kept, int64(r.VJob))
	if err != nil {
		return err
	}
	if err := t.exec("DELETE FROM images WHERE vjob = ?", int64(r.VJob)); err != nil {
		return err
	}
	if !slices.ContainsFunc(r.Members, func(m gang.Member) bool { return m != gang.Member{} }) {
		return t.exec("UPDATE vms SET node = '', next_node = '', ended = 0, exit_status = '', save_attempt = 0 WHERE vjob = ?", int64(r.VJob))
	}
	for rank := range r.Members {
		if err := t.member(r.VJob, rank, &r.Members[rank]); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) member(id cluster.VJobID, rank int, m *gang.Member) error {
	n, err := t.place(id, rank, m)
	if err == nil && n == 0 {
		if err = t.members(id); err == nil {
			_, err = t.place(id, rank, m)
		}
	}
	if err != nil || m.Image == nil {
		return err
	}
	i := m.Image
	return t.exec(`INSERT INTO images (vjob, rank, generation, attempt, node, size_bytes, checksum, incarnation)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		int64(id), rank, i.ID.Generation, i.ID.Attempt, string(i.Node), i.Bytes, i.Checksum, i.Incarnation)
}

// place writes where a VM is. It returns 0 if the VMs of the vjob have no rows yet.
func (t *tx) place(id cluster.VJobID, rank int, m *gang.Member) (int64, error) {
	return t.change("UPDATE vms SET node = ?, next_node = ?, ended = ?, exit_status = ?, save_attempt = ? WHERE vjob = ? AND rank = ?",
		string(m.Node), string(m.Next), m.Ended, m.Exit.String(), m.Save, int64(id), rank)
}

// members creates the rows of the VMs of a vjob, which lack them until one of them has a place.
func (t *tx) members(id cluster.VJobID) error {
	return t.exec(`INSERT INTO vms (vjob, rank, cpu_milli, memory_mib, payload)
		SELECT ?1, key, value ->> 0, value ->> 1, value ->> 2
		FROM json_each((SELECT json FROM specs JOIN vjobs ON vjobs.spec = specs.spec WHERE id = ?1), '$.vms')`, int64(id))
}

func (t *tx) intents(list []journal.Intent) error {
	if len(list) == 0 {
		return nil
	}
	var epoch int64
	if _, err := t.row("SELECT value FROM meta WHERE name = 'epoch'", nil, &epoch); err != nil {
		return err
	}
	for i := range list {
		if err := checkEpoch(&list[i], epoch); err != nil {
			return err
		}
		if err := t.intent(&list[i]); err != nil {
			return fmt.Errorf("intent %d: %w", list[i].Call.Op, err)
		}
	}
	return nil
}

func (t *tx) intent(i *journal.Intent) error {
	c := &i.Call
	image := ""
	if c.Image != (hypervisor.ImageID{}) {
		image = c.Image.String()
	}
	return t.exec(`INSERT INTO intents (op, plan, epoch, at_ns, verb, vjob, rank, node, to_node, image, checksum, attempt,
		stamp_incarnation, stamp_epoch) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		int64(c.Op), orNull(i.Plan), i.Epoch, nanos(i.At), c.Verb.String(), int64(c.VM.VJob), c.VM.Rank,
		string(c.Node), string(c.To), image, c.Checksum, c.Attempt, c.Stamp.Incarnation, c.Stamp.Epoch)
}

func (t *tx) result(r *journal.Result) error {
	n, err := t.change("UPDATE intents SET began_ns = ?, ended_ns = ?, error = ? WHERE op = ? AND error IS NULL",
		nanos(r.Began), nanos(r.Ended), r.Error, int64(r.Op))
	if err != nil || n == 1 {
		return err
	}
	var op int64
	found, err := t.row("SELECT op FROM intents WHERE op = ?", []any{int64(r.Op)}, &op)
	switch {
	case err != nil:
		return err
	case found:
		return duplicateResult(r.Op)
	}
	return notFound("intent", r.Op)
}

func (t *tx) usage(u *journal.Usage) error {
	err := t.exec(`INSERT INTO accounts (vjob, running_ns, crowded_ns, cpu_ns, wanted_ns, memory_mib_seconds, energy_joules,
			reserved_milliseconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (vjob) DO UPDATE SET running_ns = running_ns + excluded.running_ns, crowded_ns = crowded_ns + excluded.crowded_ns,
			cpu_ns = cpu_ns + excluded.cpu_ns, wanted_ns = wanted_ns + excluded.wanted_ns,
			memory_mib_seconds = memory_mib_seconds + excluded.memory_mib_seconds, energy_joules = energy_joules + excluded.energy_joules,
			reserved_milliseconds = reserved_milliseconds + excluded.reserved_milliseconds`, // unknown stays unknown
		int64(u.VJob), int64(u.Running), int64(u.Crowded), int64(u.CPU), int64(u.Wanted), u.MemorySec, u.Joules, u.Reserved)
	if err != nil {
		return fmt.Errorf("account of vjob %s: %w", u.VJob, err)
	}
	return nil
}
