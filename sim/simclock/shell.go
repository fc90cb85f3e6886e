// Package simclock is the loop's shell in virtual time: it drives the very core
// that the daemon runs against a simulated cluster, single-threaded and without
// a clock. Replays and the deterministic simulation stand on it.
//
// It refuses to know what is replayed and what is checked.
package simclock

import (
	"container/heap"
	"context"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/energy/power"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
	"vjob/scheduler"
)

// Store is what the shell needs of a store: the memory store and SQLite serve.
type Store interface {
	scheduler.Store
	SaveNodes(ctx context.Context, declared []cluster.Node) (undeclared []cluster.NodeID, err error)
}

// Config is what a shell is made of.
type Config struct {
	Settings scheduler.Settings
	Cluster  *simulated.Cluster
	Store    Store
	// Latency is how long a look takes; what it sees is from somewhere between.
	// Nil is no time at all.
	Latency func() time.Duration
	// Crash is asked at every point at which the scheduler could die, with its
	// name; true kills it there. Nil never does.
	Crash func(point string) bool
	// Down is how long the scheduler stays dead after a crash.
	Down time.Duration
	// Committed is told every step once it is durable. Nil is nobody.
	Committed func(now time.Time, step journal.Step)
	// Called is told every call just before it is made. Nil is nobody.
	Called func(now time.Time, call hypervisor.Call)
	// Pressed is told every request to a power driver just before it is made. Nil is
	// nobody.
	Pressed func(now time.Time, ask power.Ask)
}

// Shell drives a core. It has one owner.
type Shell struct {
	cfg    Config
	core   *scheduler.Core
	now    time.Time
	chains map[hypervisor.OpID]*chain // by the call under way
	agenda agenda
	serial int
	wake   time.Time
	life   int // grows at every crash: what an earlier life waited for is void
}

// chain is calls of which one is under way.
type chain struct {
	execute.Chain
	at int
}

// New starts a shell at the cluster's time; every node of the cluster is online.
func New(cfg Config) (*Shell, error) {
	s := &Shell{cfg: cfg, now: cfg.Cluster.Now(), chains: map[hypervisor.OpID]*chain{}}
	if _, err := cfg.Store.SaveNodes(context.Background(), cfg.Cluster.Nodes()); err != nil {
		return nil, fmt.Errorf("write the nodes: %w", err)
	}
	if err := s.start(); err != nil {
		return nil, err
	}
	return s, s.carryOut()
}

// Now is the virtual time.
func (s *Shell) Now() time.Time { return s.now }

// Snapshot shows the loop; nil while the scheduler is dead.
func (s *Shell) Snapshot() *scheduler.Snapshot {
	if s.core == nil {
		return nil
	}
	return s.core.Snapshot()
}

// start makes the core from what the store holds.
func (s *Shell) start() error {
	loaded, err := s.cfg.Store.Load(context.Background())
	if err != nil {
		return fmt.Errorf("load the journal: %w", err)
	}
	s.core = scheduler.NewCore(s.cfg.Settings, loaded, s.now)
	return nil
}

// Next is when the next thing happens.
func (s *Shell) Next() (time.Time, bool) {
	next, ok := s.cfg.Cluster.Next()
	sooner := func(t time.Time) {
		if !t.IsZero() && (!ok || t.Before(next)) {
			next, ok = t, true
		}
	}
	if s.core != nil {
		sooner(s.wake)
	}
	if len(s.agenda) > 0 {
		sooner(s.agenda[0].at)
	}
	return next, ok
}

// Step lets time go on to the next thing that happens, and no further than to.
// It reports false when nothing happens before that.
func (s *Shell) Step(to time.Time) (bool, error) {
	next, ok := s.Next()
	if !ok || next.After(to) {
		s.now = to
		s.deliver(s.cfg.Cluster.Advance(to))
		return false, s.carryOut()
	}
	if next.After(s.now) {
		s.now = next
	}
	s.deliver(s.cfg.Cluster.Advance(s.now))
	for len(s.agenda) > 0 && !s.agenda[0].at.After(s.now) {
		due := heap.Pop(&s.agenda).(entry)
		if due.life == s.life {
			due.do()
		}
	}
	if s.core != nil && !s.wake.After(s.now) {
		s.core.Tick(s.now)
	}
	return true, s.carryOut()
}

// Until lets time go on to the given instant.
func (s *Shell) Until(to time.Time) error {
	for {
		more, err := s.Step(to)
		if err != nil || !more {
			return err
		}
	}
}

// deliver hands what the cluster says to the core.
func (s *Shell) deliver(happenings []simulated.Notice) {
	for _, h := range happenings {
		switch {
		case s.core == nil:
		case h.Reply == nil:
			s.core.Hint(s.now, h.Hint)
		default:
			s.reply(h.Reply)
		}
	}
}

// reply passes a reply on and makes the next call of its chain, unless it came too late.
func (s *Shell) reply(r *simulated.Reply) {
	s.core.Replied(s.now, execute.Reply{Op: r.Op, Receipt: r.Receipt, Err: r.Err, Began: r.Began, Ended: r.Ended})
	c, ok := s.chains[r.Op]
	if !ok {
		return
	}
	delete(s.chains, r.Op)
	late := r.Ended.Sub(r.Began) > c.Deadline[c.at]
	c.at++
	if r.Err == nil && !late {
		s.call(c)
		return
	}
	for ; c.at < len(c.Calls); c.at++ {
		s.core.Replied(s.now, execute.Reply{Op: c.Calls[c.at].Op, Err: execute.ErrNotTried, Began: s.now, Ended: s.now})
	}
}

// call makes the present call of a chain. The scheduler can die just before it.
func (s *Shell) call(c *chain) {
	if c.at >= len(c.Calls) || s.dies("before "+c.Calls[c.at].Verb.String()) {
		return
	}
	call := c.Calls[c.at]
	s.chains[call.Op] = c
	if s.cfg.Called != nil {
		s.cfg.Called(s.now, call)
	}
	s.cfg.Cluster.Begin(s.now, call)
	s.dies("after " + call.Verb.String())
}

// carryOut commits what the core wants written and then does what it wants done.
func (s *Shell) carryOut() error {
	for s.core != nil {
		effects := s.core.Drain()
		if !effects.Step.Empty() {
			if s.dies("before commit") {
				return nil
			}
			if !s.commit(effects.Step) {
				return nil
			}
			if s.dies("after commit") {
				return nil
			}
		}
		s.wake = effects.Wake
		for _, c := range effects.Chains {
			s.call(&chain{Chain: c})
			if s.core == nil {
				return nil
			}
		}
		more := s.press(effects.Asks)
		if s.core == nil {
			return nil
		}
		again, known := s.again()
		if !known {
			s.reload()
			return nil
		}
		if !s.look(effects) && !more && !again {
			return nil
		}
	}
	return nil
}

// again hands the next attempts of vjobs that failed to the core; known is false when
// the store does not tell them.
func (s *Shell) again() (more, known bool) {
	failed := s.core.Failed()
	if len(failed) == 0 {
		return false, true
	}
	jobs, err := s.cfg.Store.Attempts(context.Background(), failed)
	if err == nil {
		s.core.Again(s.now, jobs...)
	}
	return true, err == nil
}

// commit writes a step. When that fails, the core is forgotten and made anew from
// the store, as in the real shell, and false is returned.
func (s *Shell) commit(step journal.Step) bool {
	if err := s.cfg.Store.Commit(context.Background(), step); err != nil {
		s.reload()
		return false
	}
	if s.cfg.Committed != nil {
		s.cfg.Committed(s.now, step)
	}
	return true
}

// look makes the looks of a drain. Looks that take no time are answered at once,
// and then there may be more to carry out; it reports that.
func (s *Shell) look(effects scheduler.Effects) (more bool) {
	for _, node := range effects.Looks {
		if s.later(func() {
			view, err := s.cfg.Cluster.Look(s.now, node)
			s.reports(func() { s.core.Looked(s.now, node, view, err) })
		}) {
			more = true
		}
	}
	if effects.LookStore && s.later(func() {
		store, err := s.cfg.Cluster.LookStore(s.now)
		s.reports(func() { s.core.LookedStore(s.now, store, err) })
	}) {
		more = true
	}
	return more
}

// later does something after half a look's latency; it reports true when that
// was at once.
func (s *Shell) later(do func()) bool {
	if s.cfg.Latency == nil {
		do()
		return true
	}
	s.schedule(s.cfg.Latency()/2, do)
	return false
}

// reports delivers what was seen, after the other half of the latency.
func (s *Shell) reports(deliver func()) {
	if s.cfg.Latency == nil {
		deliver()
		return
	}
	s.schedule(s.cfg.Latency()/2, deliver)
}

func (s *Shell) schedule(after time.Duration, do func()) {
	s.serial++
	heap.Push(&s.agenda, entry{at: s.now.Add(after), serial: s.serial, life: s.life, do: do})
}
