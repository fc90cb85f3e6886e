// Package check holds the rules that every implementation of scheduler.Store
// keeps, so that the one in memory and the one on disk cannot drift apart.
package check

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
	"vjob/scheduler/admission"
)

// Standing is what a change of a vjob is compared with.
type Standing struct {
	State   cluster.State
	Held    bool
	Version int
}

// Change refuses what would make the record of a vjob untrue: a stale version, a
// change under an old version, and a step that the state diagram does not have.
// The same version again may only bring a new reason or times.
func Change(old Standing, c journal.VJobChange) error {
	same := c.State == old.State && c.Held == old.Held
	switch {
	case c.Version < old.Version, c.Version == old.Version && !same:
		return fmt.Errorf("vjob %s: version %d is stale, the store has %d: %w", c.ID, c.Version, old.Version, cluster.ErrConflict)
	case old.State.Terminal() && c.State != old.State,
		c.Version == old.Version+1 && c.State != old.State && !old.State.CanBecome(c.State):
		return fmt.Errorf("vjob %s: %s cannot become %s: %w", c.ID, old.State, c.State, cluster.ErrConflict)
	}
	return nil
}

// Gang refuses a record that does not fit its vjob of so many VMs.
func Gang(r *gang.Record, vms int) error {
	if len(r.Members) != vms {
		return cluster.BadField("members", len(r.Members), fmt.Sprintf("%d members for vjob %s", vms, r.VJob))
	}
	for rank, m := range r.Members {
		if vm := (cluster.VMID{VJob: r.VJob, Rank: rank}); m.Image != nil && m.Image.ID.VM != vm {
			return cluster.BadField("image", m.Image.ID.String(), "an image of VM "+vm.String())
		}
	}
	return nil
}

// Epoch refuses an intent of a scheduler that has been replaced.
func Epoch(i *journal.Intent, now int64) error {
	if i.Epoch != now {
		return fmt.Errorf("intent %d: it is of epoch %d, the scheduler of epoch %d has taken over: %w",
			i.Call.Op, i.Epoch, now, cluster.ErrConflict)
	}
	return nil
}

// Unknown says that a step speaks of something that the store has not.
func Unknown(what string, id any) error {
	return fmt.Errorf("%s %v: %w", what, id, cluster.ErrNotFound)
}

// Taken says that a number was used before.
func Taken(what string, id any) error {
	return fmt.Errorf("%s %v exists already: %w", what, id, cluster.ErrConflict)
}

// Answered says that a call has its result already.
func Answered(op hypervisor.OpID) error {
	return fmt.Errorf("intent %d has its result already: %w", op, cluster.ErrConflict)
}

// Action refuses progress of an action that its plan does not have.
func Action(a journal.ActionChange, actions int) error {
	if a.Action < 0 || a.Action >= ctxswitch.ActionID(actions) {
		return fmt.Errorf("action %d of plan %d: %w", a.Action, a.Plan, cluster.ErrNotFound)
	}
	return nil
}

// Submission refuses what could not be kept; the API checks the rest.
func Submission(s *admission.Submission) error {
	switch {
	case s.Owner == "":
		return cluster.BadField("owner", s.Owner, "the name of a user")
	case len(s.VMs) == 0:
		return cluster.BadField("vms", "[]", "at least one VM")
	}
	return nil
}

// Reshape refuses another shape for a vjob that has been started.
func Reshape(r *journal.Reshape, state, phase string) error {
	if state != cluster.Waiting.String() || phase != gang.Absent.String() || len(r.Reserved) == 0 || r.Shape < 0 {
		return fmt.Errorf("vjob %s is %s, its gang %s: it cannot take shape %d of %d VMs: %w",
			r.VJob, state, phase, r.Shape, len(r.Reserved), cluster.ErrConflict)
	}
	return nil
}

// NotThere says that a vjob is to wait for one that the owner does not have.
func NotThere(i int, d cluster.Dependency) error {
	what := "the number of a vjob of yours"
	if d.Array {
		what = "the number of an array of yours"
	}
	return cluster.BadField(fmt.Sprintf("after[%d].on", i), d.On, what)
}

// Again is the event that another attempt writes.
func Again(a *journal.Attempt, id cluster.VJobID) journal.Event {
	return journal.Event{At: a.At, Kind: journal.EventSubmitted, VJob: id, State: cluster.Waiting.String(), Text: a.Text}
}

// NameTaken says that a live vjob of the owner bears the name.
func NameTaken(name string, id cluster.VJobID) error {
	return fmt.Errorf("name: %q is the name of your live vjob %s; want another name, or that vjob ended first: %w",
		name, id, cluster.ErrConflict)
}

// KeyReused says that an idempotency key came back with another submission.
func KeyReused(key string, id cluster.VJobID) error {
	return fmt.Errorf("idempotency key: %q was used for vjob %s with another content; want a new key: %w",
		key, id, cluster.ErrConflict)
}

// Fingerprint tells whether two submissions ask for the same. When they were made
// does not count.
func Fingerprint(s *admission.Submission) ([sha256.Size]byte, error) {
	c := *s
	c.Key, c.At = "", time.Time{}
	text, err := json.Marshal(c)
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("fingerprint of the submission: %w", err)
	}
	return sha256.Sum256(text), nil
}

// Submitted is the event that every submission writes.
func Submitted(s *admission.Submission, id cluster.VJobID) journal.Event {
	text := fmt.Sprintf("%s submitted %d VMs", s.Owner, len(s.VMs))
	if len(s.VMs) == 1 {
		text = s.Owner + " submitted 1 VM"
	}
	return journal.Event{At: s.At, Kind: journal.EventSubmitted, VJob: id, State: cluster.Waiting.String(), Text: text}
}

// PruneRows is how many rows one transaction of a prune deletes, so that nobody
// waits long behind it.
const PruneRows = 500

// PruneBatch is how many of the things at the head of a list are deleted together,
// by the rows of each. A thing goes as a whole or not at all, so one that has more
// rows goes alone: it took longer to write it.
func PruneBatch(rows []int) int {
	sum := 0
	for i, n := range rows {
		if sum += n; sum > PruneRows && i > 0 {
			return i
		}
	}
	return len(rows)
}
