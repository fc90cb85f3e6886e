package db

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

// storedState is the stored state with which a change of a vjob is compared.
type storedState struct {
	State   cluster.State
	Held    bool
	Version int
}

// checkChange rejects a stale version, a change without a new version, and a transition that the
// state diagram lacks, with ErrConflict. The same version may bring a new reason or times.
func checkChange(old storedState, c journal.VJobChange) error {
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

// checkGang rejects a record that does not fit a vjob with that number of VMs.
func checkGang(r *gang.Record, vms int) error {
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

// checkEpoch rejects an intent of a scheduler that has been replaced.
func checkEpoch(i *journal.Intent, now int64) error {
	if i.Epoch != now {
		return fmt.Errorf("intent %d: it is of epoch %d, the scheduler of epoch %d has taken over: %w",
			i.Call.Op, i.Epoch, now, cluster.ErrConflict)
	}
	return nil
}

// notFound is the error for a step that refers to something unknown to the store.
func notFound(what string, id any) error {
	return fmt.Errorf("%s %v: %w", what, id, cluster.ErrNotFound)
}

// duplicate is the error for an id that was used before.
func duplicate(what string, id any) error {
	return fmt.Errorf("%s %v exists already: %w", what, id, cluster.ErrConflict)
}

// duplicateResult is the error for a second result of a call.
func duplicateResult(op hypervisor.OpID) error {
	return fmt.Errorf("intent %d has its result already: %w", op, cluster.ErrConflict)
}

// checkAction rejects progress of an action that its plan lacks.
func checkAction(a journal.ActionChange, actions int) error {
	if a.Action < 0 || a.Action >= ctxswitch.ActionID(actions) {
		return fmt.Errorf("action %d of plan %d: %w", a.Action, a.Plan, cluster.ErrNotFound)
	}
	return nil
}

// checkSubmission rejects what cannot be stored; the API checks the rest.
func checkSubmission(s *admission.Submission) error {
	switch {
	case s.Owner == "":
		return cluster.BadField("owner", s.Owner, "the name of a user")
	case len(s.VMs) == 0:
		return cluster.BadField("vms", "[]", "at least one VM")
	}
	return nil
}

// checkReshape rejects another shape for a vjob that has been started.
func checkReshape(r *journal.Reshape, state, phase string) error {
	if state != cluster.Waiting.String() || phase != gang.Absent.String() || len(r.Reserved) == 0 || r.Shape < 0 {
		return fmt.Errorf("vjob %s is %s, its gang %s: it cannot take shape %d of %d VMs: %w",
			r.VJob, state, phase, r.Shape, len(r.Reserved), cluster.ErrConflict)
	}
	return nil
}

// missingDependency is the error for dependency i, on a vjob that the owner does not have.
func missingDependency(i int, d cluster.Dependency) error {
	what := "the number of a vjob of yours"
	if d.Array {
		what = "the number of an array of yours"
	}
	return cluster.BadField(fmt.Sprintf("after[%d].on", i), d.On, what)
}

// unequalArrays is the error for dependency i of each of own vjobs on one of an array of others.
func unequalArrays(i int, d cluster.Dependency, own, others int) error {
	return cluster.Fault(fmt.Sprintf("after[%d].each", i), "array %s has %d vjobs, this submission has %d: want the same number", d.On, others, max(1, own))
}

// attemptEvent is the event that another attempt writes.
func attemptEvent(a *journal.Attempt, id cluster.VJobID) journal.Event {
	return journal.Event{At: a.At, Kind: journal.EventSubmitted, VJob: id, State: cluster.Waiting.String(), Text: a.Text}
}

// nameTaken is the error for a name that a live vjob of the owner has.
func nameTaken(name string, id cluster.VJobID) error {
	return fmt.Errorf("name: %q is the name of your live vjob %s; want another name, or that vjob ended first: %w",
		name, id, cluster.ErrConflict)
}

// keyReused is the error for an idempotency key that came back with another submission.
func keyReused(key string, id cluster.VJobID) error {
	return fmt.Errorf("idempotency key: %q was used for vjob %s with other content; want a new key: %w",
		key, id, cluster.ErrConflict)
}

// fingerprint is equal for submissions that ask for the same. Their times and idempotency
// keys do not count.
func fingerprint(s *admission.Submission) ([sha256.Size]byte, error) {
	c := *s
	c.Key, c.At = "", time.Time{}
	text, err := json.Marshal(c)
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("fingerprint of the submission: %w", err)
	}
	return sha256.Sum256(text), nil
}

// submittedEvent is the event that every submission writes.
func submittedEvent(s *admission.Submission, id cluster.VJobID) journal.Event {
	text := fmt.Sprintf("%s submitted %d VMs", s.Owner, len(s.VMs))
	if len(s.VMs) == 1 {
		text = s.Owner + " submitted 1 VM"
	}
	return journal.Event{At: s.At, Kind: journal.EventSubmitted, VJob: id, State: cluster.Waiting.String(), Text: text}
}

// pruneRows is how many rows one transaction of a prune deletes: few, so that other writes do
// not wait long.
const pruneRows = 500

// pruneBatch is how many items at the head of a list one transaction deletes, given the
// number of rows of each. An item is deleted as a whole, so an item of more than [pruneRows]
// rows is deleted alone.
func pruneBatch(rows []int) int {
	sum := 0
	for i, n := range rows {
		sum += n
		if sum > pruneRows && i > 0 {
			return i
		}
	}
	return len(rows)
}
