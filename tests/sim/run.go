// Package sim is the deterministic simulation of the whole loop: the real core, gang protocol
// and planner over the simulated cluster, with seeded faults and crashes of the scheduler at
// every step. Independent checkers compare what happens with the invariants of docs/RELIABILITY.md.
// After a phase with faults everything heals, and then every vjob must end.
package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"math/rand/v2"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy/budget"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
	"vjob/scheduler"
	"vjob/sim/simclock"
	"vjob/tests/simstore"
)

// Result is the result of a run.
type Result struct {
	Violations []string
	Counts     Counts
	Points     int // at which the scheduler could have died
	Calls      int // made before the healing
	Pruned     journal.Pruned
	Hash       string // of every committed step: the same seed gives the same
	Ended      time.Duration
}

// errViolated ends a run at its first broken invariant.
var errViolated = errors.New("an invariant is broken")

// run is the state of one run.
type run struct {
	opts     Options
	chance   *rand.Rand
	cluster  *simulated.Cluster
	store    *simstore.Store
	shell    *simclock.Shell
	check    *Checker
	log      hash.Hash
	points   int
	calls    int
	stuck    int  // steps since the time last advanced
	calm     bool // faults are over
	start    time.Time
	end      time.Time // of the trouble
	killed   map[cluster.NodeID]bool
	stood    map[cluster.VJobID]bool // vjobs that are on their way from standing still
	pruner   pruner
	book     *budget.Schedule // nil: no budget
	operator powerOperator
	extras   extras
	left     map[cluster.VMID]map[cluster.NodeID]time.Time // nodes that balance took VMs off, and when
	leftIn   int64                                         // the epoch of that: a restart forgets it
	modes    modes
	settings scheduler.Settings // of the start
	reloads  int
}

// Run runs one seed.
func Run(opts Options) (Result, error) {
	r := &run{
		opts: opts, chance: rand.New(rand.NewPCG(opts.Seed, 0x5eed)), log: sha256.New(),
		killed: map[cluster.NodeID]bool{}, stood: map[cluster.VJobID]bool{}, pruner: newPruner(opts.Seed),
		extras: newExtras(opts.Seed), modes: modes{},
	}
	if err := r.build(); err != nil {
		return Result{}, err
	}
	defer func() { _ = r.store.Close() }() // nothing of it is kept
	for _, act := range []func() error{r.trouble, r.heal} {
		if err := act(); err != nil && !errors.Is(err, errViolated) {
			return Result{}, err
		}
	}
	r.check.counts.Crashes = int(r.store.Epoch()) - 1
	return Result{
		Violations: r.check.violations, Counts: r.check.counts, Points: r.points, Calls: r.calls, Pruned: r.pruner.sum,
		Hash: hex.EncodeToString(r.log.Sum(nil)), Ended: r.shell.Now().Sub(r.start),
	}, nil
}

// build makes a small cluster that a few vjobs overload.
func (r *run) build() error {
	count := 2 + r.chance.IntN(4)
	if r.opts.failover() > 0 {
		count = max(count, 4) // so that every vjob can start while as much as a node stays free
	}
	nodes := make([]simulated.Node, count)
	for i := range nodes {
		nodes[i] = simulated.Node{
			ID:        cluster.NodeID(fmt.Sprintf("n%d", i+1)),
			Labels:    wiring(i),
			Capacity:  cluster.Resources{CPU: 2 * cluster.CPU, Memory: 2048},
			Unmanaged: r.unmanaged(i),
			Leftovers: r.opts.leftOn(i),
			Platforms: r.opts.platforms(i),
		}
		if i == 0 && r.opts.Seed%4 == 1 {
			nodes[i].Slow = 3
		}
		for _, l := range nodes[i].Leftovers {
			nodes[i].Capacity = nodes[i].Capacity.Plus(l.Size)
		}
	}
	config := simulated.Config{
		Nodes: nodes, Profile: simulated.Lab, Seed: r.opts.Seed, Locks: r.opts.Locks, Faults: r.opts.Faults,
		Overcommits: r.opts.Faults != (simulated.Rates{}),
	}
	if r.opts.cramped() {
		config.Pools = map[string]cluster.MiB{simulated.SharedPool: 3072}
	}
	r.cluster = simulated.New(config)
	var err error
	if r.store, err = simstore.New(); err != nil {
		return err
	}
	r.store.FailNext = r.unwritten
	settings := Settings(r.opts)
	r.switchable(&settings)
	r.ration(&settings)
	r.settings = settings
	r.check = NewChecker(r.cluster, settings.Execute.Limits.MaxSkew, r.opts.quiet(), r.opts.Trace)
	r.start = r.cluster.Now()
	r.end = r.start.Add(r.opts.Trouble)
	r.shell, err = simclock.New(simclock.Config{
		Settings: settings, Cluster: r.cluster, Store: recorder{r.store, r}, Down: 3 * time.Second,
		Latency:  func() time.Duration { return time.Duration(1+r.chance.IntN(40)) * time.Millisecond },
		Thinking: r.thinking(),
		Crash:    r.crash,
		Called:   r.called,
		Pressed:  r.check.PowerRequested,
	})
	return err
}

// thinking returns how long steps of the scheduler take. With every fourth seed decisions are slow, so that vjobs which
// certainly wait are put off, and most decisions are taken beside the loop; with every eighth, other things change meanwhile.
func (r *run) thinking() func() time.Duration {
	chance := rand.New(rand.NewPCG(r.opts.Seed, 54)) // of its own: other draws stay the same
	if chance.IntN(4) > 0 {
		return nil
	}
	longest := []int{200, 10_000}[chance.IntN(2)]
	if r.opts.Static {
		longest = 200 // a reservation begins late by as much as a decision takes
	}
	return func() time.Duration { return time.Duration(chance.IntN(longest)) * time.Millisecond }
}

// recorder passes every written step to the checker, also if the scheduler gets an error for
// it.
type recorder struct {
	*simstore.Store
	run *run
}

// Commit writes a step.
func (s recorder) Commit(ctx context.Context, step journal.Step) error {
	err := s.Store.Commit(ctx, step)
	if err == nil || errors.Is(err, simstore.ErrWritten) {
		text, err := json.Marshal(step)
		if err != nil {
			panic(err) // plain data
		}
		s.run.log.Write(text)
		s.run.inQuota(step)   //nolint:contextcheck // nothing in memory blocks
		s.run.inPools(step)   //nolint:contextcheck // nothing in memory blocks
		s.run.inBalance(step) //nolint:contextcheck // nothing in memory blocks
		s.run.afterLoss(step) //nolint:contextcheck // nothing in memory blocks
		s.run.inMode(step)    //nolint:contextcheck // nothing in memory blocks
		s.run.check.Committed(step)
	}
	return err
}

// crash reports whether the scheduler dies at this point.
func (r *run) crash(string) bool {
	if r.calm {
		return false
	}
	r.points++
	if r.opts.CrashAt > 0 {
		return r.points == r.opts.CrashAt
	}
	return r.opts.Crashes > 0 && r.chance.Float64() < r.opts.Crashes
}

// unwritten returns the error of a commit, if it is to fail.
func (r *run) unwritten() error {
	if r.calm || r.pruner.busy || r.shell == nil || r.opts.Unwritten == 0 || r.chance.Float64() >= r.opts.Unwritten {
		return nil
	}
	if r.chance.IntN(2) == 0 {
		return simstore.ErrWritten
	}
	return errors.New("database or disk is full")
}

// called checks a call, and applies the options LoseAt and RepeatAt to it.
func (r *run) called(now time.Time, call hypervisor.Call) {
	r.check.Called(now, call)
	if r.calm {
		return
	}
	r.calls++
	switch r.calls {
	case r.opts.LoseAt:
		kind := simulated.CallLost
		if r.opts.Seed%2 == 0 {
			kind = simulated.CallSilent
		}
		if err := r.cluster.Inject(now, simulated.Fault{Kind: kind, Node: call.Node, VM: call.VM, Verb: &call.Verb}); err != nil {
			panic(err) // an armed fault finds its call
		}
	case r.opts.RepeatAt:
		r.cluster.Begin(now, call)
	}
}

// trouble is the phase with submissions, user actions and faults.
func (r *run) trouble() error {
	next := r.start
	for jobs := 3 + r.chance.IntN(6); r.shell.Now().Before(r.end); {
		if !r.shell.Now().Before(next) {
			if jobs > 0 {
				jobs--
				if err := r.submit(); err != nil {
					return err
				}
			} else if !r.opts.Static {
				r.meddle()
			}
			next = r.shell.Now().Add(time.Duration(r.chance.IntN(90_000)) * time.Millisecond)
		}
		if err := r.step(minTime(next, r.end)); err != nil {
			return err
		}
	}
	return nil
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// step runs until the next event, and checks the invariants.
func (r *run) step(to time.Time) error {
	before := r.shell.Now()
	_, err := r.shell.Step(to)
	r.stuck++
	if r.shell.Now().After(before) {
		r.stuck = 0
	}
	if r.stuck > 1_000 {
		return fmt.Errorf("time stands still at %s", before)
	}
	if r.check.changed {
		r.inShape()
		r.isInside()
		r.entitled()
		r.known()
	}
	r.check.Look()
	r.withinBudget()
	r.inTime()
	r.prune()
	r.switchNode()
	if err == nil && len(r.check.violations) > 0 {
		err = errViolated
	}
	return err
}

// atEnd checks what must hold after the drain: I7, I13-I15, I18.
func (r *run) atEnd() {
	k := r.check
	for i, id := range k.acked {
		if i > 0 && id <= k.acked[i-1] {
			k.violate(13, "vjob %s was acknowledged after %s", id, k.acked[i-1])
		}
		kept, ok := r.store.VJob(id)
		if !ok && r.pruner.sum.VJobs > 0 && k.jobs[id].State.Terminal() {
			continue // it has ended long ago
		}
		if !ok {
			k.violate(13, "vjob %s was acknowledged and is not in the store", id)
			continue
		}
		if !kept.State.Terminal() {
			rec := k.gangs[id]
			k.violate(18, "vjob %s is %s (gang %s) %s after the last fault: %s", id, kept.State, rec.Phase, r.opts.Drain, r.why(id))
		}
	}
	truth := r.cluster.Truth()
	k.leftovers(truth)
	for _, c := range truth.Copies {
		if _, known := k.left[c.VM]; known {
			continue
		}
		k.violate(14, "%s on %s is left although every vjob has ended", c.VM, c.Node)
	}
	for _, i := range truth.Images {
		rec := k.gangs[i.ID.VM.VJob]
		if _, kept := rec.Keeps(i.ID.Generation); kept {
			continue
		}
		k.violate(14, "image %s is left although every vjob has ended", i.ID)
	}
	for i, n := range r.cluster.Nodes() {
		if r.opts.Manage {
			break // it may be off
		}
		view, err := r.cluster.Look(r.shell.Now(), n.ID)
		if err != nil || len(view.Unmanaged) != len(r.unmanaged(i)) {
			k.violate(15, "node %s: unmanaged machines %v (%v)", n.ID, view.Unmanaged, err)
		}
	}
	if why := r.dark(); why != "" {
		k.violate(18, "%s after the last fault: %s", r.opts.Drain, why)
	}
	r.checkLog()
	loaded, err := r.store.Load(context.Background())
	if err != nil || len(loaded.Open) > 0 {
		k.violate(14, "%d calls are still open (%v)", len(loaded.Open), err)
	}
}

func (r *run) why(id cluster.VJobID) string {
	if s := r.shell.Snapshot(); s != nil {
		return s.VJob(id).Reason
	}
	return "the scheduler is down"
}
