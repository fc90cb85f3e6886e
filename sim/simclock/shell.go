// Package simclock runs the scheduling loop in virtual time: it drives the core of the
// daemon against a simulated cluster, single-threaded and without a clock. Replays and the
// deterministic simulation use it.
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

// Store is the store of a shell. Package db implements it, in memory too.
type Store interface {
	scheduler.Store
	SaveNodes(ctx context.Context, declared []cluster.Node) (undeclared []cluster.NodeID, err error)
}

// Config are the parts and hooks of a shell.
type Config struct {
	Settings scheduler.Settings
	Cluster  *simulated.Cluster
	Store    Store
	// Latency returns the duration of an observation, which sees the state in its middle.
	// If nil, observations take no time.
	Latency func() time.Duration
	// Thinking returns how long a step of the scheduler has taken in its own eyes, which paces its decisions. Nil: no
	// time.
	Thinking func() time.Duration
	// Crash is called at every crash point with its name; true kills the scheduler there.
	// May be nil.
	Crash func(point string) bool
	// Down is the time from a crash of the scheduler to its restart.
	Down time.Duration
	// Committed is called after the commit of each step. May be nil.
	Committed func(now time.Time, step journal.Step)
	// Called is called just before each call to the driver. May be nil.
	Called func(now time.Time, call hypervisor.Call)
	// Pressed is called just before each request to a power driver. May be nil.
	Pressed func(now time.Time, ask power.Request)
}

// Shell drives a core. It is not safe for concurrent use.
type Shell struct {
	cfg    Config
	core   *scheduler.Core
	now    time.Time
	told   time.Time                  // of the last event of the core
	chains map[hypervisor.OpID]*chain // by the call under way
	timers timers
	serial int
	wake   time.Time
	life   int // number of crashes: timers of earlier lives are void
}

// chain is a sequence of calls of which one is under way.
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

// Now returns the virtual time.
func (s *Shell) Now() time.Time { return s.now }

// Snapshot returns the snapshot of the loop, or nil while the scheduler is down.
func (s *Shell) Snapshot() *scheduler.Snapshot {
	if s.core == nil {
		return nil
	}
	return s.core.Snapshot()
}

// start creates the core from the store.
func (s *Shell) start() error { return s.continueWith(nil) }

// continueWith creates the core from the store. The calls with deadlines are under way.
func (s *Shell) continueWith(deadlines map[hypervisor.OpID]time.Time) error {
	loaded, err := s.cfg.Store.Load(context.Background())
	if err != nil {
		return fmt.Errorf("load the journal: %w", err)
	}
	loaded.Deadlines = deadlines
	s.core, s.told = scheduler.NewCore(s.cfg.Settings, loaded, s.now), s.now
	return nil
}

// Next returns the time of the next event.
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
	if len(s.timers) > 0 {
		sooner(s.timers[0].at)
	}
	return next, ok
}

// Step advances the time to the next event, and at most to the instant to.
// It returns false if there is no event before that.
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
	for len(s.timers) > 0 && !s.timers[0].at.After(s.now) {
		due := heap.Pop(&s.timers).(timer)
		if due.life == s.life {
			due.do()
		}
	}
	if s.core != nil && !s.wake.After(s.now) {
		s.told = s.now
		s.core.Tick(s.now)
	}
	return true, s.carryOut()
}

// Until advances the time to an instant.
func (s *Shell) Until(to time.Time) error {
	for {
		more, err := s.Step(to)
		if err != nil || !more {
			return err
		}
	}
}

// deliver passes notices of the cluster to the core.
func (s *Shell) deliver(notices []simulated.Notice) {
	for _, h := range notices {
		if s.core == nil {
			return
		}
		s.told = s.now
		if h.Reply == nil {
			s.core.Hint(s.now, h.Hint)
		} else {
			s.reply(h.Reply)
		}
	}
}

// reply passes a reply to the core and makes the next call of its chain. It drops a late reply.
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

// call makes the current call of a chain. The scheduler can crash just before it.
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

// carryOut commits the steps of the core and then carries out its effects.
func (s *Shell) carryOut() error {
	for s.core != nil {
		effects := s.core.Flush(s.told)
		if s.cfg.Thinking != nil {
			s.core.Took(s.cfg.Thinking())
		}
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
		s.decideBeside(effects.Decide)
		more := s.switchPower(effects.Asks)
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

// decideBeside takes a decision while the core goes on. It is computed at its end: what the core has done until then must not
// matter.
func (s *Shell) decideBeside(d *scheduler.Deliberation) {
	if d == nil {
		return
	}
	took := s.cfg.Thinking()
	s.schedule(took, func() {
		d.Decide()
		s.told = s.now
		s.core.Decided(d, took)
	})
}

// again passes the next attempts of failed vjobs to the core. known is false if the store
// cannot be read.
func (s *Shell) again() (more, known bool) {
	failed := s.core.VJobs.Failed()
	if len(failed) == 0 {
		return false, true
	}
	jobs, err := s.cfg.Store.Attempts(context.Background(), failed)
	if err == nil {
		s.told = s.now
		s.core.VJobs.Again(s.now, jobs...)
	}
	return true, err == nil
}

// commit writes a step. If that fails, it starts the core anew from the store, as the real
// shell does, and returns false.
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

// look makes the requested observations of nodes. It reports whether a result without delay
// may have caused more effects.
func (s *Shell) look(effects scheduler.Effects) (more bool) {
	for _, node := range effects.Looks {
		if s.later(func() {
			view, err := s.cfg.Cluster.Look(s.now, node, effects.Missing[node]...)
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

// later calls do after half the latency of an observation. It returns true if that was at once.
func (s *Shell) later(do func()) bool {
	if s.cfg.Latency == nil {
		do()
		return true
	}
	s.schedule(s.cfg.Latency()/2, do)
	return false
}

// reports delivers an observation after the other half of the latency.
func (s *Shell) reports(deliver func()) {
	tell := func() {
		s.told = s.now
		deliver()
	}
	if s.cfg.Latency == nil {
		tell()
		return
	}
	s.schedule(s.cfg.Latency()/2, tell)
}

func (s *Shell) schedule(after time.Duration, do func()) {
	s.serial++
	heap.Push(&s.timers, timer{at: s.now.Add(after), serial: s.serial, life: s.life, do: do})
}
