package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-co-op/gocron/v2"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy/power"
	"vjob/hypervisor"
	"vjob/scheduler/admission"
	"vjob/scheduler/housekeeping"
)

// Loop is the shell around the core: it owns the clock, commits the steps of the core and then makes
// its calls and looks. Its one goroutine owns the core; every event reaches it as a function to
// run there.
type Loop struct {
	settings Settings
	store    Store
	driver   hypervisor.Driver
	fleet    power.Drivers
	log      *slog.Logger
	now      func() time.Time
	tick     time.Duration
	tasks    []housekeeping.Task
	at       func(point string)

	events chan func(*Core) error
	loopState
	snapshot atomic.Pointer[Snapshot]
	limits   admission.Limits

	// reserving is held from the confirmation of a reservation until the core knows it.
	reserving sync.Mutex

	workers sync.WaitGroup
	quit    chan struct{}
}

// loopState belongs to the goroutine of the loop.
type loopState struct {
	stale    bool          // the core must be loaded anew
	showing  time.Duration // how long the last snapshot took
	failures int           // of commits and loads in a row
	granted  []chan error  // requests that wait for the next commit
	// inFlight holds the calls of this process without a reply, and their deadlines. They outlive a
	// core that is loaded anew.
	inFlight map[hypervisor.OpID]time.Time
}

// LoopConfig configures a loop.
type LoopConfig struct {
	Settings Settings
	Store    Store
	Driver   hypervisor.Driver
	Fleet    power.Drivers // the power drivers of nodes; may be nil
	Limits   admission.Limits
	Log      *slog.Logger
	Now      func() time.Time // time.Now, or a fake one
	Tick     time.Duration    // the periodic timer; events come in between
	// SweepEvery is how often the driver removes what is kept for ended vjobs, except consoles younger
	// than KeepConsoles. 0 is never.
	SweepEvery   time.Duration
	KeepConsoles time.Duration
	// PruneEvery is how often history older than Retention is deleted from the store. 0 is never.
	PruneEvery time.Duration
	Retention  journal.Retention
	// At is called at every point at which a crash leaves something half done: before and after each
	// commit and each call. Tests kill the process there. May be nil.
	At func(point string)
}

// NewLoop makes a loop; [Loop.Run] starts it.
func NewLoop(cfg LoopConfig) *Loop {
	l := &Loop{
		settings: cfg.Settings, store: cfg.Store, driver: cfg.Driver, fleet: cfg.Fleet, log: cfg.Log, now: cfg.Now,
		tick: cfg.Tick, limits: cfg.Limits, at: cfg.At,
		events: make(chan func(*Core) error, 1024), quit: make(chan struct{}), loopState: loopState{inFlight: map[hypervisor.OpID]time.Time{}},
	}
	if l.at == nil {
		l.at = func(string) {}
	}
	horizon := func() journal.Horizon {
		h := cfg.Retention.Horizon(l.now())
		h.Charges = l.now().Add(-l.settings.OrderingRules().Memory())
		return h
	}
	l.tasks = []housekeeping.Task{
		housekeeping.Sweep(l.driver, l.live, cfg.SweepEvery, cfg.KeepConsoles),
		housekeeping.Prune(l.store, horizon, cfg.PruneEvery, l.log),
	}
	l.snapshot.Store(&Snapshot{VJobs: map[cluster.VJobID]VJobStatus{}})
	return l
}

// errStale: the store may hold what the core does not know.
var errStale = errors.New("the store may hold more than is known")

// Run loads the journal and runs until the context ends. Calls under way then go on without the
// loop; the next start finds out what became of them.
func (l *Loop) Run(ctx context.Context) error {
	defer l.workers.Wait()
	defer close(l.quit)
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
	for {
		core, err = l.carryOut(ctx, core, wake)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			l.stop(ctx, core)
			return nil
		case event := <-l.events:
			l.stale = event(core) != nil
			l.takeMore(core)
		case <-wake.C:
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

// takeMore handles the events that are waiting, so that a burst of them costs one commit.
func (l *Loop) takeMore(core *Core) {
	for range cap(l.events) {
		select {
		case event := <-l.events:
			l.stale = event(core) != nil || l.stale
		default:
			return
		}
	}
}

// startTimers starts the periodic tick and the housekeeping. The tick only posts an event, unless
// the last one is still waiting.
func (l *Loop) startTimers(ctx context.Context) (gocron.Scheduler, error) {
	timers, err := gocron.NewScheduler()
	if err != nil {
		return nil, err
	}
	var waiting atomic.Bool
	_, err = timers.NewJob(gocron.DurationJob(l.tick), gocron.NewTask(func() {
		if waiting.CompareAndSwap(false, true) {
			l.post(func(c *Core) error {
				waiting.Store(false)
				c.Tick(l.now())
				return nil
			})
		}
	}))
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

// post hands an event to the loop; after its end events are dropped.
func (l *Loop) post(event func(*Core) error) {
	select {
	case l.events <- event:
	case <-l.quit:
	}
}

func (l *Loop) load(ctx context.Context) (*Core, error) {
	loaded, err := l.store.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("load the journal: %w", err)
	}
	l.log.Info("journal loaded", slog.Int64("epoch", loaded.Epoch), slog.Int("vjobs", len(loaded.VJobs)),
		slog.Int("open_calls", len(loaded.Open)))
	loaded.Deadlines = maps.Clone(l.inFlight)
	core := NewCore(l.settings, loaded, l.now())
	l.snapshot.Store(core.Snapshot())
	return core, nil
}

// carryOut commits the step of the core and then makes its calls. After a failed commit it is
// unknown what was written: the core is loaded anew, as after a crash, and nothing is called.
func (l *Loop) carryOut(ctx context.Context, core *Core, wake *time.Timer) (*Core, error) {
	for {
		began := l.now()
		effects := core.Flush()
		core.Took(l.now().Sub(began))
		err := l.commit(ctx, effects.Step)
		if len(l.granted) > 0 && err == nil {
			l.show(core, true) // before the requests are answered
		}
		l.answer(err)
		if err == nil && l.stale {
			err = errStale
		}
		l.stale = false
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
		l.show(core, false)
		l.start(ctx, effects)
		if l.again(ctx, core) {
			continue
		}
		wake.Reset(max(effects.Wake.Sub(l.now()), time.Millisecond))
		return core, nil
	}
}

func (l *Loop) commit(ctx context.Context, step journal.Step) error {
	if step.Empty() {
		return nil
	}
	for _, e := range step.Events {
		l.log.Info("event", slog.String("kind", string(e.Kind)), slog.Int64("vjob", int64(e.VJob)),
			slog.String("node", string(e.Node)), slog.Int64("plan", int64(e.Plan)), slog.String("text", e.TextFor("")))
	}
	l.at("before commit")
	err := l.store.Commit(context.WithoutCancel(ctx), step)
	l.at("after commit")
	return err
}

// showEvery is how old the snapshot may be: with thousands of vjobs it is not
// taken after every reply. Where it takes long, a tenth of the time goes there.
const (
	showEvery = 100 * time.Millisecond
	showShare = 10
)

// show publishes a snapshot when the last one is old enough, or now.
func (l *Loop) show(core *Core, now bool) {
	last, began := l.snapshot.Load(), l.now()
	if now || began.Sub(last.At) >= max(showEvery, showShare*l.showing) || !last.Ready {
		l.snapshot.Store(core.Snapshot())
		l.showing = l.now().Sub(began)
	}
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
		l.publishBroken(err)
	}
}

// publishBroken shows in the snapshot that the loop has stopped.
func (l *Loop) publishBroken(err error) {
	broken := *l.snapshot.Load()
	broken.Ready, broken.Broken = false, err.Error()
	l.snapshot.Store(&broken)
}

// Snapshot is the loop as it was after its last step.
func (l *Loop) Snapshot() *Snapshot { return l.snapshot.Load() }
