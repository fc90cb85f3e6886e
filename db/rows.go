package db

import (
	"database/sql"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

const (
	rowColumns = `id, owner, name, submitted_ns, priority, walltime_ns, state, held, hold, vjobs.cause, version,
		queue, project, pool, moves, array, array_index, parameter, replaces, attempts, outcome, vjobs.exit_status, started_ns, ended_ns, vm_count, cpu_milli, memory_mib, running_ns, crowded_ns, cpu_ns, wanted_ns, memory_mib_seconds, energy_joules`
	rowTables = " FROM vjobs LEFT JOIN accounts ON accounts.vjob = vjobs.id"
)

// rowReader reads rows of rowColumns, and more. It reads all of them into the same variables: a row costs little beside its
// vjob, and shares with the row before what is equal.
type rowReader struct {
	row            journal.Row
	job            cluster.VJob
	terms          rowTerms
	state, outcome sql.RawBytes
	to             []any
}

func newRowReader(more ...any) *rowReader {
	r := &rowReader{job: cluster.VJob{Terms: &cluster.Terms{}}}
	row, j, t := &r.row, &r.job, &r.terms
	r.to = append([]any{
		number[cluster.VJobID]{&j.ID},
		repeated{&j.Owner},
		&j.Name,
		instant{&j.Submitted},
		number[int]{&j.Priority},
		number[time.Duration]{&j.Walltime},
		&r.state, &j.Held,
		&cause{c: &j.Hold},
		&cause{c: &j.Cause},
		number[int]{&j.Version},
		repeated{&t.queue},
		repeated{&t.project},
		repeated{&t.pool},
		moveMode{&t.moves},
		number[cluster.VJobID]{&j.Array},
		number[int]{&j.Index},
		&j.Parameter,
		number[cluster.VJobID]{&j.Replaces},
		number[int]{&j.Attempts},
		&r.outcome,
		exitStatus{&j.Exit},
		instant{&row.Started},
		instant{&row.Ended},
		number[int]{&row.Size},
		number[cluster.MilliCPU]{&row.Reserved.CPU},
		number[cluster.MiB]{&row.Reserved.Memory},
		number[time.Duration]{&row.Account.Running},
		number[time.Duration]{&row.Account.Crowded},
		number[time.Duration]{&row.Account.CPU},
		number[time.Duration]{&row.Account.Wanted},
		number[int64]{&row.Account.MemorySec},
		number[int64]{&row.Account.Joules},
	}, more...)
	return r
}

// read returns the next row.
func (r *rowReader) read(s row) (journal.Row, error) {
	if err := s.Scan(r.to...); err != nil {
		return journal.Row{}, err
	}
	if err := r.job.State.UnmarshalText(r.state); err != nil {
		return journal.Row{}, err
	}
	if err := r.job.Outcome.UnmarshalText(r.outcome); err != nil {
		return journal.Row{}, err
	}
	r.job.Terms = r.terms.in(r.job.Terms)
	row, job := r.row, r.job
	row.VJob, row.Account.VJob = &job, job.ID
	return row, nil
}

// rowTerms are the terms in the row of a vjob: those that lists show, and those that change.
type rowTerms struct {
	queue, project, pool string
	moves                cluster.MoveMode
}

// in returns terms with those of a row: the given ones if they have these, so that vjobs share what is equal.
func (t *rowTerms) in(terms *cluster.Terms) *cluster.Terms {
	if terms.Queue == t.queue && terms.Project == t.project && terms.Pool == t.pool && terms.Moves == t.moves {
		return terms
	}
	own := *terms
	own.Queue, own.Project, own.Pool, own.Moves = t.queue, t.project, t.pool, t.moves
	return &own
}

// repeated reads a text that most rows have in common: one that is as before stays in memory once.
type repeated struct{ to *string }

// Scan implements sql.Scanner.
func (r repeated) Scan(v any) error {
	if text, _ := v.(string); text != *r.to {
		*r.to = text
	}
	return nil
}

// cause reads one that [cluster.Cause.Encode] wrote. One that is as before is not decoded again.
type cause struct {
	c    **cluster.Cause
	text string // of *c
}

// Scan implements sql.Scanner.
func (c *cause) Scan(v any) error {
	if text, _ := v.(string); text != c.text {
		*c.c, c.text = cluster.DecodeCause(text), text
	}
	return nil
}
