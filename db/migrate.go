package db

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// applicationID marks a file as ours ("vjob" in ASCII).
const applicationID = 0x766a6f62

//go:embed migrations/*.sql
var embedded embed.FS

// builtin returns the migrations of this program.
func builtin() fs.FS {
	sub, err := fs.Sub(embedded, "migrations")
	if err != nil {
		panic(err) // the directive above has this name
	}
	return sub
}

// migration is one numbered step of the schema: 0001_base.sql leads to version 1.
type migration struct {
	version int
	name    string
	sql     string
}

// readMigrations lists the migrations in order; their numbers must count from 1 without a gap.
func readMigrations(dir fs.FS) ([]migration, error) {
	names, err := fs.Glob(dir, "*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	list := make([]migration, len(names))
	for i, name := range names {
		if want := fmt.Sprintf("%04d_", i+1); !strings.HasPrefix(name, want) {
			return nil, fmt.Errorf("migration %s: want a name that begins with %s", name, want)
		}
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		list[i] = migration{i + 1, name, string(text)}
	}
	return list, nil
}

// migrate brings the schema to the newest version. Each step is one transaction together with
// its number, so that a crash leaves one version or the next. A database with data is backed
// up before. A newer schema, or a file of another program, is an error and stays untouched.
func migrate(ctx context.Context, conn *sql.Conn, path string, dir fs.FS) error {
	all, err := readMigrations(dir)
	if err != nil {
		return err
	}
	version, err := schemaVersion(ctx, conn)
	switch {
	case err != nil:
		return err
	case version > len(all):
		return fmt.Errorf("its schema has version %d, this vjobd supports versions up to %d: use a newer vjobd", version, len(all))
	case version == len(all):
		return nil
	case version > 0:
		if err := backup(ctx, conn, fmt.Sprintf("%s.schema-%d.backup", path, version)); err != nil {
			return fmt.Errorf("backup before the migration: %w", err)
		}
	}
	for _, m := range all[version:] {
		if err := m.apply(ctx, conn); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
	}
	return nil
}

// schemaVersion is 0 for an empty file.
func schemaVersion(ctx context.Context, conn *sql.Conn) (int, error) {
	var version, application, tables int
	err := conn.QueryRowContext(ctx, "SELECT (SELECT user_version FROM pragma_user_version), "+
		"(SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema)").
		Scan(&version, &application, &tables)
	switch {
	case err != nil:
		return 0, explain(err)
	case application == applicationID && version > 0, version == 0 && tables == 0:
		return version, nil
	default:
		return 0, errors.New("it is the database of another program: choose another file")
	}
}

func (m migration) apply(ctx context.Context, conn *sql.Conn) error {
	steps := []string{
		"BEGIN IMMEDIATE", m.sql,
		fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		fmt.Sprintf("PRAGMA user_version = %d", m.version),
	}
	for _, s := range steps {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return errors.Join(explain(err), rollback(ctx, conn))
		}
	}
	if err := foreignKeys(ctx, conn); err != nil {
		return errors.Join(err, rollback(ctx, conn))
	}
	if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
		return errors.Join(explain(err), rollback(ctx, conn))
	}
	return nil
}

// rollback ends a failed transaction, unless SQLite has ended it already.
func rollback(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "ROLLBACK")
	if err != nil && strings.Contains(err.Error(), "no transaction") {
		return nil
	}
	return explain(err)
}
