package db_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"vjob/cluster"
	"vjob/db"
	"vjob/tests/storetest"
)

// wants fails the test unless err contains all the words.
func wants(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one about %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

func TestOpenTwiceIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vjob.db")
	first := openDB(t, path)
	_, err := db.Open(path)
	wants(t, err, path, "another vjobd")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	openDB(t, path)
}

func TestOpenOddNames(t *testing.T) {
	for _, name := range []string{"a b.db", "what?.db", "50%.db", "a#b&c=d.db", "ü.db"} {
		path := filepath.Join(t.TempDir(), name)
		d := openDB(t, path)
		if _, _, err := d.Submit(t.Context(), storetest.Submission("x", 1)); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	for _, bad := range []string{"", ":memory:", "file:x.db?mode=memory"} {
		if _, err := db.Open(bad); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	_, err := db.Open(filepath.Join(t.TempDir(), "missing", "vjob.db"))
	wants(t, err, "no such file or directory")
}

func TestConnectionsAreSetUp(t *testing.T) {
	d := newDB(t)
	for pragma, want := range map[string]string{
		"synchronous": "2", "foreign_keys": "1", "journal_mode": "wal", "busy_timeout": "5000", "query_only": "0", "temp_store": "2",
	} {
		if got := pragmaOfWriter(t, d, pragma); got != want {
			t.Errorf("writer: %s is %s, want %s", pragma, got, want)
		}
	}
	var readOnly string
	if err := d.Query(t.Context(), "PRAGMA query_only", &readOnly); err != nil || readOnly != "1" {
		t.Errorf("readers: query_only is %s, %v", readOnly, err)
	}
}

// pragmaOfWriter reads a pragma on the connection of the writer, through a temporary table.
func pragmaOfWriter(t *testing.T, d *db.DB, pragma string) (value string) {
	t.Helper()
	ctx := t.Context()
	err := errors.Join(
		d.Exec(ctx, "CREATE TABLE IF NOT EXISTS seen (v)"), d.Exec(ctx, "DELETE FROM seen"),
		d.Exec(ctx, "INSERT INTO seen SELECT * FROM pragma_"+pragma), d.Query(ctx, "SELECT v FROM seen", &value),
	)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestVersionOfSQLite(t *testing.T) {
	for version, good := range map[string]bool{
		"3.51.3": true, "3.51.10": true, "3.53.4": true, "4.0.0": true,
		"3.51.2": false, "3.9.99": false, "3.46.1": false, "2.99.9": false, "?": false, "3.51": false,
	} {
		if err := db.NewEnough(version); (err == nil) != good {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// schemas returns the first built-in migrations and more.
func schemas(t *testing.T, first int, more map[string]string) fstest.MapFS {
	t.Helper()
	all := fstest.MapFS{}
	for _, name := range builtin()[:first] {
		all[name] = &fstest.MapFile{Data: must[[]byte](t)(fs.ReadFile(db.Builtin(), name))}
	}
	for name, text := range more {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return all
}

// each is the number of built-in migrations.
var each = len(builtin())

func builtin() []string {
	names, err := fs.Glob(db.Builtin(), "*.sql")
	if err != nil {
		panic(err)
	}
	return names
}

// after names the nth migration after the built-in ones.
func after(n int, what string) string { return fmt.Sprintf("%04d_%s.sql", each+n, what) }

// old creates a database of an old schema with the data of its time.
func old(t *testing.T, path string, schema int) {
	t.Helper()
	d := must[*db.DB](t)(db.OpenWith(path, schemas(t, schema, nil)))
	data := must[[]byte](t)(os.ReadFile(fmt.Sprintf("testdata/schema-%d.sql", schema)))
	err := d.Exec(t.Context(), "PRAGMA defer_foreign_keys = on; DELETE FROM meta; DELETE FROM sqlite_sequence;"+string(data))
	if err := errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestMigrateOlder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vjob.db")
	d := must[*db.DB](t)(db.OpenWith(path, schemas(t, each, nil)))
	submitted(t)(d.Submit(t.Context(), storetest.Submission("kept", 2)))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	next := schemas(t, each, map[string]string{
		after(1, "color"): "ALTER TABLE nodes ADD COLUMN color TEXT NOT NULL DEFAULT 'red'; CREATE TABLE extra (a INTEGER) STRICT;",
	})
	for range 2 { // the second time there is nothing to do
		d = must[*db.DB](t)(db.OpenWith(path, next))
		if l := loaded(t, d); len(l.VJobs) != 1 {
			t.Errorf("%d vjobs after the migration", len(l.VJobs))
		}
		if err := errors.Join(d.Check(t.Context()), d.Exec(t.Context(), "INSERT INTO extra VALUES (1)"), d.Close()); err != nil {
			t.Fatal(err)
		}
	}
	kept := must[*db.DB](t)(db.OpenWith(fmt.Sprintf("%s.schema-%d.backup", path, each), schemas(t, each, nil))) // the backup has the old schema and the data
	if l := loaded(t, kept); len(l.VJobs) != 1 {
		t.Errorf("%d vjobs in the backup", len(l.VJobs))
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := db.OpenWith(path, schemas(t, each, nil))
	wants(t, err, path, fmt.Sprint("schema has version ", each+1), fmt.Sprint("up to ", each), "newer vjobd")
}

// Rules were lists of objects until schema 2.
func TestMigrateRules(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vjob.db")
	old(t, path, 2)
	d := must[*db.DB](t)(db.Open(path))
	l := loaded(t, d)
	want := "continuous spread($VMS);\ngather({VM0, VM2});\ncontinuous ban({VM1}, {\"n1\", \"n-2\"});"
	if l.VJobs[0].Rules != want || l.VJobs[1].Rules != "" {
		t.Errorf("%q and %q, want %q", l.VJobs[0].Rules, l.VJobs[1].Rules, want)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestMigrationThatFailsChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vjob.db")
	d := must[*db.DB](t)(db.OpenWith(path, schemas(t, each, nil)))
	submitted(t)(d.Submit(t.Context(), storetest.Submission("kept", 1)))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"bad SQL":           "CREATE TABLE half (a); SELECT nonsense FROM nowhere;",
		"dangling rows":     "CREATE TABLE half (a); PRAGMA defer_foreign_keys = on; INSERT INTO gangs SELECT 99, phase, continuation, 0, 0, 0, 0, 0, '', 0 FROM gangs;",
		"a constraint fail": "CREATE TABLE half (a); INSERT INTO users VALUES ('x', 'noname');",
	} {
		_, err := db.OpenWith(path, schemas(t, each, map[string]string{after(1, "bad"): text}))
		wants(t, err, "migration "+after(1, "bad"))
		d = must[*db.DB](t)(db.OpenWith(path, schemas(t, each, nil)))
		var tables int
		if err := d.Query(t.Context(), "SELECT count(*) FROM sqlite_schema WHERE name = 'half'", &tables); err != nil || tables != 0 {
			t.Errorf("%s: half of it is there (%d, %v)", name, tables, err)
		}
		if err := errors.Join(d.Check(t.Context()), d.Close()); err != nil {
			t.Fatal(err)
		}
	}
	_, err := db.OpenWith(path, schemas(t, each, map[string]string{after(2, "gap"): ""}))
	wants(t, err, after(2, "gap"), after(1, "gap")[:5])
}

func TestOpenForeignFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	other := must[*sql.DB](t)(sql.Open("sqlite3", path))
	if _, err := other.ExecContext(t.Context(), "CREATE TABLE theirs (a)"); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := db.Open(path)
	wants(t, err, path, "another program")

	text := filepath.Join(t.TempDir(), "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = db.Open(text)
	wants(t, err, text, "not a database")
}

func TestBackup(t *testing.T) {
	d := newDB(t)
	submitted(t)(d.Submit(t.Context(), storetest.Submission("kept", 2)))
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := d.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	submitted(t)(d.Submit(t.Context(), storetest.Submission("later", 2)))
	if err := d.Backup(t.Context(), path); !errors.Is(err, cluster.ErrConflict) {
		t.Errorf("over an existing file: %v", err)
	}
	c := openDB(t, path)
	if l := loaded(t, c); len(l.VJobs) != 1 || l.VJobs[0].Name != "kept" {
		t.Errorf("the copy has %d vjobs", len(l.VJobs))
	}
	if info := must[os.FileInfo](t)(os.Stat(path)); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	// The backup does not know the later vjob. Its disks and images may still exist.
	if again := submitted(t)(c.Submit(t.Context(), storetest.Submission("another", 1))); again.ID != 1_000_002 {
		t.Errorf("the number after %d is %s in the copy: it may have been given since", 1, again.ID)
	}
	if err := c.Check(t.Context()); err != nil {
		t.Errorf("the copy, after a gap in its numbers: %v", err)
	}
	if own := submitted(t)(d.Submit(t.Context(), storetest.Submission("own", 1))); own.ID != 3 {
		t.Errorf("the backup changed its original: the next vjob is %s", own.ID)
	}
	empty := newDB(t)
	path = filepath.Join(t.TempDir(), "empty.db")
	if err := empty.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if first := submitted(t)(openDB(t, path).Submit(t.Context(), storetest.Submission("first", 1))); first.ID != 1_000_001 {
		t.Errorf("the first number of an empty copy is %s", first.ID)
	}
}

func TestClosed(t *testing.T) {
	d := newDB(t)
	if err := errors.Join(d.Close(), d.Close()); err != nil {
		t.Fatal(err)
	}
	_, _, err := d.Submit(context.Background(), storetest.Submission("x", 1))
	if !errors.Is(err, cluster.ErrUnavailable) {
		t.Errorf("submit: %v", err)
	}
	if _, err := d.Users(context.Background()); !errors.Is(err, cluster.ErrUnavailable) {
		t.Errorf("users: %v", err)
	}
}
