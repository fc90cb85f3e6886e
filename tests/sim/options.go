package sim

import (
	"time"

	"vjob/hypervisor/simulated"
	"vjob/queue"
)

// Options choose what a run goes through. The seed decides everything else.
type Options struct {
	Seed    uint64
	Faults  simulated.Rates
	Crashes float64       // chance of a crash of the scheduler at each point where it can die
	Trouble time.Duration // how long faults and users go on
	Drain   time.Duration // how long everything may take to come to its end after that
	// CrashAt, when positive, kills the scheduler once, at that point of the run.
	CrashAt int
	// LoseAt, when positive, is the call of the run whose reply is lost; the call
	// itself takes effect. RepeatAt is the one that is made twice.
	LoseAt, RepeatAt int
	// Unwritten is the chance that a commit fails: half of those were written.
	Unwritten float64
	Locks     bool // a lock manager is there, and VMs migrate while they run
	Static    bool // the users change nothing after their submissions
	// Keep, when positive, is how long the history is kept: what is older is deleted
	// now and then, and nothing else may come of it.
	Keep   time.Duration
	Policy queue.Policy // nil: the seed chooses
	// Power: somebody switches nodes off and on.
	Power bool
	// Manage: power management does so as well.
	Manage bool
	// Trace is told everything that happens, for people. Nil is nobody.
	Trace func(line string)
}

// Harsh is a run with everything in it.
func Harsh(seed uint64) Options {
	return Options{
		Seed: seed, Faults: simulated.Harsh, Crashes: 0.004, Trouble: 40 * time.Minute, Drain: 3 * time.Hour,
		Locks: seed%2 == 0, Unwritten: 0.002, Keep: time.Duration(seed%3) * time.Minute,
	}
}

// Calm is a run in which nothing goes wrong: what is left are our own mistakes.
func Calm(seed uint64) Options {
	return Options{Seed: seed, Trouble: 20 * time.Minute, Drain: 3 * time.Hour, Locks: seed%2 == 0}
}

// quiet reports whether nothing at all goes wrong in the run.
func (o *Options) quiet() bool {
	return o.Faults == (simulated.Rates{}) && o.LoseAt == 0 && o.RepeatAt == 0
}

// cramped reports whether not all vjobs fit into the image store of a run.
func (o *Options) cramped() bool { return o.Seed%4 == 0 }
