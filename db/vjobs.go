package db

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
)

// live is the condition of the partial indexes; SQLite uses them only for queries with exactly
// this text.
const live = "state NOT IN ('terminated', 'failed')"

// VJobs lists vjobs without their VMs, rules and payloads. The total counts all vjobs that match the filter, regardless
// of its limit; behind a cursor it is 0.
func (d *DB) VJobs(ctx context.Context, f journal.Filter) (rows []journal.Row, total int, err error) {
	where, args := conditions(&f)
	if f.Fold {
		where, args = foldCondition(where, args)
	}
	err = d.snapshot(ctx, func(r *snapshot) error {
		if f.Cursor == 0 {
			if err := r.one("SELECT count(*) FROM vjobs"+where, args, &total); err != nil {
				return err
			}
			rows = make([]journal.Row, 0, min(total, cmp.Or(f.Limit, total)))
		}
		tail, args := page(&f, where, args)
		if f.Terms {
			rows, err = r.withTerms(rows, tail, args)
		} else {
			err = r.each("SELECT "+rowColumns+rowTables+tail, args, func(s row) error {
				row, err := scanRow(s)
				rows = append(rows, row)
				return err
			})
		}
		if err == nil && f.Fold {
			err = r.countFolded(rows)
		}
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list vjobs: %w", err)
	}
	return rows, total, nil
}

// page returns the end of a query for the rows of a page.
func page(f *journal.Filter, where string, args []any) (string, []any) {
	place, operator, order := "id", " > ?", ""
	if f.Fold {
		place = "iif(array = 0, id, array)" // as in the index vjobs_place
	}
	if f.Newest {
		operator, order = " < ?", " DESC"
	}
	if f.Cursor != 0 {
		and := " WHERE "
		if where != "" {
			and = where + " AND "
		}
		where, args = and+place+operator, append(slices.Clip(args), int64(f.Cursor))
	}
	return where + " ORDER BY " + place + order + " LIMIT ?", append(slices.Clip(args), cmp.Or(f.Limit, -1))
}

// VJob returns a vjob with its VMs, gang and account.
func (d *DB) VJob(ctx context.Context, id cluster.VJobID) (journal.Kept, error) {
	var kept journal.Kept
	err := d.snapshot(ctx, func(r *snapshot) error {
		list, err := r.whole("WHERE vjobs.id = ?", int64(id))
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return cluster.ErrNotFound
		}
		kept = *list[0]
		return nil
	})
	if err != nil {
		return journal.Kept{}, fmt.Errorf("vjob %s: %w", id, err)
	}
	return kept, nil
}

// Notified lists those of some vjobs that have addresses to notify, in order, with their terms.
func (d *DB) Notified(ctx context.Context, ids []cluster.VJobID) (rows []journal.Row, err error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	err = d.snapshot(ctx, func(r *snapshot) (err error) {
		rows, err = r.withTerms(rows, ` WHERE id IN (SELECT value FROM json_each(?))
			AND specs.json ->> '$.terms.notify' IS NOT NULL ORDER BY id`, []any{string(list)})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list vjobs with addresses: %w", err)
	}
	return rows, nil
}

const (
	rowColumns = `id, owner, name, submitted_ns, priority, walltime_ns, state, held, hold, cause, version,
		queue, project, pool, moves, array, array_index, parameter, replaces, attempts, outcome, vjobs.exit_status, started_ns, ended_ns, vm_count, cpu_milli, memory_mib, running_ns, crowded_ns, cpu_ns, wanted_ns, memory_mib_seconds, energy_joules`
	rowTables = " FROM vjobs LEFT JOIN accounts ON accounts.vjob = vjobs.id"
)

// scanRow reads rowColumns, then more.
func scanRow(s row, more ...any) (journal.Row, error) {
	row := journal.Row{VJob: &cluster.VJob{}}
	j := row.VJob
	var state, outcome sql.RawBytes
	err := s.Scan(append([]any{
		&j.ID, &j.Owner, &j.Name,
		instant{&j.Submitted},
		&j.Priority, &j.Walltime, &state, &j.Held,
		cause{&j.Hold},
		cause{&j.Cause},
		&j.Version,
		&j.Queue, &j.Project, &j.Pool,
		moveMode{&j.Moves},
		&j.Array, &j.Index, &j.Parameter, &j.Replaces, &j.Attempts, &outcome,
		exitStatus{&j.Exit},
		instant{&row.Started},
		instant{&row.Ended},
		&row.Size, &row.Reserved.CPU, &row.Reserved.Memory,
		number[time.Duration]{&row.Account.Running},
		number[time.Duration]{&row.Account.Crowded},
		number[time.Duration]{&row.Account.CPU},
		number[time.Duration]{&row.Account.Wanted},
		number[int64]{&row.Account.MemorySec},
		number[int64]{&row.Account.Joules},
	}, more...)...)
	if err != nil {
		return row, err
	}
	row.Account.VJob = j.ID
	if err := j.State.UnmarshalText(state); err != nil {
		return row, err
	}
	return row, j.Outcome.UnmarshalText(outcome)
}

// withTerms reads rows with the terms of their vjobs.
func (r *snapshot) withTerms(rows []journal.Row, tail string, args []any) ([]journal.Row, error) {
	var last []byte // the terms before: those of many vjobs are equal
	var terms cluster.Terms
	query := "SELECT " + rowColumns + ", coalesce(json -> '$.terms', '{}')" + rowTables + " JOIN specs ON specs.spec = vjobs.spec" + tail
	err := r.each(query, args, func(s row) error {
		var raw sql.RawBytes
		row, err := scanRow(s, &raw)
		if err == nil && !bytes.Equal(raw, last) {
			last = append(last[:0], raw...)
			terms, err = decodeTerms(raw)
		}
		queue, project, pool, moves := row.Queue, row.Project, row.Pool, row.Moves
		row.Terms = terms // shared and never changed
		row.Queue, row.Project, row.Pool, row.Moves = queue, project, pool, moves
		rows = append(rows, row)
		return err
	})
	return rows, err
}

// whole loads vjobs with their VMs, rules and gangs, in order. The condition is
// on the table vjobs.
func (r *snapshot) whole(condition string, args ...any) ([]*journal.Kept, error) {
	var list []*journal.Kept
	var specs []*decoded
	query := "SELECT " + rowColumns + ", vjobs.spec, json, shape" + rowTables + " JOIN specs ON specs.spec = vjobs.spec " + condition + " ORDER BY id"
	var last int64 // the spec before: those of an array share one
	err := r.each(query, args, func(s row) error {
		var id int64
		var shape int
		var raw sql.RawBytes
		row, err := scanRow(s, &id, &raw, &shape)
		if err != nil {
			return err
		}
		row.Shape = shape
		list = append(list, &journal.Kept{Row: row})
		if len(specs) > 0 && id == last {
			specs = append(specs, specs[len(specs)-1])
			return nil
		}
		sp, err := decodeSpec(raw)
		specs, last = append(specs, &sp), id
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := r.gangs(list, condition, args); err != nil {
		return nil, err
	}
	if err := r.members(list, specs, condition, args); err != nil {
		return nil, err
	}
	for i := range list {
		pool, moves := list[i].Pool, list[i].Moves
		list[i].Rules, list[i].Terms, list[i].Origin = specs[i].Rules, specs[i].Terms.current().Clone(), specs[i].Origin
		list[i].Pool, list[i].Moves = pool, moves
		if shape := list[i].Shape; shape > 0 && shape < len(list[i].Shapes) {
			list[i].VJob = list[i].WithShape(shape)
		}
	}
	return list, nil
}

// gangs fills in the gangs of a list, which is in order, from one query.
func (r *snapshot) gangs(list []*journal.Kept, condition string, args []any) error {
	i := 0
	query := `SELECT vjob, phase, continuation, since_ns, boots, incarnation, generation, used, restores, losses, gangs.cause, skew_ns, kept
		FROM vjobs JOIN gangs ON gangs.vjob = vjobs.id ` + condition + " ORDER BY vjobs.id"
	err := r.each(query, args, func(s row) error {
		if i >= len(list) {
			return fmt.Errorf("a gang without its vjob")
		}
		g := &list[i].Gang
		i++
		var phase, then, kept sql.RawBytes
		err := s.Scan(&g.VJob, &phase, &then, instant{&g.Since}, &g.Boots, &g.Incarnation, &g.Generation, &g.UsedUpTo,
			&g.Restores, &g.Losses, cause{&g.Cause}, &g.Skew, &kept)
		if err != nil {
			return err
		}
		if g.Kept, err = decodeKept(kept); err != nil {
			return err
		}
		if g.VJob != list[i-1].ID {
			return fmt.Errorf("vjob %s has no gang", list[i-1].ID)
		}
		if err := g.Phase.UnmarshalText(phase); err != nil {
			return err
		}
		return g.Then.UnmarshalText(then)
	})
	if err == nil && i < len(list) {
		err = fmt.Errorf("vjob %s has no gang", list[i].ID)
	}
	return err
}

// members fills in VMs and gang members of a list from one query. VMs of vjobs that have
// never had a place stand in the specification only.
func (r *snapshot) members(list []*journal.Kept, specs []*decoded, condition string, args []any) error {
	i := 0
	query := `SELECT vms.vjob, vms.rank, vms.cpu_milli, vms.memory_mib, vms.payload, vms.node, vms.next_node, vms.ended, vms.exit_status,
			vms.save_attempt, images.generation, images.attempt, images.node, images.size_bytes, images.checksum, images.incarnation
		FROM vjobs JOIN vms ON vms.vjob = vjobs.id
		LEFT JOIN images ON images.vjob = vms.vjob AND images.rank = vms.rank ` + condition + " ORDER BY vms.vjob, vms.rank"
	var v vmRow
	err := r.each(query, args, func(s row) error {
		if err := v.scan(s); err != nil {
			return err
		}
		for i < len(list) && list[i].ID < v.vm.ID.VJob {
			i++
		}
		if i == len(list) || list[i].ID != v.vm.ID.VJob || len(list[i].VMs) != v.vm.ID.Rank || v.payload >= len(specs[i].Payloads) {
			return fmt.Errorf("VM %s does not fit its vjob", v.vm.ID)
		}
		if v.vm.ID.Rank == 0 {
			list[i].VMs = make([]cluster.VM, 0, list[i].Size)
			list[i].Gang.Members = make([]gang.Member, 0, list[i].Size)
		}
		v.vm.Payload = specs[i].Payloads[v.payload]
		list[i].VMs = append(list[i].VMs, v.vm)
		list[i].Gang.Members = append(list[i].Gang.Members, v.member)
		return nil
	})
	for i := range list {
		if len(list[i].VMs) == 0 {
			list[i].VMs = specs[i].members(list[i].ID)
			list[i].Gang.Members = make([]gang.Member, len(list[i].VMs))
		}
		if err == nil && len(list[i].VMs) != list[i].Size {
			err = fmt.Errorf("vjob %s has %d VMs of %d", list[i].ID, len(list[i].VMs), list[i].Size)
		}
	}
	return err
}

// vmRow is a row of the table vms with its image.
type vmRow struct {
	vm      cluster.VM
	member  gang.Member
	payload int
}

// scan reads the next row over the last one.
func (v *vmRow) scan(s row) error {
	v.vm, v.member = cluster.VM{}, gang.Member{}
	var image gang.Image
	var generation, attempt, incarnation int64
	var node, checksum sql.NullString
	err := s.Scan(&v.vm.ID.VJob, &v.vm.ID.Rank, &v.vm.Reserved.CPU, &v.vm.Reserved.Memory, &v.payload,
		&v.member.Node, &v.member.Next, &v.member.Ended,
		exitStatus{&v.member.Exit},
		&v.member.Save,
		number[int64]{&generation}, number[int64]{&attempt}, &node, number[int64]{&image.Bytes}, &checksum, number[int64]{&incarnation})
	if err != nil || !node.Valid {
		return err
	}
	image.ID.VM, image.ID.Generation, image.ID.Attempt = v.vm.ID, int(generation), int(attempt)
	image.Node, image.Checksum, image.Incarnation = cluster.NodeID(node.String), checksum.String, int(incarnation)
	v.member.Image = &image
	return nil
}
