package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"vjob/cluster"
	"vjob/internal/fileio"
	"vjob/scheduler"
)

// readers bounds concurrent reads.
const readers = 4

// DB is an open database. It is safe for concurrent use.
type DB struct {
	path   string
	lock   *lock
	single *sql.DB // one connection, lent to writer for good
	writer *writer
	read   *sql.DB // nil in memory: reads are then requests to the writer
	// reports has a place for the report being made: one at a time, so that the other readers stay free.
	reports chan struct{}
}

var _ scheduler.Store = (*DB)(nil)

// Open opens the database file, creates or migrates it, and locks out every other daemon until
// Close. Errors name the file and say what to do.
func Open(path string) (*DB, error) {
	return open(path, builtin())
}

func open(path string, migrations fs.FS) (*DB, error) {
	if path == "" || strings.HasPrefix(path, ":") || strings.HasPrefix(path, "file:") {
		return nil, cluster.BadField("database", path, "the path of a file")
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	d := &DB{path: full, reports: make(chan struct{}, 1)}
	if err := d.start(migrations); err != nil {
		return nil, errors.Join(fmt.Errorf("database %s: %w", full, err), d.Close())
	}
	return d, nil
}

func (d *DB) start(migrations fs.FS) error {
	ctx := context.Background()
	var err error
	if d.lock, err = acquire(d.path); err != nil {
		return err
	}
	if err := create(d.path); err != nil {
		return err
	}
	newest := func(ctx context.Context, conn *sql.Conn) error {
		if err := migrate(ctx, conn, d.path, migrations); err != nil {
			return err
		}
		_, err := conn.ExecContext(ctx, undoInMemory)
		return explain(err)
	}
	if err := d.connect(ctx, dsn(d.path, writerOptions), newest); err != nil {
		return err
	}
	if d.read, err = sql.Open("sqlite3", dsn(d.path, readerOptions)); err != nil {
		return err
	}
	d.read.SetMaxOpenConns(readers)
	d.read.SetMaxIdleConns(readers)
	return nil
}

// connect opens the connection of the writer and brings the schema to the newest version.
func (d *DB) connect(ctx context.Context, source string, newest func(context.Context, *sql.Conn) error) (err error) {
	if d.single, err = sql.Open("sqlite3", source); err != nil {
		return err
	}
	d.single.SetMaxOpenConns(1)
	conn, err := d.single.Conn(ctx)
	if err != nil {
		return explain(err)
	}
	err = requireSQLite(ctx, conn)
	if err == nil {
		err = newest(ctx, conn)
	}
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	d.writer = newWriter(ctx, conn)
	return nil
}

// Close waits for the write in progress, stops the writer and releases the file. Later calls
// get an error; closing twice does nothing.
func (d *DB) Close() error {
	var errs []error
	if d.writer != nil {
		d.writer.close()
		if err := d.writer.conn.Close(); !errors.Is(err, sql.ErrConnDone) {
			errs = append(errs, err)
		}
	}
	if d.read != nil { // before the writer: the last connection to close removes the WAL
		errs = append(errs, d.read.Close())
	}
	if d.single != nil {
		errs = append(errs, d.single.Close())
	}
	if d.lock != nil {
		if err := d.lock.release(); !errors.Is(err, os.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// The options of a connection are in its DSN, because a PRAGMA reaches only one connection of
// the pool. The driver's own default for synchronous is NORMAL, which loses acknowledged
// commits in a power cut. Connections do without the mutex that SQLite locks for each column: one goroutine at a time
// uses them.
const (
	writerOptions = "_mutex=no&_foreign_keys=on&_journal_mode=WAL&_busy_timeout=5000&_txlock=immediate&_synchronous=FULL&_stmt_cache_size=64"
	memoryOptions = "_mutex=no&_foreign_keys=on&_journal_mode=MEMORY&_synchronous=OFF&_stmt_cache_size=256"
	readerOptions = "mode=ro&_mutex=no&_query_only=on&_foreign_keys=on&_busy_timeout=5000&_stmt_cache_size=32"
)

// undoInMemory keeps the pages that a savepoint may have to restore in memory. Otherwise those of a batch go to a temporary
// file, which took more writes than the batch itself. It comes after the migrations, which may sort whole tables.
const undoInMemory = "PRAGMA temp_store = MEMORY"

func dsn(path, options string) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: options}
	return u.String()
}

// create creates the file, readable by its owner only: it holds scripts and hashes of secrets.
// The WAL inherits its mode.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return fileio.SyncDir(filepath.Dir(path))
}

// oldestSQLite is the first release without the bug by which a checkpoint beside
// a write loses committed pages in WAL mode (sqlite.org/wal.html, WAL-reset bug).
const oldestSQLite = "3.51.3"

func requireSQLite(ctx context.Context, conn *sql.Conn) error {
	var version string
	if err := conn.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return explain(err)
	}
	return newEnough(version)
}

func newEnough(version string) error {
	have, want := numbers(version), numbers(oldestSQLite)
	for i := range want {
		if have[i] != want[i] {
			if have[i] < want[i] {
				return fmt.Errorf("SQLite %s loses committed writes; build with %s or newer", version, oldestSQLite)
			}
			return nil
		}
	}
	return nil
}

// numbers parses a version such as "3.51.3"; a part that is not a number counts as 0.
func numbers(version string) (n [3]int) {
	for i, s := range strings.SplitN(version, ".", 3) {
		n[i], _ = strconv.Atoi(s)
	}
	return n
}
