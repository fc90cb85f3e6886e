//go:build linux && (amd64 || arm64)

package powercut_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/daemon"
	"vjob/daemon/settings"
	"vjob/db"
	"vjob/hypervisor"
	"vjob/tests/powercut"
	"vjob/tests/storetest"
)

// workloadVariable makes the test binary the program that is recorded; folderVariable
// is where it works.
const (
	workloadVariable = "VJOB_POWERCUT_WORKLOAD"
	folderVariable   = "VJOB_POWERCUT_FOLDER"
	stateName        = "state" // of the folder, with the database in it
	databaseName     = "vjob.db"
)

// workloads are what is recorded. Each function is a process, and ends as if killed:
// what it has not closed stays open.
var workloads = map[string][]func(*client) error{
	"alone":     {(*client).alone, (*client).again},
	"together":  {(*client).together},
	"migration": {(*client).migrate, (*client).again},
}

func TestMain(m *testing.M) {
	name := os.Getenv(workloadVariable)
	if name == "" {
		os.Exit(m.Run())
	}
	var part int
	_, err := fmt.Sscanf(name, "%s %d", &name, &part)
	if err == nil {
		err = workloads[name][part](&client{folder: os.Getenv(folderVariable)})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// word is what a workload says: that something was acknowledged, or that it begins.
type word struct {
	What string
	ID   int64  `json:",omitempty"` // of a vjob, an intent, a token or an epoch
	Name string `json:",omitempty"`
}

func say(what string, id int64, name string) error {
	text, err := json.Marshal(word{what, id, name})
	return errors.Join(err, powercut.Say(string(text)))
}

// client is a daemon and those that ask it.
type client struct {
	folder string
	d      *db.DB
	epoch  int64
	op     hypervisor.OpID
	plan   journal.PlanID
	step   int
}

// ctx of the workload never ends.
func ctx() context.Context { return context.Background() }

// audit is what accounts and tokens are changed with.
var audit = journal.Audit{At: storetest.Start, By: "root", From: "uid 0"}

// openStore opens the database as the daemon does.
func openStore(folder string) (*db.DB, error) {
	return daemon.OpenStore(&settings.Settings{State: filepath.Join(folder, stateName)})
}

func (c *client) open() (err error) {
	if c.d, err = openStore(c.folder); err != nil {
		return err
	}
	l, err := c.d.Load(ctx())
	if err != nil {
		return err
	}
	c.epoch, c.op, c.plan = l.Epoch, l.NextOp, l.NextPlan
	return say("epoch", c.epoch, "")
}

// alone does everything, one call after the other.
func (c *client) alone() error {
	if err := c.open(); err != nil {
		return err
	}
	if err := c.d.CreateUser(ctx(), journal.User{Name: "alice", Role: journal.RoleUser}, audit); err != nil {
		return err
	}
	for c.step = range 60 {
		if err := c.turn(); err != nil {
			return err
		}
		if c.step == 30 {
			if err := errors.Join(c.d.Close(), c.open()); err != nil {
				return err
			}
		}
	}
	return nil
}

// again is the daemon after it was killed.
func (c *client) again() error {
	if err := c.open(); err != nil {
		return err
	}
	for c.step = 1001; c.step < 1012; c.step++ {
		if err := c.turn(); err != nil {
			return err
		}
	}
	return c.d.Close()
}

// turn is one submission and what goes with it.
func (c *client) turn() error {
	vms, members := 1+c.step%3, 1
	if c.step%5 == 1 {
		members = 4 + c.step%7
	}
	job, err := c.submit(fmt.Sprintf("v%dx%d-%d", vms, members, c.step), vms, members)
	if err != nil {
		return err
	}
	if members == 1 && c.step%2 == 0 {
		err = c.walk(job)
	}
	if err == nil && c.step%4 == 3 {
		err = c.intend(job)
	}
	if err == nil && c.step%6 == 5 {
		err = c.token()
	}
	if err == nil && c.step%20 == 13 {
		err = c.backup()
	}
	if err == nil && c.step%20 == 19 {
		err = c.prune()
	}
	return err
}

func (c *client) submit(name string, vms, members int) (*cluster.VJob, error) {
	s := storetest.Submission(name, vms)
	s.Key = name
	if members > 1 {
		for i := range members {
			s.Array = append(s.Array, fmt.Sprint("p", i))
		}
	}
	job, _, err := c.d.Submit(ctx(), s)
	if err != nil {
		return nil, err
	}
	return job, say("submitted", int64(job.ID), name)
}

// course is the states through which a vjob walks.
var course = []cluster.State{cluster.Waiting, cluster.Booting, cluster.Running, cluster.Stopping, cluster.Terminated}

func (c *client) walk(job *cluster.VJob) error {
	for _, next := range course[1:] {
		if err := job.Become(next, cluster.Because("walk")); err != nil {
			return err
		}
		change := storetest.Change(job)
		if next == cluster.Terminated {
			change.Ended = storetest.Start
			if err := say("ended", int64(job.ID), ""); err != nil { // a prune may take it from now on
				return err
			}
		}
		step := journal.Step{VJobs: []journal.VJobChange{change}, Events: []journal.Event{storetest.StateEvent(job)}}
		if err := c.d.Commit(ctx(), step); err != nil {
			return err
		}
		if err := say("state", int64(job.ID), next.String()); err != nil {
			return err
		}
	}
	return nil
}

// intend writes what a pass does: a plan, an intent before its call, and for every
// other one the result.
func (c *client) intend(job *cluster.VJob) error {
	call := hypervisor.Call{Op: c.op, Verb: hypervisor.Pause, VM: cluster.VMID{VJob: job.ID}, Node: "n1"}
	record := gang.Record{VJob: job.ID, Since: storetest.Start, Members: make([]gang.Member, len(job.VMs))}
	err := c.d.Commit(ctx(), journal.Step{
		Plans:   []journal.Plan{{ID: c.plan, At: storetest.Start, State: journal.PlanRunning}},
		Intents: []journal.Intent{{Call: call, Plan: c.plan, Epoch: c.epoch, At: storetest.Start}},
		Gangs:   []gang.Record{record},
	})
	c.op, c.plan = c.op+1, c.plan+1
	if err := errors.Join(err, say("intended", int64(call.Op), "")); err != nil || call.Op%2 == 0 {
		return err
	}
	if err := say("answered", int64(call.Op), ""); err != nil {
		return err
	}
	return c.d.Commit(ctx(), journal.Step{
		Results: []journal.Result{{Op: call.Op}},
		Closed:  []journal.PlanChange{{ID: c.plan - 1, State: journal.PlanDone, Ended: storetest.Start}},
	})
}

func (c *client) token() error {
	name := fmt.Sprint("token ", c.step)
	id, err := c.d.CreateToken(ctx(), journal.NewToken{User: "alice", Hash: sha256.Sum256([]byte(name)), Expires: storetest.EndOfTime}, audit)
	if err := errors.Join(err, say("token", id, name)); err != nil || c.step%12 != 5 {
		return err
	}
	err = say("revoking", id, name)
	return errors.Join(err, c.d.RevokeToken(ctx(), "alice", id, audit), say("revoked", id, name))
}

func (c *client) backup() error {
	name := fmt.Sprintf("backup-%d", c.step)
	err := say("copying", 0, name)
	return errors.Join(err, c.d.Backup(ctx(), filepath.Join(c.folder, stateName, name)), say("copied", 0, name))
}

func (c *client) prune() error {
	late := storetest.EndOfTime
	for _, err := range c.d.Prune(ctx(), journal.Horizon{Events: late, Plans: late, VJobs: late}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// together runs four clients at once: their writes share commits.
func (c *client) together() error {
	if err := c.open(); err != nil {
		return err
	}
	var clients sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		clients.Go(func() {
			for n := range 12 {
				one := *c
				one.step = 100*i + n
				job, err := one.submit(fmt.Sprintf("v2x1-%d", one.step), 2, 1)
				if err == nil && n%3 == 0 {
					err = one.walk(job)
				}
				errs[i] = errors.Join(errs[i], err)
			}
		})
	}
	clients.Wait()
	return errors.Join(errs...)
}

// oldVJobs is how many vjobs are in testdata/schema-1.sql of package db.
const oldVJobs = 10

// migrate opens a database of the first schema.
func (c *client) migrate() error {
	for id := range oldVJobs {
		if err := say("submitted", int64(id+1), ""); err != nil {
			return err
		}
	}
	if err := c.open(); err != nil {
		return err
	}
	return c.d.CreateUser(ctx(), journal.User{Name: "alice", Role: journal.RoleUser}, audit)
}
