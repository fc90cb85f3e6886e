package sim

import (
	"time"

	"vjob/hypervisor/simulated"
	"vjob/queue"
)

// Options are the options of a run. The seed decides everything else.
type Options struct {
	Seed    uint64
	Faults  simulated.Rates
	Crashes float64       // probability of a crash of the scheduler at each point where it can die
	Trouble time.Duration // duration of the phase with faults and user actions
	Drain   time.Duration // time for all vjobs to end after that
	// CrashAt, when positive, kills the scheduler once, at that point of the run.
	CrashAt int
	// LoseAt, if positive, is the number of a call that takes effect and loses its reply.
	// RepeatAt is the number of a call that is made twice.
	LoseAt, RepeatAt int
	// Unwritten is the probability that a commit fails; half of the failed commits are written.
	Unwritten float64
	Locks     bool // nodes have a lock manager, and VMs migrate live
	Static    bool // users change nothing after their submissions
	// Keep, if positive, is how long the history is kept. Older history is deleted from time
	// to time, which must not change the run.
	Keep   time.Duration
	Policy queue.Policy // default: the seed chooses
	// Power: an operator switches nodes off and on.
	Power bool
	// Manage: power management does so too.
	Manage bool
	// Trace gets every change as a line of text. May be nil.
	Trace func(line string)
}

// Harsh returns the options of a run with faults and crashes.
func Harsh(seed uint64) Options {
	return Options{
		Seed: seed, Faults: simulated.Harsh, Crashes: 0.004, Trouble: 40 * time.Minute, Drain: 3 * time.Hour,
		Locks: seed%2 == 0, Unwritten: 0.002, Keep: time.Duration(seed%3) * time.Minute,
	}
}

// Calm returns the options of a run without faults: every violation is a defect of vjob.
func Calm(seed uint64) Options {
	return Options{Seed: seed, Trouble: 20 * time.Minute, Drain: 3 * time.Hour, Locks: seed%2 == 0}
}

// quiet reports whether the run has no faults at all.
func (o *Options) quiet() bool {
	return o.Faults == (simulated.Rates{}) && o.LoseAt == 0 && o.RepeatAt == 0
}

// cramped reports whether the image store of a run is too small for all vjobs.
func (o *Options) cramped() bool { return o.Seed%4 == 0 }
