//go:build linux && (amd64 || arm64)

package powercut_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/db"
	"vjob/hypervisor"
	"vjob/tests/powercut"
	"vjob/tests/storetest"
)

// ledger is what was acknowledged before a cut.
type ledger struct {
	jobs    map[cluster.VJobID]string // names
	states  map[cluster.VJobID]cluster.State
	ended   map[cluster.VJobID]bool // may be pruned
	epoch   int64
	intents map[hypervisor.OpID]bool    // false once a result is on its way
	tokens  map[string]string           // the last word about each
	backups map[string][]cluster.VJobID // what each must hold
	newest  string                      // of the backups that are complete
}

func newLedger(marks []string) (*ledger, error) {
	l := &ledger{
		jobs: map[cluster.VJobID]string{}, states: map[cluster.VJobID]cluster.State{}, ended: map[cluster.VJobID]bool{},
		intents: map[hypervisor.OpID]bool{}, tokens: map[string]string{},
		backups: map[string][]cluster.VJobID{},
	}
	for _, text := range marks {
		var w word
		if err := json.Unmarshal([]byte(text), &w); err != nil {
			return nil, err
		}
		if err := l.hear(w); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *ledger) hear(w word) (err error) {
	id := cluster.VJobID(w.ID)
	switch w.What {
	case "submitted":
		if _, known := l.jobs[id]; known {
			return fmt.Errorf("the number %d was given twice", w.ID)
		}
		l.jobs[id] = w.Name
	case "state":
		l.states[id], err = cluster.ParseState(w.Name)
	case "ended":
		l.ended[id] = true
	case "epoch":
		l.epoch = w.ID
	case "intended":
		l.intents[hypervisor.OpID(w.ID)] = true
	case "answered":
		l.intents[hypervisor.OpID(w.ID)] = false
	case "token", "revoking", "revoked":
		l.tokens[w.Name] = w.What
	case "copying":
		for id := range l.jobs {
			if !l.ended[id] {
				l.backups[w.Name] = append(l.backups[w.Name], id)
			}
		}
	case "copied":
		l.newest = w.Name
	default:
		return fmt.Errorf("unknown word %q", w.What)
	}
	return err
}

// checkDatabase opens what a cut has left as the daemon would and compares it with what
// was acknowledged.
func checkDatabase(folder string, r powercut.Recording, marks []string) (err error) {
	l, err := newLedger(marks)
	if err != nil {
		return err
	}
	d, err := openStore(folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Check(ctx()); err != nil {
		return err
	}
	if err := errors.Join(l.checkJobs(d), l.checkTokens(d)); err != nil {
		return err
	}
	if err := l.checkStart(d); err != nil {
		return err
	}
	if r.Name == "migration" {
		if err := checkOld(filepath.Join(folder, stateName, databaseName+".schema-1.backup")); err != nil {
			return err
		}
	}
	return l.checkBackup(folder)
}

// checkJobs looks for the vjobs, and that each and its array is whole.
func (l *ledger) checkJobs(d *db.DB) error {
	rows, _, err := d.VJobs(ctx(), journal.Filter{})
	if err != nil {
		return err
	}
	members, want := map[string]int{}, map[string]int{}
	kept := map[cluster.VJobID]cluster.State{}
	for _, row := range rows {
		kept[row.ID] = row.State
		vms, count, name := shape(row.Name)
		if name == "" {
			continue
		}
		members[name]++
		want[name] = count
		if row.Size != vms {
			return fmt.Errorf("vjob %s has %d VMs: want %d", row.Name, row.Size, vms)
		}
	}
	if !reflect.DeepEqual(members, want) {
		return fmt.Errorf("arrays have %v vjobs: want %v", members, want)
	}
	for id, name := range l.jobs {
		state, found := kept[id]
		acknowledged, walked := l.states[id]
		switch {
		case !found && !l.ended[id]:
			return fmt.Errorf("the acknowledged vjob %s (%s) is lost", id, name)
		case found && walked && slices.Index(course, state) < slices.Index(course, acknowledged):
			return fmt.Errorf("vjob %s is %s: %s was acknowledged", id, state, acknowledged)
		}
	}
	return nil
}

// shape is the content of the name of a vjob: how many VMs it has, and how many vjobs its
// array.
func shape(row string) (vms, members int, name string) {
	name = cluster.ArrayName(row)
	var n int
	if found, _ := fmt.Sscanf(name, "v%dx%d-%d", &vms, &members, &n); found != 3 {
		return 0, 0, ""
	}
	return vms, members, name
}

func (l *ledger) checkTokens(d *db.DB) error {
	for name, word := range l.tokens {
		_, _, err := d.UserByToken(ctx(), sha256.Sum256([]byte(name)), storetest.Start)
		if err != nil && word == "token" || err == nil && word == "revoked" {
			return fmt.Errorf("the last word about %s was %q; it is accepted: %t", name, word, err == nil)
		}
	}
	return nil
}

// checkStart begins anew as a daemon: what is live is whole, intents are known, and no
// number is given twice.
func (l *ledger) checkStart(d *db.DB) error {
	start, err := d.Load(ctx())
	if err != nil {
		return err
	}
	for _, job := range start.VJobs {
		vms, _, name := shape(job.Name)
		if name == "" {
			continue
		}
		s := storetest.Submission(name, vms)
		if !reflect.DeepEqual(job.VMs, s.VJob(job.ID).VMs) {
			return fmt.Errorf("the VMs of %s are %+v", job.Name, job.VMs)
		}
	}
	if start.Epoch <= l.epoch {
		return fmt.Errorf("epoch %d begins after epoch %d", start.Epoch, l.epoch)
	}
	for op, open := range l.intents {
		known := slices.ContainsFunc(start.Open, func(i journal.Intent) bool { return i.Call.Op == op })
		if open && !known || op >= start.NextOp {
			return fmt.Errorf("intent %d is lost; the next number is %d", op, start.NextOp)
		}
	}
	job, _, err := d.Submit(ctx(), storetest.Submission("next", 1))
	if err != nil {
		return err
	}
	for id, name := range l.jobs {
		if job.ID <= id {
			return fmt.Errorf("a new vjob has the number %s; %s (%s) had been acknowledged", job.ID, id, name)
		}
	}
	return nil
}

// checkBackup opens the newest backup: nothing happens to the others any more.
func (l *ledger) checkBackup(folder string) error {
	if l.newest == "" {
		return nil
	}
	return look(filepath.Join(folder, stateName, l.newest), func(d *sql.DB) error {
		for _, id := range l.backups[l.newest] {
			var name string
			if err := d.QueryRowContext(ctx(), "SELECT name FROM vjobs WHERE id = ?", int64(id)).Scan(&name); err != nil {
				return fmt.Errorf("vjob %s in %s: %w", id, l.newest, err)
			}
		}
		return nil
	})
}

// checkOld looks at the backup that precedes a migration.
func checkOld(path string) error {
	return look(path, func(d *sql.DB) error {
		var version, jobs int
		err := d.QueryRowContext(ctx(), "SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM vjobs)").Scan(&version, &jobs)
		if err != nil || version != 1 || jobs != oldVJobs {
			return fmt.Errorf("the backup has schema %d and %d vjobs, %w", version, jobs, err)
		}
		return nil
	})
}

// look opens a file, which must be there and whole.
func look(path string, at func(*sql.DB) error) error {
	d, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		return err
	}
	var verdict string
	err = d.QueryRowContext(ctx(), "PRAGMA integrity_check(1)").Scan(&verdict)
	if err == nil && verdict != "ok" {
		err = errors.New(verdict)
	}
	if err == nil {
		err = at(d)
	}
	return errors.Join(err, d.Close())
}
