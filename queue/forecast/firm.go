package forecast

import (
	"time"

	"vjob/cluster"
	"vjob/queue/availability"
)

// Where those that run make room for those before them, who waits need not wait for their
// ends: only for those of whom comes before it, and of whom keeps its room. When somebody
// who made room goes on is not foretold.

// stand prepares the outlook of those that keep their room, if somebody does not.
func (f *forecast) stand() {
	some := false
	for i := range f.Jobs {
		some = some || f.Jobs[i].Runs && f.Jobs[i].Yields
	}
	if !some {
		return
	}
	f.firm = availability.New(f.Now, f.Total, cluster.Resources{})
	for i := range f.Jobs {
		switch j := &f.Jobs[i]; {
		case j.Runs && !j.Yields:
			f.firm.Occupy(j.Need, j.Left, j.Ends)
		case !j.Runs && !j.Stuck && !j.Reserved.IsZero():
			f.firm.Book(later(j.Reserved, f.Now), j.Need, j.Left)
		}
	}
}

// pass has those behind one that runs come after it.
func (f *forecast) pass(j *Job) {
	if f.firm != nil && j.Runs && j.Yields && !j.BestEffort {
		f.hold(j, f.Now)
	}
}

// forGood is longer than anything runs that has no end.
const forGood = 100 * 365 * 24 * time.Hour

// hold takes the room of one from those behind it.
func (f *forecast) hold(j *Job, start time.Time) {
	length := j.Left
	if !j.Ends {
		length = forGood
	}
	f.firm.Book(start, j.Need, length)
}

// amongFirm is the first start from an instant on at which there is room beside those
// before it. Where there is already something else keeps it from starting, and it reports
// false.
func (f *forecast) amongFirm(j *Job, from time.Time) (start time.Time, ok bool) {
	if f.asked++; f.asked > mostFirm {
		f.firm = nil
	}
	if f.firm == nil || j.BestEffort {
		return start, false
	}
	var b because
	for ok = true; ok; {
		if start, ok = f.firm.From(from, j.Need, j.Left, j.Ends); !ok {
			return start, false
		}
		if from, ok = f.within(j, start, &b); !from.After(start) {
			break
		}
	}
	return start, ok && start.After(f.Now) && !f.tooLate(j, start)
}

// mostFirm is for how many this is looked at: those far down the line have little of it.
const mostFirm = 1000

// madeWay is what one waits for that others make room for.
var madeWay = because{others: true}

// settle takes the room for a start.
func (f *forecast) settle(j *Job, start time.Time, b because) {
	if b.others {
		length := j.Left
		if !j.Ends {
			length = forGood
		}
		f.outlook.Book(start, j.Need, length)
	} else {
		f.outlook.Reserve(start, j.Need, j.Left, j.Ends)
	}
	if f.firm != nil && !j.BestEffort {
		f.hold(j, start)
	}
}
