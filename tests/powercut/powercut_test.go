//go:build linux && (amd64 || arm64)

package powercut_test

import (
	"bytes"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/tests/pace"
	"vjob/tests/powercut"
	"vjob/tests/powercut/disk"
)

var (
	cuts = flag.Int("cuts", 800/pace.Slower, "how many power cuts to make in TestDatabase")
	seed = flag.Uint64("seed", 1, "which cuts")
)

// TestDatabase cuts the power of the database and looks for all that was acknowledged.
// Then it leaves out each kind of sync in turn: a cut must break a promise, or that
// sync, and this test, would be for nothing.
func TestDatabase(t *testing.T) {
	recordings := record(t)
	campaign(t, recordings, *cuts)
	for name, forgets := range map[string]func(name string, isFolder bool) bool{
		"of the WAL, as synchronous=NORMAL does": func(name string, _ bool) bool { return strings.HasSuffix(name, "-wal") },
		"of the database":                        func(name string, _ bool) bool { return name == databaseName },
		"of backups":                             func(name string, _ bool) bool { return strings.Contains(name, "backup") },
		"of folders":                             func(_ string, isFolder bool) bool { return isFolder },
	} {
		t.Run("without syncs "+name, func(t *testing.T) { forgetful(t, recordings, forgets) })
	}
}

// forgetful wants a violation.
func forgetful(t *testing.T, recordings []powercut.Recording, forgets func(name string, isFolder bool) bool) {
	t.Helper()
	broken := slices.Clone(recordings)
	for i := range broken {
		broken[i].Log = broken[i].Log.Without(forgets)
	}
	c := powercut.Campaign{Recordings: broken, Seed: *seed, Cuts: 64, Workers: runtime.GOMAXPROCS(0), Folder: scratch(t), Check: checkDatabase}
	violations, err := c.Run()
	if err != nil {
		t.Fatal(err)
	}
	if len(violations) == 0 {
		t.Fatalf("%d cuts, and nothing was lost", c.Cuts)
	}
	t.Logf("%d of %d cuts lost something, as %v", len(violations), c.Cuts, violations[0])
}

// record records each workload, and what the daemon does after some of their cuts: the
// power may go again while it recovers.
func record(t *testing.T) []powercut.Recording {
	t.Helper()
	var list []powercut.Recording
	var first disk.Log // the first process alone: what comes after a cut of it is new
	for _, name := range slices.Sorted(maps.Keys(workloads)) {
		folder, log := t.TempDir(), &disk.Log{}
		if name == "migration" {
			old(t, filepath.Join(folder, stateName))
		}
		for part := range workloads[name] {
			run(t, log, folder, name, part)
			if len(first.Ops) == 0 {
				first = *log
			}
		}
		list = append(list, powercut.Recording{Name: name, Log: log})
	}
	random := rand.New(rand.NewPCG(*seed, 0))
	for _, profile := range disk.Profiles {
		folder, instant := t.TempDir(), first.Start+random.IntN(len(first.Ops)-first.Start)
		if err := powercut.Rebuild(folder, disk.Cut(&first, instant, profile, random)); err != nil {
			t.Fatal(err)
		}
		log := &disk.Log{}
		for _, text := range first.Marks(instant) {
			log.Append(disk.Op{Kind: disk.Mark, Text: text})
		}
		run(t, log, folder, list[0].Name, 1)
		list = append(list, powercut.Recording{Name: fmt.Sprintf("after a cut at %d, %s", instant, profile), Log: log})
	}
	for _, r := range list {
		t.Logf("%s: %d operations, %d of them marks", r.Name, len(r.Log.Ops)-r.Log.Start, len(r.Log.Marks(len(r.Log.Ops))))
	}
	return list
}

// run records one process of a workload.
func run(t *testing.T, log *disk.Log, folder, name string, part int) {
	t.Helper()
	env := append(os.Environ(), fmt.Sprintf("%s=%s %d", workloadVariable, name, part), folderVariable+"="+folder)
	if err := powercut.Record(log, folder, os.Args[0], nil, env); err != nil {
		t.Fatal(err)
	}
	faithful(t, log, folder)
}

// faithful wants the recording to give the files that the program has left, but for the
// index of the WAL, which it wrote through a mapping.
func faithful(t *testing.T, log *disk.Log, folder string) {
	t.Helper()
	all := &disk.Log{Ops: slices.Clone(log.Ops), Start: log.Start}
	inodes := []int{disk.Root}
	for i := range log.Ops {
		if op := &log.Ops[i]; op.Kind == disk.Create {
			inodes = append(inodes, op.Inode)
		}
	}
	for _, inode := range inodes {
		all.Append(disk.Op{Kind: disk.Sync, Inode: inode, Since: len(log.Ops)})
	}
	tree := disk.Cut(all, len(all.Ops), disk.Adversarial, rand.New(rand.NewPCG(1, 1)))
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(folder, path)
		if err != nil || e.IsDir() || strings.HasSuffix(name, "-shm") {
			delete(tree.Files, name)
			return err
		}
		want, err := os.ReadFile(path)
		got, recorded := tree.Files[name]
		if !recorded || !bytes.Equal(got, want) {
			t.Errorf("%s has %d bytes; the recording has %d others", name, len(want), len(got))
		}
		delete(tree.Files, name)
		return err
	})
	if err != nil || len(tree.Files) > 0 {
		t.Errorf("the recording has %d files more, %v", len(tree.Files), err)
	}
}

// campaign makes cuts and reports the violations.
func campaign(t *testing.T, recordings []powercut.Recording, cuts int) {
	t.Helper()
	begin := time.Now()
	told := begin
	c := powercut.Campaign{
		Recordings: recordings, Seed: *seed, Cuts: cuts, Workers: runtime.GOMAXPROCS(0), Folder: scratch(t), Check: checkDatabase,
		Progress: func(done, violations int) {
			if now := time.Now(); now.Sub(told) > 10*time.Second {
				told = now
				t.Logf("%d of %d cuts, %.0f each second, %d violations", done, cuts, float64(done)/now.Sub(begin).Seconds(), violations)
			}
		},
	}
	violations, err := c.Run()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations[:min(len(violations), 10)] {
		t.Error(v)
	}
	t.Logf("seed %d: %d cuts in %s, %d violations", *seed, cuts, time.Since(begin).Round(time.Millisecond), len(violations))
}

// scratch is a folder in memory, if the machine has one.
func scratch(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("/dev/shm", "powercut") //nolint:usetesting // TempDir may be on a disk, which is slow
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// old makes a database of the first schema.
func old(t *testing.T, state string) {
	t.Helper()
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := sql.Open("sqlite3", "file:"+filepath.Join(state, databaseName)+"?_journal_mode=WAL")
	if err != nil {
		t.Fatal(err)
	}
	steps := []string{
		read(t, "../../db/migrations/0001_base.sql"),
		"PRAGMA application_id = 0x766a6f62; PRAGMA user_version = 1; DELETE FROM meta",
		read(t, "../../db/testdata/schema-1.sql"),
	}
	_, err = d.ExecContext(t.Context(), strings.Join(steps, ";\n"))
	if err := errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
