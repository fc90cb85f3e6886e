package scheduler

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync/atomic"
	"time"

	"github.com/go-co-op/gocron/v2"

	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
	"vjob/scheduler/housekeeping"
)

// Loop is the shell around the core: it owns the clock, commits the steps of the core and then makes
// its calls and looks. Its one goroutine owns the core; every event reaches it as a function to
// run there.
type Loop struct {
	Requests *Requests

	settings *atomic.Pointer[LoopSettings] // its parts read it; [Loop.change] replaces it
	store    Store
	driver   hypervisor.Driver
	log      *slog.Logger
	now      func() time.Time
	tasks    []housekeeping.Task
	at       func(point string)

	inbox    *inbox
	board    *board
	calls    *caller
	spare    spare
	failures int // of commits and loads in a row
}

// LoopConfig configures a loop.
type LoopConfig struct {
	LoopSettings
	Store  Store
	Driver hypervisor.Driver
	Log    *slog.Logger
	Now    func() time.Time // time.Now, or a fake one
	// SweepEvery is how often the driver removes what is kept for ended vjobs, except young consoles. 0 is never.
	SweepEvery time.Duration
	// PruneEvery is how often old history is deleted from the store. 0 is never.
	PruneEvery time.Duration
	// At is called at every point at which a crash leaves something half done: before and after each
	// commit and each call. Tests kill the process there. May be nil.
	At func(point string)
}

// NewLoop makes a loop; [Loop.Run] starts it.
func NewLoop(cfg LoopConfig) *Loop {
	l := &Loop{
		settings: &atomic.Pointer[LoopSettings]{}, store: cfg.Store, driver: cfg.Driver, log: cfg.Log, now: cfg.Now, at: cfg.At,
		inbox: newInbox(), board: newBoard(cfg.Now), spare: newSpare(),
	}
	l.settings.Store(&cfg.LoopSettings)
	if l.at == nil {
		l.at = func(string) {}
	}
	l.calls = &caller{settings: l.settings, driver: l.driver, now: l.now, at: l.at, inbox: l.inbox, inFlight: map[hypervisor.OpID]time.Time{}}
	l.Requests = &Requests{settings: l.settings, store: l.store, now: l.now, inbox: l.inbox, board: l.board, desk: newDesk(l.spare)}
	horizon := func() journal.Horizon {
		set := l.settings.Load()
		h := set.Retention.Horizon(l.now())
		h.Charges = l.now().Add(-set.OrderingRules().Memory())
		return h
	}
	l.tasks = []housekeeping.Task{
		housekeeping.Sweep(l.driver, l.Requests.live, cfg.SweepEvery, func() time.Duration { return l.settings.Load().KeepConsoles }),
		housekeeping.Prune(l.store, horizon, cfg.PruneEvery, l.log),
	}
	return l
}

// Run loads the journal and runs until the context ends. Calls under way then go on without the
// loop; the next start finds out what became of them.
func (l *Loop) Run(ctx context.Context) error {
	defer l.calls.workers.Wait()
	defer close(l.inbox.quit)
	sweeping, stopSweeping := context.WithCancel(ctx)
	defer stopSweeping()
	timers, err := l.startTimers(sweeping)
	if err != nil {
		return fmt.Errorf("start the timers of the loop: %w", err)
	}
	defer func() {
		stopSweeping()
		_ = timers.Shutdown()
	}()
	core, err := l.load(ctx)
	if err != nil {
		return err
	}
	wake := time.NewTimer(0)
	defer wake.Stop()
	tick := time.NewTicker(l.settings.Load().Tick)
	defer tick.Stop()
	for {
		core, err = l.carryOut(ctx, core, wake)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			l.stop(ctx, core)
			return nil
		case event := <-l.inbox.events:
			l.inbox.stale = event(core) != nil
			l.inbox.takeMore(core)
		case r := <-l.inbox.changes:
			if core, err = l.change(ctx, core, r); err != nil {
				return err
			}
			tick.Reset(l.settings.Load().Tick)
		case <-wake.C:
			core.Tick(l.now())
		case <-tick.C:
			core.Tick(l.now())
		case node := <-l.driver.Hints():
			core.Hint(l.now(), node)
		}
	}
}

// stop writes the accounts up to now, so that only a crash loses some of them.
func (l *Loop) stop(ctx context.Context, core *Core) {
	if err := l.commit(ctx, core.Stop(l.now())); err != nil {
		l.log.Error("the accounts of the last minute are lost", slog.Any("error", err))
	}
}

// startTimers starts the housekeeping.
func (l *Loop) startTimers(ctx context.Context) (gocron.Scheduler, error) {
	timers, err := gocron.NewScheduler()
	if err != nil {
		return nil, err
	}
	for i := range l.tasks {
		if err := l.tasks[i].Add(ctx, timers, l.log); err != nil {
			return nil, err
		}
	}
	timers.Start()
	return timers, nil
}

func (l *Loop) load(ctx context.Context) (*Core, error) {
	loaded, err := l.store.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("load the journal: %w", err)
	}
	l.log.Info("journal loaded", slog.Int64("epoch", loaded.Epoch), slog.Int("vjobs", len(loaded.VJobs)),
		slog.Int("open_calls", len(loaded.Open)))
	loaded.Deadlines = maps.Clone(l.calls.inFlight)
	loaded.Answering = l.board.latest().answering()
	core := NewCore(l.settings.Load().Settings, loaded, l.now())
	l.board.snapshot.Store(core.Snapshot())
	return core, nil
}

// carryOut commits the step of the core and then makes its calls. After a failed commit it is
// unknown what was written: the core is loaded anew, as after a crash, and nothing is called.
func (l *Loop) carryOut(ctx context.Context, core *Core, wake *time.Timer) (*Core, error) {
	for {
		began := l.now()
		effects := core.Flush(began)
		core.Took(l.now().Sub(began))
		err := l.commit(ctx, effects.Step)
		if len(l.inbox.granted) > 0 && err == nil {
			l.board.showStep(core, &effects.Step) // before the requests are answered
		}
		l.inbox.answer(err)
		if err == nil && l.inbox.stale {
			err = errStale
		}
		l.inbox.stale = false
		if err != nil && ctx.Err() != nil {
			return core, ctx.Err()
		}
		if err != nil {
			l.log.Error("commit failed, loading the journal anew", slog.Any("error", err))
			fresh, err := l.reload(ctx)
			if err != nil {
				return core, err
			}
			core = fresh
			continue
		}
		if !effects.Step.Empty() {
			l.failures = 0
		}
		l.board.news = l.board.news || !effects.Step.Empty()
		l.board.show(core)
		l.calls.start(ctx, effects)
		l.decideBeside(effects.Decide)
		if l.again(ctx, core) {
			continue
		}
		wake.Reset(max(effects.Wake.Sub(l.now()), time.Millisecond))
		return core, nil
	}
}

// decideBeside takes a decision while the loop goes on.
func (l *Loop) decideBeside(d *Deliberation) {
	if d == nil {
		return
	}
	l.calls.workers.Go(func() {
		defer l.spare.takeSoon()()
		began := l.now()
		d.Decide()
		took := l.now().Sub(began)
		l.inbox.post(func(c *Core) error { c.Decided(d, took); return nil })
	})
}

func (l *Loop) commit(ctx context.Context, step journal.Step) error {
	if step.Empty() {
		return nil
	}
	for _, e := range step.Events {
		l.log.LogAttrs(ctx, slog.LevelInfo, "event", attributes(&e)...)
	}
	l.at("before commit")
	err := l.store.Commit(context.WithoutCancel(ctx), step)
	l.at("after commit")
	return err
}

// attributes are those of an event for the log: what it is about, and its text.
func attributes(e *journal.Event) []slog.Attr {
	list := []slog.Attr{slog.String("kind", string(e.Kind))}
	if e.VJob != 0 {
		list = append(list, slog.Int64("vjob", int64(e.VJob)))
	}
	if e.Node != "" {
		list = append(list, slog.String("node", string(e.Node)))
	}
	if e.Plan != 0 {
		list = append(list, slog.Int64("plan", int64(e.Plan)))
	}
	return append(list, slog.String("text", e.TextFor("")))
}

// reload loads until it succeeds or the context ends. The pauses grow with every failure in a row,
// of loads and of commits.
func (l *Loop) reload(ctx context.Context) (*Core, error) {
	for {
		pause := min(50*time.Millisecond<<min(l.failures, 10), 10*time.Second)
		l.failures++
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
		core, err := l.load(ctx)
		if err == nil {
			return core, nil
		}
		l.log.Error("load failed", slog.Any("error", err))
		l.board.publishBroken(err)
	}
}

// again passes the next attempts of failed vjobs to the core. It reports whether there are any, or
// whether the core must be loaded anew to know them.
func (l *Loop) again(ctx context.Context, core *Core) (more bool) {
	failed := core.VJobs.Failed()
	if len(failed) == 0 {
		return false
	}
	jobs, err := l.store.Attempts(context.WithoutCancel(ctx), failed)
	if err != nil {
		l.inbox.stale = true
		return true
	}
	core.VJobs.Again(l.now(), jobs...)
	return true
}
