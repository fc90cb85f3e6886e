package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	config "vjob/daemon/settings"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
	"vjob/internal/document"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/scheduler/decide"
	"vjob/sim/simclock"
	"vjob/tests/sim"
	"vjob/tests/simstore"
)

// round is a profile with round durations, which are easy to follow in a log.
var round = simulated.Profile{
	Name: "round", Control: 10 * time.Millisecond, Boot: 5 * time.Second, Shutdown: 2 * time.Second,
	Destroy: 500 * time.Millisecond, Pause: 10 * time.Millisecond, Unpause: 10 * time.Millisecond,
	Save:          simulated.Transfer{PerGiB: 20 * time.Second},
	Seal:          simulated.Transfer{PerGiB: 2 * time.Second},
	Restore:       simulated.Transfer{PerGiB: 20 * time.Second},
	RestoreRemote: simulated.Transfer{PerGiB: 40 * time.Second},
	Migrate:       simulated.Transfer{PerGiB: 10 * time.Second},
	MigrateLive:   simulated.Transfer{PerGiB: 20 * time.Second},
}

var costs = ctxswitch.Costs{
	Boot: 5 * time.Second, Stop: time.Second, MigratePer: 10 * time.Second,
	SuspendPer: 22 * time.Second, ResumePer: 20 * time.Second, RemoteFactor: 2,
}

// scenario is the state of one scripted simulation: the cluster, and what was observed.
type scenario struct {
	log     logbook
	config  simulated.Config
	options map[string]string
	order   []string // settings of the daemon, as lines of YAML
	excused []string // invariants

	cluster *simulated.Cluster
	store   *simstore.Store
	shell   *simclock.Shell
	check   *sim.Checker
	began   time.Time

	jobs   map[string]cluster.VJobID // by the name in the script
	gangs  map[cluster.VJobID]gang.Record
	states map[cluster.VJobID]journal.VJobChange
	plans  map[journal.PlanID]journal.PlanState
	calls  []hypervisor.Call
	events []journal.Event

	deaths  []death
	commits []spoiled
	manual  hypervisor.OpID // number of the last manual call
}

// death is a point at which the scheduler will be killed: the n-th from now on.
type death struct {
	point string
	n     int
}

// spoiled is a commit that is to fail.
type spoiled struct {
	vjob  cluster.VJobID
	phase gang.Phase
	err   error
}

// run runs a script and returns the log, also if the scenario failed.
func run(text string) (string, error) {
	head, lines, err := readScript(text)
	if err != nil {
		return "", err
	}
	s := &scenario{
		config: simulated.Config{Profile: round, Pools: map[string]cluster.MiB{}}, options: map[string]string{},
		jobs: map[string]cluster.VJobID{}, gangs: map[cluster.VJobID]gang.Record{},
		states: map[cluster.VJobID]journal.VJobChange{}, plans: map[journal.PlanID]journal.PlanState{}, manual: 1 << 40,
	}
	defer func() {
		if s.store != nil {
			_ = s.store.Close() // nothing of it is kept
		}
	}()
	s.log.head(head.text)
	for _, l := range lines {
		if err := s.perform(l); err != nil {
			return s.log.String(), l.failed(err)
		}
	}
	return s.log.String(), s.final()
}

// perform executes one line.
func (s *scenario) perform(l line) error {
	if done, err := s.configure(l); done || err != nil {
		return err
	}
	if s.shell == nil {
		if err := s.start(); err != nil {
			return err
		}
	}
	if err := s.act(l.words); err != nil {
		return err
	}
	return s.broken()
}

// configure reads a line that describes the cluster or the settings.
func (s *scenario) configure(l line) (done bool, err error) {
	w := l.words
	switch w[0] {
	case "cluster", "pool", "option", "excuse", "setting":
		if s.shell != nil {
			return true, errors.New("comes after the first action")
		}
	default:
		return false, nil
	}
	s.log.plain(l.text)
	switch {
	case w[0] == "setting":
		s.order = append(s.order, strings.TrimSpace(strings.TrimPrefix(l.text, w[0])))
		return true, nil
	case w[0] == "excuse":
		s.excused = w[1:]
		return true, nil
	case w[0] == "option":
		set, err := settings(w[1:], "policy", "suspend", "locks", "live", "down", "losses", "start")
		maps.Copy(s.options, set)
		return true, err
	case w[0] == "pool" && len(w) == 3:
		s.config.Pools[w[1]], err = cluster.ParseMiB(w[2])
		return true, err
	case w[0] == "cluster" && len(w) >= 4:
		set, err := settings(w[4:], "pool")
		if err != nil {
			return true, err
		}
		capacity, err := parseResources(w[2], w[3])
		s.config.Nodes = append(s.config.Nodes, simulated.Node{
			ID: cluster.NodeID(w[1]), Capacity: capacity, Pool: set["pool"], Unmanaged: []string{"unmanaged"},
		})
		return true, err
	}
	return true, errors.New("wrong number of words")
}

// start creates the cluster and starts the scheduler.
func (s *scenario) start() error {
	s.config.Locks = s.options["locks"] == "yes"
	if text, told := s.options["start"]; told {
		clock, err := time.Parse("15:04", text)
		if err != nil {
			return err
		}
		s.config.Start = clock.AddDate(2026, 0, 0) // 1 January
	}
	s.cluster = simulated.New(s.config)
	s.began = s.cluster.Now()
	s.log.now = func() time.Duration { return s.cluster.Now().Sub(s.began) }
	var err error
	if s.store, err = simstore.New(); err != nil {
		return err
	}
	set, down, err := s.settings()
	if err != nil {
		return err
	}
	s.check = sim.NewChecker(s.cluster, set.Execute.Limits.MaxSkew, false, nil)
	s.cluster.OnChange = s.changed
	s.shell, err = simclock.New(simclock.Config{
		Settings: set, Cluster: s.cluster, Store: recorder{s.store, s}, Down: down,
		Latency: func() time.Duration { return 10 * time.Millisecond },
		Crash:   s.dies, Called: s.called,
	})
	return err
}

func (s *scenario) settings() (set scheduler.Settings, down time.Duration, err error) {
	limits := execute.DefaultSettings
	limits.Costs = costs
	limits.Settle, limits.Limits.StopGrace = 20*time.Second, 10*time.Second
	set = scheduler.Settings{
		Settings: decide.Settings{
			Execute: limits, Policy: queue.FirstFit{}, Planner: ctxswitch.Repacker{}, Seed: 1,
			Backoff: 10 * time.Second, Live: s.options["live"] == "yes",
		},
		Rest: 100 * time.Millisecond,
	}
	if s.options["policy"] == "fcfs" {
		set.Policy = queue.FCFS{}
	}
	if set.Suspend, err = decide.ParseSuspension(s.options["suspend"], set.Policy); err != nil {
		return set, down, err
	}
	if n, ok := s.options["losses"]; ok {
		set.Execute.Limits.MaxLosses, err = parseCount(n)
	}
	down = 3 * time.Second
	if d, ok := s.options["down"]; ok && err == nil {
		down, err = time.ParseDuration(d)
	}
	if len(s.order) > 0 && err == nil {
		err = arrange(&set, strings.Join(s.order, "\n"))
	}
	return set, down, err
}

// arrange applies the daemon's settings for the order of vjobs, the policies, pools and node power.
func arrange(set *scheduler.Settings, text string) error {
	all, err := config.Default(func(string) string { return "/nowhere" })
	if err != nil {
		return err
	}
	doc, err := document.Decode("settings", []byte(text), &all)
	if err != nil {
		return err
	}
	if err := all.Validate(); err != nil {
		return doc.Locate(err)
	}
	core, err := all.Scheduler()
	if err != nil {
		return err
	}
	set.Ordering, set.Policy = core.Ordering, core.Ordering.Policy()
	set.Energy, set.Improve.Consolidation = core.Energy, core.Improve.Consolidation
	set.Pools, set.EntitleEvery = core.Pools, core.EntitleEvery
	return nil
}

// dies kills the scheduler at the points that the script names.
func (s *scenario) dies(point string) bool {
	for i := range s.deaths {
		if d := &s.deaths[i]; d.point == point {
			if d.n--; d.n == 0 {
				s.deaths = append(s.deaths[:i], s.deaths[i+1:]...)
				s.log.say("!! the scheduler is killed %s", point)
				return true
			}
		}
	}
	return false
}

// called records and checks a call before it is made.
func (s *scenario) called(now time.Time, call hypervisor.Call) {
	s.calls = append(s.calls, call)
	s.log.say("   call %s", describe(call))
	s.check.Called(now, call)
}

// recorder passes every written step to the scenario, and lets commits fail.
type recorder struct {
	*simstore.Store
	scenario *scenario
}

// Load starts a new epoch of the scheduler.
func (r recorder) Load(ctx context.Context) (journal.Loaded, error) {
	loaded, err := r.Store.Load(ctx)
	r.scenario.log.say("the scheduler starts, epoch %d: %s, %s", loaded.Epoch, cluster.Count(len(loaded.VJobs), "vjob"), cluster.Count(len(loaded.Open), "open call"))
	return loaded, err
}

// Commit writes a step.
func (r recorder) Commit(ctx context.Context, step journal.Step) error {
	if spoil := r.scenario.spoil(step); spoil != nil {
		r.scenario.log.say("!! the commit fails: %v", spoil)
		if !errors.Is(spoil, simstore.ErrWritten) {
			return spoil
		}
		defer r.scenario.committed(step)
		return errors.Join(spoil, r.Store.Commit(ctx, step))
	}
	if err := r.Store.Commit(ctx, step); err != nil {
		return err
	}
	r.scenario.committed(step)
	return nil
}

// spoil returns the error of a commit that the script lets fail.
func (s *scenario) spoil(step journal.Step) error {
	for i, c := range s.commits {
		for _, rec := range step.Gangs {
			if rec.VJob == c.vjob && rec.Phase == c.phase && s.gangs[rec.VJob].Phase != c.phase {
				s.commits = append(s.commits[:i], s.commits[i+1:]...)
				return c.err
			}
		}
	}
	return nil
}

// committed records and checks a durable step.
func (s *scenario) committed(step journal.Step) {
	s.log.step(step, s.gangs)
	s.check.Committed(step)
	for _, rec := range step.Gangs {
		s.gangs[rec.VJob] = rec
	}
	for _, c := range step.VJobs {
		s.states[c.ID] = c
	}
	for _, p := range step.Plans {
		s.plans[p.ID] = p.State
	}
	for _, c := range step.Closed {
		s.plans[c.ID] = c.State
	}
	s.events = append(s.events, step.Events...)
}

func (s *scenario) changed(ch simulated.Change) {
	s.log.change(ch)
	s.check.Change(ch)
}

// broken returns the first broken invariant that is not excused.
func (s *scenario) broken() error {
	for _, v := range s.check.Violations() {
		if !slices.ContainsFunc(s.excused, func(name string) bool { return strings.Contains(v, " "+name+":") }) {
			return fmt.Errorf("broken invariant: %s", v)
		}
	}
	return nil
}

// afterwards is how long a scenario continues after its last line, so that pending deletions
// complete.
const afterwards = 20 * time.Second

// final checks the end of a scenario.
func (s *scenario) final() error {
	if s.shell == nil {
		return errors.New("0: the script has no action")
	}
	for _, n := range s.cluster.Truth().Nodes {
		if len(n.Faults) > 0 {
			return s.broken()
		}
	}
	if err := s.until(s.shell.Now().Add(afterwards)); err != nil {
		return fmt.Errorf("0: after the end: %w", err)
	}
	s.check.Rest()
	if err := s.broken(); err != nil {
		return fmt.Errorf("0: at the end: %w", err)
	}
	return nil
}
