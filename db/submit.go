package db

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/admission"
)

// Submit writes a new vjob, or all vjobs of an array, with VMs, gangs and first events, and
// returns after the commit. If the context ends first, the submission may still be written:
// the same submission with the same key then finds it.
func (d *DB) Submit(ctx context.Context, s admission.Submission) (job *cluster.VJob, created bool, err error) {
	n := newVJob{submission: &s}
	if err := n.prepare(); err != nil {
		return nil, false, fmt.Errorf("submit: %w", err)
	}
	if err := d.writer.do(ctx, n.write); err != nil {
		return nil, false, fmt.Errorf("submit: %w", err)
	}
	if !n.created {
		kept, err := d.VJob(ctx, n.id)
		return kept.VJob, false, err
	}
	job = n.first()
	job.Submitted = job.Submitted.UTC()
	return job, true, nil
}

// newVJob is a submission that is about to be written. As much as possible is computed before,
// since all callers wait for the one writer.
type newVJob struct {
	submission  *admission.Submission
	fingerprint [sha256.Size]byte
	spec        string
	parameters  string // of an array, as JSON
	reserved    cluster.Resources

	id      cluster.VJobID
	created bool
}

func (n *newVJob) prepare() (err error) {
	s := n.submission
	if err := checkSubmission(s); err != nil {
		return err
	}
	if s.Key != "" {
		if n.fingerprint, err = fingerprint(s); err != nil {
			return err
		}
	}
	for i := range s.VMs {
		n.reserved = n.reserved.Plus(s.VMs[i].Reserved)
	}
	if len(s.Array) > 0 {
		raw, err := json.Marshal(s.Array)
		if err != nil {
			return fmt.Errorf("parameters: %w", err)
		}
		n.parameters = string(raw)
	}
	n.spec, err = encodeSpec(s)
	return err
}

// first returns the vjob, or the first vjob of the array.
func (n *newVJob) first() *cluster.VJob {
	s := *n.submission
	s.Array = s.Array[:min(1, len(s.Array))]
	return s.VJobs(n.id)[0]
}

func (n *newVJob) write(t *tx) error {
	if n.submission.Key != "" {
		if known, err := n.known(t); known || err != nil {
			return err
		}
	}
	if err := n.checkOwner(t); err != nil {
		return err
	}
	if err := n.checkName(t); err != nil {
		return err
	}
	if err := n.checkLimits(t); err != nil {
		return err
	}
	if err := n.insert(t); err != nil {
		return err
	}
	if s := n.submission; s.Key != "" {
		err := t.exec("INSERT INTO idempotency_keys (owner, key, vjob, fingerprint, created_ns) VALUES (?, ?, ?, ?, ?)",
			s.Owner, s.Key, int64(n.id), n.fingerprint[:], nanos(s.At))
		if err != nil {
			return err
		}
	}
	e := submittedEvent(n.submission, n.id)
	if err := n.writeDependencies(t); err != nil {
		return err
	}
	if err := t.event(&e); err != nil || len(n.submission.Array) < 2 {
		return err
	}
	return n.writeArray(t)
}

// known looks for an earlier submission with the same key.
func (n *newVJob) known(t *tx) (bool, error) {
	s := n.submission
	var body []byte
	found, err := t.row("SELECT vjob, fingerprint FROM idempotency_keys WHERE owner = ? AND key = ?",
		[]any{s.Owner, s.Key}, &n.id, &body)
	if found && err == nil && !slices.Equal(body, n.fingerprint[:]) {
		err = keyReused(s.Key, n.id)
	}
	return found, err
}

// Known reports whether an owner has used a key for a vjob that is still stored.
func (d *DB) Known(ctx context.Context, owner, key string) (known bool, err error) {
	err = d.snapshot(ctx, func(r *snapshot) error {
		return r.one("SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE owner = ? AND key = ?)", []any{owner, key}, &known)
	})
	if err != nil {
		return false, fmt.Errorf("look for a key: %w", err)
	}
	return known, nil
}

// checkOwner is ErrForbidden if the account was deleted since the request was authenticated.
func (n *newVJob) checkOwner(t *tx) error {
	var gone bool
	// The first condition is that of an index. Deleted accounts are looked for only without an account.
	_, err := t.row("SELECT NOT EXISTS (SELECT 1 FROM users WHERE name = ?1 AND "+present+") AND EXISTS (SELECT 1 FROM users WHERE name = ?1)", []any{n.submission.Owner}, &gone)
	if err == nil && gone {
		err = fmt.Errorf("the account %s was deleted: %w", n.submission.Owner, cluster.ErrForbidden)
	}
	return err
}

func (n *newVJob) checkName(t *tx) error {
	s := n.submission
	if s.Name == "" {
		return nil
	}
	var id cluster.VJobID
	// A vjob of an array has the name of the array and "[" in its name; "\" sorts after "[".
	found, err := t.row("SELECT id FROM vjobs WHERE owner = ? AND (name = ?2 OR name >= ?2 || '[' AND name < ?2 || '\\') AND name <> '' AND "+live+
		" ORDER BY id DESC LIMIT 1", []any{s.Owner, s.Name}, &id)
	if found && err == nil {
		err = nameTaken(s.Name, id)
	}
	return err
}

// checkLimits rejects a submission that exceeds what the owner may have at once. It reads what
// the owner has in the transaction that adds to it, so that concurrent submissions cannot
// exceed the limit together.
func (n *newVJob) checkLimits(t *tx) error {
	s := n.submission
	if s.Allowed == (admission.Holding{}) {
		return nil
	}
	var has admission.Holding
	if _, err := t.row("SELECT vjobs, vms FROM owners WHERE owner = ?", []any{s.Owner}, &has.VJobs, &has.VMs); err != nil {
		return err
	}
	return s.Exceeds(has)
}

func (n *newVJob) insert(t *tx) error {
	s := n.submission
	spec, err := t.insert("INSERT INTO specs (json) VALUES (?)", n.spec)
	if err != nil {
		return err
	}
	name := s.Name
	if len(s.Array) > 0 {
		name = cluster.MemberName(name, 1)
	}
	submitted := &cluster.Cause{Kind: cluster.CauseSubmitted}
	id, err := t.insert(`INSERT INTO vjobs (owner, name, submitted_ns, priority, walltime_ns, state, held, cause, version,
		vm_count, cpu_milli, memory_mib, spec, queue, project, pool, moves, output) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		s.Owner, name, nanos(s.At), s.Priority, int64(s.Walltime), cluster.Waiting.String(), s.Held, submitted.Encode(),
		len(s.VMs), int64(n.reserved.CPU), int64(n.reserved.Memory), spec, s.Queue, s.Project, s.Pool, s.Moves.String(), s.KeepsOutput())
	if err != nil {
		return err
	}
	n.id, n.created = cluster.VJobID(id), true
	err = t.exec(`INSERT INTO gangs (vjob, phase, continuation, since_ns, incarnation, generation, restores, losses, cause, skew_ns)
		VALUES (?, 'absent', '', ?, 0, 0, 0, 0, '', 0)`, id, nanos(s.At))
	if err != nil {
		return err
	}
	if len(s.Array) == 0 {
		return nil
	}
	return t.exec("UPDATE vjobs SET array = id, array_index = 1, parameter = ? WHERE id = ?", s.Array[0], id)
}

// event appends to the log.
func (t *tx) event(e *journal.Event) error {
	return t.exec("INSERT INTO events (at_ns, kind, vjob, vm, node, plan, state, text, cause) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		nanos(e.At), string(e.Kind), orNull(e.VJob), e.VM, string(e.Node), orNull(e.Plan), e.State, e.Text, e.Cause.Encode())
}
