package forecast

import (
	"time"

	"vjob/cluster"
	"vjob/queue/availability"
)

// Where running vjobs are suspended for earlier ones, a waiting vjob waits for the ends of
// earlier and of non-preemptible vjobs only. When suspended vjobs go on is not forecast.

// initProtected prepares the profile without vjobs that yield, if there are any.
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
			f.protected.Book(cluster.Later(j.Reserved, f.Now), j.Need, j.Left)
		}
	}
}

// holdRunning takes the capacity of a running vjob that yields from later ones.
func (f *forecast) holdRunning(j *Job) {
	if f.protected != nil && j.Runs && j.Yields && !j.BestEffort {
		f.occupyProtected(j, f.Now)
	}
}

// endless is longer than any vjob runs. Vjobs without a walltime take their capacity for so long.
const endless = 100 * 365 * 24 * time.Hour

// isKnown reports whether a start comes before vjobs without a walltime would end.
func (f *forecast) isKnown(start time.Time) bool { return start.Before(f.Now.Add(endless)) }

// occupyProtected takes the capacity of a vjob from later ones.
func (f *forecast) occupyProtected(j *Job, start time.Time) {
	length := j.Left
	if !j.Ends {
		length = endless
	}
	f.protected.Book(start, j.Need, length)
}

// earliestByPreemption returns the first start beside earlier vjobs. It reports false if they leave
// capacity already: then something else prevents the start.
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
	return start, ok && start.After(f.Now) && f.isKnown(start) && !f.tooLate(j, start)
}

// maxSearches bounds the searches of earliestByPreemption: vjobs far down the queue gain little.
const maxSearches = 1000

// byPreemption is the cause of a start for which others are suspended.
var byPreemption = cause{preempts: true}

// occupy takes the capacity for a start.
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
