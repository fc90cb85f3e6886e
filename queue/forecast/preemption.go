package forecast

import (
	"time"

	"vjob/cluster"
	"vjob/queue/availability"
)

// Where those that run make room for those before them, who waits need not wait for their
// ends: only for those of whom comes before it, and of whom keeps its room. When somebody
// who made room goes on is not foretold.

// initProtected prepares the outlook of those that keep their room, if somebody does not.
func (f *forecast) initProtected() {
	some := false
	for i := range f.Jobs {
		some = some || f.Jobs[i].Runs && f.Jobs[i].Yields
	}
	if !some {
		return
	}
	f.protected = availability.New(f.Now, f.Total, cluster.Resources{})
	for i := range f.Jobs {
		switch j := &f.Jobs[i]; {
		case j.Runs && !j.Yields:
			f.protected.Occupy(j.Need, j.Left, j.Ends)
		case !j.Runs && !j.Stuck && !j.Reserved.IsZero():
			f.protected.Book(later(j.Reserved, f.Now), j.Need, j.Left)
		}
	}
}

// holdRunning has those behind one that runs come after it.
func (f *forecast) holdRunning(j *Job) {
	if f.protected != nil && j.Runs && j.Yields && !j.BestEffort {
		f.occupyProtected(j, f.Now)
	}
}

// endless is longer than anything runs that has no end.
const endless = 100 * 365 * 24 * time.Hour

// occupyProtected takes the room of one from those behind it.
func (f *forecast) occupyProtected(j *Job, start time.Time) {
	length := j.Left
	if !j.Ends {
		length = endless
	}
	f.protected.Book(start, j.Need, length)
}

// earliestByPreemption is the first start from an instant on at which there is room beside those
// before it. Where there is already something else keeps it from starting, and it reports
// false.
func (f *forecast) earliestByPreemption(j *Job, from time.Time) (start time.Time, ok bool) {
	if f.searches++; f.searches > maxSearches {
		f.protected = nil
	}
	if f.protected == nil || j.BestEffort {
		return start, false
	}
	var b cause
	for ok = true; ok; {
		if start, ok = f.protected.From(from, j.Need, j.Left, j.Ends); !ok {
			return start, false
		}
		if from, ok = f.withinLimits(j, start, &b); !from.After(start) {
			break
		}
	}
	return start, ok && start.After(f.Now) && !f.tooLate(j, start)
}

// maxSearches is for how many this is looked at: those far down the line have little of it.
const maxSearches = 1000

// byPreemption is what one waits for that others make room for.
var byPreemption = cause{preempts: true}

// occupy takes the room for a start.
func (f *forecast) occupy(j *Job, start time.Time, b cause) {
	if b.preempts {
		length := j.Left
		if !j.Ends {
			length = endless
		}
		f.available.Book(start, j.Need, length)
	} else {
		f.available.Reserve(start, j.Need, j.Left, j.Ends)
	}
	if f.protected != nil && !j.BestEffort {
		f.occupyProtected(j, start)
	}
}
