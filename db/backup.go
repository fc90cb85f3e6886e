package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/internal/fileio"
)

// Backup writes a consistent copy of the database to a new file, checks it and makes it
// durable, while other reads and writes go on. An existing file is ErrConflict.
func (d *DB) Backup(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("backup %s: the file exists: %w", path, cluster.ErrConflict)
	}
	// A connection of its own: query_only, which the readers have, forbids VACUUM INTO.
	err := with(ctx, dsn(d.path, "mode=ro&_busy_timeout=5000"), func(conn *sql.Conn) error {
		return backup(ctx, conn, path)
	})
	if err != nil {
		return fmt.Errorf("backup %s: %w", path, err)
	}
	return nil
}

// with opens a database while work runs.
func with(ctx context.Context, dsn string, work func(*sql.Conn) error) error {
	d, err := sql.Open("sqlite3", dsn)
	if err != nil {
		return err
	}
	conn, err := d.Conn(ctx)
	if err != nil {
		return errors.Join(explain(err), d.Close())
	}
	return errors.Join(work(conn), conn.Close(), d.Close())
}

// backup copies what the connection sees to path, through a partial file, so that a file of
// the final name is always complete.
func backup(ctx context.Context, conn *sql.Conn, path string) error {
	partial := path + ".partial"
	if err := os.Remove(partial); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	// Created here with its permissions: only the owner may read it.
	f, err := os.OpenFile(partial, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written through it
	if _, err := conn.ExecContext(ctx, "VACUUM INTO ?", partial); err != nil {
		return errors.Join(explain(err), os.Remove(partial))
	}
	finish := func(conn *sql.Conn) error { return errors.Join(skipNumbers(ctx, conn), integrity(ctx, conn)) }
	if err := errors.Join(with(ctx, dsn(partial, "mode=rw"), finish), f.Sync()); err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	if err := os.Rename(partial, path); err != nil {
		return err
	}
	return fileio.SyncDir(filepath.Dir(path))
}

// skippedNumbers is how many numbers of vjobs a backup skips.
const skippedNumbers = 1_000_000

// skipNumbers makes a backup continue with later numbers of vjobs. After a restore the database
// does not know the vjobs submitted since the backup. Their disks, images and machines bear
// their numbers and must not be taken for those of new vjobs.
func skipNumbers(ctx context.Context, conn *sql.Conn) error {
	for _, statement := range []string{
		"INSERT INTO sqlite_sequence (name, seq) SELECT 'vjobs', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'vjobs')",
		fmt.Sprintf("UPDATE sqlite_sequence SET seq = seq + %d WHERE name = 'vjobs'", skippedNumbers),
	} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return explain(err)
		}
	}
	return nil
}

// Check reads everything and returns what is wrong: damaged pages, dangling references, or
// tables that differ from the event log.
func (d *DB) Check(ctx context.Context) error {
	return d.snapshot(ctx, func(r *snapshot) error {
		if err := errors.Join(integrity(r.ctx, r.tx), foreignKeys(r.ctx, r.tx)); err != nil {
			return err
		}
		return errors.Join(replayed(r), counted(r))
	})
}

// counted compares the live vjobs of each owner with the counters in the table owners.
func counted(r *snapshot) error {
	var wrong int
	err := r.one(`WITH has AS (SELECT owner, count(*) AS vjobs, sum(vm_count) AS vms FROM vjobs WHERE `+live+` GROUP BY owner)
		SELECT count(*) FROM has FULL JOIN owners USING (owner) WHERE has.vjobs IS NOT owners.vjobs OR has.vms IS NOT owners.vms`, nil, &wrong)
	if err == nil && wrong > 0 {
		err = fmt.Errorf("the live vjobs of %d owners are counted wrongly: %w", wrong, cluster.ErrUnavailable)
	}
	return err
}

// integrity is SQLite's own check of its pages and indexes.
func integrity(ctx context.Context, conn queryer) error {
	var verdict string
	if err := conn.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return explain(err)
	}
	if verdict != "ok" {
		return fmt.Errorf("the database is damaged (%s); restore a backup: %w", verdict, cluster.ErrUnavailable)
	}
	return nil
}

// foreignKeys looks for rows that refer to nothing.
func foreignKeys(ctx context.Context, conn queryer) error {
	var table string
	err := conn.QueryRowContext(ctx, `SELECT "table" FROM pragma_foreign_key_check LIMIT 1`).Scan(&table)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return explain(err)
	}
	return fmt.Errorf("table %s has rows that refer to nothing: %w", table, cluster.ErrUnavailable)
}

// replayed replays the event log and compares its end with the table of vjobs.
func replayed(r *snapshot) error {
	pruned, err := r.pruned()
	if err != nil {
		return err
	}
	log := newLogReplay(pruned)
	var wrong error
	err = r.events("", nil, func(e journal.Event) {
		if wrong == nil {
			wrong = log.Add(e)
		}
	})
	if err = errors.Join(wrong, err); err != nil {
		return err
	}
	tables := map[cluster.VJobID]cluster.State{}
	err = r.each("SELECT id, state FROM vjobs", nil, func(s row) error {
		var id cluster.VJobID
		var name string
		if err := s.Scan(&id, &name); err != nil {
			return err
		}
		state, err := cluster.ParseState(name)
		tables[id] = state
		return err
	})
	return errors.Join(err, log.Compare(tables))
}

// pruned returns how far the history was deleted.
func (r *snapshot) pruned() (p prunedHistory, err error) {
	err = r.one(`SELECT (SELECT value FROM meta WHERE name = 'pruned_events'), (SELECT value FROM meta WHERE name = 'pruned_vjobs')`,
		nil, &p.Events, &p.VJobs)
	return p, err
}
