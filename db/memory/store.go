// Package memory is a scheduler.Store in memory, for deterministic simulations: the same rules
// as package db, no goroutines, no clock, and failures on demand. Its content survives a
// simulated crash of the scheduler: it is the disk of the simulated world. db/storetest tests
// both stores against one contract.
package memory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/db/internal/check"
	"vjob/energy/power/cycle"
	"vjob/hypervisor"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// ErrWritten lets the write happen and loses the reply, when FailNext returns or
// wraps it: the caller gets the error all the same.
var ErrWritten = errors.New("written, but the reply was lost")

// Store is a scheduler.Store in memory. The zero value is empty and ready. It is
// safe for concurrent use, FailNext excepted, which is set before.
type Store struct {
	// FailNext, when set, is asked before each write. Nil lets it happen. An error
	// that is ErrWritten is returned after the write, any other one instead of it.
	// It must not call the store.
	FailNext func() error

	mu        sync.Mutex
	epoch     int64
	nextOp    hypervisor.OpID
	nextP     journal.PlanID
	last      cluster.VJobID // the largest number that was given
	vjobs     []journal.Row  // in order of their numbers
	gangs     []gang.Record  // of these vjobs, in the same places
	nodes     map[cluster.NodeID]cluster.Node
	power     map[cluster.NodeID]cycle.Record
	rules     journal.Rules
	budgets   journal.Budgets
	prices    journal.Prices
	drawn     map[cluster.NodeID]int64 // joules
	nodeHours []journal.NodeHour       // in order
	vjobHours []vjobHour               // in order
	keys      map[ownerKey]firstUse
	names     map[ownerKey][]cluster.VJobID // of vjobs and arrays: those that bore it, the live ones and maybe others
	plans     []journal.PlanDetail          // in order of their writing
	planAt    map[journal.PlanID]int
	calls     []Call // in order of their writing
	callAt    map[hypervisor.OpID]int
	seq       int64 // of the last event
	events    []journal.Event
	pruned    check.Pruned
	closed    map[string]journal.Usage                // by the vjobs that were deleted, by owner
	charges   []journal.Charge                        // in order
	waits     map[cluster.VJobID][]cluster.Dependency // of the live vjobs that wait for others
}

var _ scheduler.Store = (*Store)(nil)

// Call is an intent and, once known, its result.
type Call struct {
	journal.Intent
	Result *journal.Result // nil while it is open
}

// ownerKey is an idempotency key, or a name, with its owner.
type ownerKey struct{ owner, key string }

// firstUse is what a key was used for.
type firstUse struct {
	vjob        cluster.VJobID
	fingerprint [32]byte
}

// Clone copies the store, so that a simulation can try several futures. Records are shared:
// neither copy changes one in place.
func (s *Store) Clone() *Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Store{
		FailNext: s.FailNext,
		epoch:    s.epoch, nextOp: s.nextOp, nextP: s.nextP, last: s.last, seq: s.seq, pruned: s.pruned,
		vjobs: slices.Clone(s.vjobs), gangs: slices.Clone(s.gangs),
		nodes: maps.Clone(s.nodes), keys: maps.Clone(s.keys), names: cloneLists(s.names), waits: maps.Clone(s.waits),
		plans: slices.Clone(s.plans), planAt: maps.Clone(s.planAt),
		calls: slices.Clone(s.calls), callAt: maps.Clone(s.callAt),
		events: slices.Clip(s.events), // append-only: a longer log gets an array of its own
		closed: maps.Clone(s.closed), rules: s.rules, budgets: s.budgets, prices: s.prices, drawn: s.drawn,
		nodeHours: s.nodeHours, vjobHours: s.vjobHours, // copied on change
		charges: s.charges, // copied on change
	}
}

// cloneLists copies lists so that neither copy sees what the other appends.
func cloneLists[K comparable, T any](lists map[K][]T) map[K][]T {
	c := maps.Clone(lists)
	for k, list := range c {
		c[k] = slices.Clone(list)
	}
	return c
}

// fault asks FailNext whether a write fails.
func (s *Store) fault() (before, after error) {
	if s.FailNext == nil {
		return nil, nil
	}
	err := s.FailNext()
	if errors.Is(err, ErrWritten) {
		return nil, err
	}
	return err, nil
}

// Load begins a new epoch and returns the state from which the scheduler starts.
func (s *Store) Load(ctx context.Context) (journal.Loaded, error) {
	if err := ctx.Err(); err != nil {
		return journal.Loaded{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before, after := s.fault()
	if before != nil {
		return journal.Loaded{}, fmt.Errorf("begin an epoch: %w", before)
	}
	s.epoch++
	if after != nil {
		return journal.Loaded{}, fmt.Errorf("begin an epoch: %w", after)
	}
	l := journal.Loaded{
		Epoch: s.epoch, NextOp: s.nextOp + 1, NextPlan: s.nextP + 1,
		Nodes: s.sortedNodes(), Power: s.sortedPower(), Rules: s.rules, Budgets: s.budgets, Prices: s.prices, Drawn: s.sortedDrawn(), Ran: map[cluster.VJobID]time.Duration{}, Crowded: map[cluster.VJobID]time.Duration{},
	}
	for i := range s.vjobs {
		row := &s.vjobs[i]
		if row.State.Terminal() {
			if len(s.gangs[i].Kept) > 0 {
				l.Ended = append(l.Ended, copyGang(&s.gangs[i]))
			}
			continue
		}
		l.VJobs = append(l.VJobs, row.Clone())
		l.Gangs = append(l.Gangs, copyGang(&s.gangs[i]))
		l.Account(row.ID, row.Account)
	}
	l.Charges = slices.Clone(s.charges)
	for i := range s.calls {
		if s.calls[i].Result == nil {
			l.Open = append(l.Open, s.calls[i].Intent)
		}
	}
	slices.SortFunc(l.Open, func(a, b journal.Intent) int { return int(a.Call.Op - b.Call.Op) })
	for i := range s.plans {
		if s.plans[i].State == journal.PlanRunning {
			l.Plans = append(l.Plans, s.plans[i].ID)
		}
	}
	slices.Sort(l.Plans)
	l.Waits = slices.Sorted(maps.Keys(s.waits))
	var on []cluster.Dependency
	for _, list := range s.waits {
		on = append(on, list...)
	}
	l.Past = s.past(on)
	return l, nil
}

// Submit writes a new vjob with its gang and its first event.
func (s *Store) Submit(ctx context.Context, sub admission.Submission) (job *cluster.VJob, created bool, err error) {
	if err := errors.Join(ctx.Err(), check.Submission(&sub)); err != nil {
		return nil, false, fmt.Errorf("submit: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before, after := s.fault()
	if before != nil {
		return nil, false, fmt.Errorf("submit: %w", before)
	}
	job, created, err = s.submit(&sub)
	if err = errors.Join(err, after); err != nil {
		return nil, false, fmt.Errorf("submit: %w", err)
	}
	return job, created, nil
}

// Known implements [scheduler.Store].
func (s *Store) Known(_ context.Context, owner, key string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.keys[ownerKey{owner, key}]
	return known, nil
}

func (s *Store) submit(sub *admission.Submission) (*cluster.VJob, bool, error) {
	body, err := check.Fingerprint(sub)
	if err != nil {
		return nil, false, err
	}
	key := ownerKey{sub.Owner, sub.Key}
	if first, ok := s.keys[key]; ok && sub.Key != "" {
		if first.fingerprint != body {
			return nil, false, check.KeyReused(sub.Key, first.vjob)
		}
		at, _ := s.at(first.vjob) // a key is deleted with its vjob
		return s.vjobs[at].Clone(), false, nil
	}
	if bearer, taken := s.bearer(sub.Owner, sub.Name); taken {
		return nil, false, check.NameTaken(sub.Name, bearer)
	}
	if err := s.roomFor(sub); err != nil {
		return nil, false, err
	}
	if err := s.find(sub); err != nil {
		return nil, false, err
	}
	jobs := sub.VJobs(s.last + 1)
	for _, job := range jobs {
		job.Submitted = utc(job.Submitted)
		s.keep(job)
		s.wait(job.ID, job.After...)
		s.log(check.Submitted(sub, job.ID))
	}
	if sub.Key != "" {
		if s.keys == nil {
			s.keys = map[ownerKey]firstUse{}
		}
		s.keys[key] = firstUse{jobs[0].ID, body}
	}
	return jobs[0].Clone(), true, nil
}

// roomFor rejects a submission that exceeds what the owner may have at once.
func (s *Store) roomFor(sub *admission.Submission) error {
	if sub.Allowed == (admission.Holding{}) {
		return nil
	}
	var has admission.Holding
	for i := range s.vjobs {
		if row := &s.vjobs[i]; row.Owner == sub.Owner && !row.State.Terminal() {
			has.VJobs, has.VMs = has.VJobs+1, has.VMs+row.Size
		}
	}
	return sub.Exceeds(has)
}

// bearer returns the latest live vjob of the owner with the name, or of an array with the name.
func (s *Store) bearer(owner, name string) (id cluster.VJobID, taken bool) {
	key := ownerKey{owner, name}
	bearers := s.names[key]
	for len(bearers) > 0 {
		last := len(bearers) - 1
		if at, kept := s.at(bearers[last]); kept && !s.vjobs[at].State.Terminal() {
			s.names[key] = bearers
			return bearers[last], true
		}
		bearers = bearers[:last]
	}
	delete(s.names, key)
	return 0, false
}

// log appends an event.
func (s *Store) log(e journal.Event) {
	s.seq++
	e.Seq, e.At = s.seq, utc(e.At)
	s.events = append(s.events, e)
}

// SaveNodes stores declared nodes as package db does.
func (s *Store) SaveNodes(ctx context.Context, declared []cluster.Node) (undeclared []cluster.NodeID, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before, after := s.fault()
	if before != nil {
		return nil, fmt.Errorf("save nodes: %w", before)
	}
	if slices.ContainsFunc(declared, func(n cluster.Node) bool { return n.ID == "" }) {
		return nil, fmt.Errorf("save nodes: %w", cluster.BadField("node", "", "a name"))
	}
	for _, n := range declared {
		if old, ok := s.nodes[n.ID]; ok {
			n.State = old.State
		}
		s.putNode(n)
	}
	for _, n := range s.sortedNodes() {
		if !slices.ContainsFunc(declared, func(m cluster.Node) bool { return m.ID == n.ID }) {
			undeclared = append(undeclared, n.ID)
		}
	}
	return undeclared, after
}

func (s *Store) putNode(n cluster.Node) {
	if s.nodes == nil {
		s.nodes = map[cluster.NodeID]cluster.Node{}
	}
	n.Labels = maps.Clone(n.Labels)
	s.nodes[n.ID] = n
}

func (s *Store) sortedNodes() []cluster.Node {
	list := make([]cluster.Node, 0, len(s.nodes))
	for _, id := range slices.Sorted(maps.Keys(s.nodes)) {
		n := s.nodes[id]
		n.Labels = maps.Clone(n.Labels)
		list = append(list, n)
	}
	return list
}

// utc is a time as the database returns it.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.Unix(0, t.UnixNano()).UTC()
}

// copyGang copies a record so that nothing of it is shared.
func copyGang(r *gang.Record) gang.Record {
	c := *r.Clone()
	for i := range c.Members {
		if image := c.Members[i].Image; image != nil {
			own := *image
			c.Members[i].Image = &own
		}
	}
	return c
}
