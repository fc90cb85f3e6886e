// Package swf reads logs of real workloads in the Standard Workload Format of the
// Parallel Workloads Archive (Feitelson, Tsafrir, Krakov, JPDC 74(10), 2014): a
// line with 18 numbers for each job, after comments that begin with a semicolon.
// A log may be compressed by gzip.
//
// [Read] returns the jobs of a log that can be replayed on one pool of processors.
// Conventions handle missing values; each counts how often it was needed, so that nothing is
// dropped or changed silently.
package swf

import "time"

// Job is one job that can be replayed. Times are in seconds from the first
// submission.
type Job struct {
	Number     int64 // in the log
	Submit     int64
	Run        int64 // run time, 1 at least
	Walltime   int64 // requested by the user, at least Run
	Processors int64 // 1 at least
	Others
}

// Log is the jobs of a log in the order of their submission; of those submitted
// together, in the order of the file.
type Log struct {
	Jobs       []Job
	Processors int64 // of the pool
	Declared   int64 // by the log itself; 0 when it says nothing
	// Word is the key of Declared: MaxProcs, else MaxNodes.
	Word   string
	Start  time.Time // of the first submission; zero if the log has no start time
	Lines  int       // with jobs
	Counts []Count
}

// Count is how often a convention was needed.
type Count struct {
	Convention Convention
	Jobs       int
	Line       int // of the first one
}

// Convention is a rule for a missing or inconsistent value.
type Convention uint8

// The conventions, in the order in which they are applied to a job. The first ones
// leave it out.
const (
	CutOff       Convention = iota // the last line ends in the middle
	NoProcessors                   // neither requested nor allocated
	NoRun                          // no run time, or 0
	NoSubmit                       // no time of submission
	TooWide                        // it needs more processors than the pool has
	Requested                      // the numbers of allocated and requested processors differ
	NoWalltime                     // no requested time, or 0
	Killed                         // it ran longer than requested
	OutOfOrder                     // it comes after a job that was submitted later
	Repeated                       // a previous job has the same number
	Part                           // it was stopped and continued later
	conventions
)

// Skips reports whether the job is left out.
func (c Convention) Skips() bool { return c <= TooWide }

// String describes the finding and its handling.
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
