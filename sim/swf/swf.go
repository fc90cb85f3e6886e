// Package swf reads logs of real workloads in the Standard Workload Format of the
// Parallel Workloads Archive (Feitelson, Tsafrir, Krakov, JPDC 74(10), 2014): a
// line with 18 numbers for each job, after comments that begin with a semicolon.
// A log may be compressed by gzip.
//
// [Read] makes of a log the jobs that can be replayed on one pool of processors.
// What is missing in it is dealt with by conventions; each counts how often it was
// needed, so that nothing is dropped or changed in silence.
//
// It refuses to know how jobs are scheduled.
package swf

import "time"

// Job is one job that can be replayed. Times are in seconds from the first
// submission.
type Job struct {
	Number     int64 // in the log
	Submit     int64
	Run        int64 // how long it runs, 1 at least
	Walltime   int64 // how long its user said that it may run; it never runs longer
	Processors int64 // 1 at least
	Others
}

// Log is the jobs of a log in the order of their submission; of those submitted
// together, in the order of the file.
type Log struct {
	Jobs       []Job
	Processors int64 // of the pool
	Declared   int64 // by the log itself; 0 when it says nothing
	// Word is where the log says it: MaxProcs, or without that MaxNodes.
	Word   string
	Start  time.Time // of the first submission; zero when the log does not say when it begins
	Lines  int       // with jobs
	Counts []Count
}

// Count is how often a convention was needed.
type Count struct {
	Convention Convention
	Jobs       int
	Line       int // of the first one
}

// Convention is how something in a log is dealt with.
type Convention uint8

// The conventions, in the order in which they are applied to a job. The first ones
// leave it out.
const (
	CutOff       Convention = iota // the last line ends in the middle
	NoProcessors                   // neither requested nor allocated
	NoRun                          // no run time, or 0
	NoSubmit                       // no time of submission
	TooWide                        // it needs more processors than the pool has
	Requested                      // it got another number of processors than it asked for
	NoWalltime                     // no requested time, or 0
	Killed                         // it ran longer than it asked for
	OutOfOrder                     // it stands after one that was submitted later
	Repeated                       // another one has the same number
	Part                           // it was stopped and went on later
	conventions
)

// Skips reports whether the job is left out.
func (c Convention) Skips() bool { return c <= TooWide }

// String says what was found and what is done about it.
func (c Convention) String() string {
	return [...]string{
		CutOff:       "the last line is cut off: left out",
		NoProcessors: "no number of processors, neither requested nor allocated: left out",
		NoRun:        "no run time, or 0: left out",
		NoSubmit:     "no time of submission: left out",
		TooWide:      "more processors than there are: left out",
		Requested:    "requested another number of processors than allocated: the requested one is taken",
		NoWalltime:   "no requested time, or 0: the run time is taken",
		Killed:       "ran longer than requested: ends at the requested time",
		OutOfOrder:   "submitted before the one above it: sorted by the time of submission",
		Repeated:     "the number of a job above it: a job of its own all the same",
		Part:         "a part of a job that was stopped and went on (status 2, 3 or 4): a job of its own",
	}[c]
}
