// Package forecast tells what is going to be: when each vjob starts and ends if all use
// up their walltimes and nobody is submitted, how much is used meanwhile, and why those
// that wait do.
//
// Room is reckoned in sums, and, as far as that does not take too long, in places on the
// nodes, where all that run may be moved; by rules where somebody has some. It is pure. It
// refuses to know policies, and who is on which node: in which order vjobs wait, and which of them run, has been decided.
package forecast

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/queue/availability"
)

// Job is what the forecast knows of one vjob.
type Job struct {
	ID    cluster.VJobID
	Need  cluster.Resources
	VMs   []cluster.Resources      // each of them; none: it finds places wherever there is room
	Parts []availability.LimitPart // that it takes of quotas
	Ruled bool                     // rules have a say in where its VMs are
	Left  time.Duration            // of its walltime
	Ends  bool                     // it has a walltime
	Runs  bool                     // it does, or starts now
	Since time.Time                // when it last started, if it runs
	// Yields: it runs, and makes room for those before it; BestEffort: for all others.
	Yields, BestEffort bool
	// Strict: it does not start before an earlier vjob that is strict too, unless that waits
	// for a quota.
	Strict   bool
	Reserved time.Time // its room is kept from then on; zero: it has no reservation
	// NotBefore is an instant before which it does not start, whatever room there is, and
	// keeps nobody else; zero: there is none.
	NotBefore time.Time
	// After are those for which it waits, if it is stuck for nothing else; Array is its own.
	After []Dependency
	Array cluster.VJobID
	// Leaves: it is on its way out, and its room comes back by itself.
	Leaves bool
	// Stuck: when it starts does not depend on room, and cannot be known: it is held, it
	// waits for another, or it is left alone for a while.
	Stuck  bool
	Reason string // as was last decided
}

// Scene is what a forecast is made of.
type Scene struct {
	Now    time.Time
	Total  cluster.Resources   // of the nodes that take VMs
	Nodes  []cluster.Resources // each of them
	Places Places              // on them, by all rules; nil: there are no rules
	Jobs   []Job               // those that wait in the order of their turns
	// Until is when all has to have ended; zero: whenever.
	Until time.Time
	// Gap is for how long after its end the room of each counts as taken; see queue.Apart.
	Gap time.Duration
}

// Bar is one vjob in the schedule, in the place that it has among the jobs.
type Bar struct {
	Start time.Time // zero: that cannot be known
	End   time.Time // zero: that has no end, or cannot be known
	Why   string    // it waits, with what it waits for
	// Named are the vjobs that Why names; Discreet is the same without their numbers, for
	// users that may not see all of them.
	Named    []cluster.VJobID
	Discreet string
}

// Use is what is in use from an instant until the next.
type Use struct {
	At    time.Time
	Used  cluster.Resources
	Nodes int // that it takes at least
}

// Schedule is the forecast.
type Schedule struct {
	Bars []Bar
	Use  []Use
}

// Of makes the forecast.
func Of(s *Scene) Schedule {
	f := &forecast{
		Scene: s.withGaps(), bars: make([]Bar, len(s.Jobs)), available: availability.New(s.Now, s.Total, cluster.Resources{}), effort: maxEffort,
	}
	f.leaving = slices.ContainsFunc(s.Jobs, func(j Job) bool { return j.Leaves })
	f.planRunning()
	f.planReserved()
	f.initProtected()
	f.planWaiting()
	f.planDependents()
	f.removeGaps()
	return Schedule{Bars: f.bars, Use: f.use()}
}

// withGaps is the scene in which each that ends has the gap in what is left of it, so that all
// that is reckoned with room counts it. What is told of ends is without it.
func (s *Scene) withGaps() *Scene {
	if s.Gap <= 0 {
		return s
	}
	later := *s
	later.Jobs = slices.Clone(s.Jobs)
	for i := range later.Jobs {
		if j := &later.Jobs[i]; j.Ends {
			j.Left += s.Gap
		}
	}
	return &later
}

// removeGaps takes the gaps from the ends, once all is planned.
func (f *forecast) removeGaps() {
	for i := range f.bars {
		if b := &f.bars[i]; !b.End.IsZero() {
			b.End = b.End.Add(-f.Gap)
		}
	}
}

// forecast is one that is being made.
type forecast struct {
	*Scene
	bars       []Bar
	available  *availability.Profile
	protected  *availability.Profile // beside those before the one that is looked at; nil: nobody yields
	searches   int                   // how often it was
	ends       []end                 // of what runs or is planned, in no order
	sorted     int                   // so many of them are in order
	endless    []cluster.VJobID
	leaving    bool // somebody is on its way out: room may be there at once
	effort     int  // that is left for places
	placements int  // how often rules were looked at
}

// end is an instant at which a vjob gives its room back.
type end struct {
	at   time.Time
	job  cluster.VJobID
	need cluster.Resources
}

// plan puts a vjob into the schedule.
func (f *forecast) plan(i int, start time.Time) {
	j, b := &f.Jobs[i], &f.bars[i]
	b.Start = start
	for _, part := range j.Parts {
		part.Take(later(start, f.Now), j.Left, j.Ends)
	}
	if !j.Ends {
		f.endless = append(f.endless, j.ID)
		return
	}
	b.End = later(start, f.Now).Add(j.Left)
	f.ends = append(f.ends, end{b.End, j.ID, j.Need})
}

func (f *forecast) planRunning() {
	for i := range f.Jobs {
		if j := &f.Jobs[i]; j.Runs {
			start := j.Since
			if start.IsZero() {
				start = f.Now
			}
			f.plan(i, start)
			f.bars[i].Why = j.Reason
			f.available.Occupy(j.Need, j.Left, j.Ends)
		}
	}
}

func (f *forecast) planReserved() {
	for i := range f.Jobs {
		if j := &f.Jobs[i]; !j.Runs && !j.Stuck && !j.Reserved.IsZero() {
			start := later(j.Reserved, f.Now)
			f.plan(i, start)
			f.bars[i].Why = j.Reason
			f.available.Book(start, j.Need, j.Left)
		}
	}
}

// planWaiting plans those that wait, each as early as it can beside all before it.
func (f *forecast) planWaiting() {
	before, unknown := f.Now, false // of the last strict one
	for i := range f.Jobs {
		j := &f.Jobs[i]
		f.holdRunning(j)
		if j.Runs || !j.Reserved.IsZero() && !j.Stuck {
			continue
		}
		if j.Stuck || j.Strict && unknown {
			f.bars[i].Why = j.Reason
			continue
		}
		from := f.Now
		if j.Strict {
			from = before
		}
		from = later(from, j.NotBefore)
		start, because, ok := f.start(j, from)
		if sooner, some := f.earliestByPreemption(j, from); some && !because.infeasible && (!ok || sooner.Before(start)) {
			start, because, ok = sooner, byPreemption, true
		}
		why := reason{before: j.Reason}
		if !ok || !start.Equal(j.NotBefore) {
			why = f.why(j, start, because, ok)
		}
		why.setOn(&f.bars[i])
		if !ok {
			unknown = unknown || j.Strict && because.limit == ""
			continue
		}
		f.occupy(j, start, because)
		f.plan(i, start)
		if j.Strict && j.NotBefore.IsZero() && because.limit == "" { // a quota holds up nobody else
			before = start
		}
	}
}

// use adds up what is in use over time.
func (f *forecast) use() []Use {
	type change struct {
		at   time.Time
		need cluster.Resources
	}
	var changes []change
	for i := range f.bars {
		if b := &f.bars[i]; !b.Start.IsZero() {
			changes = append(changes, change{later(b.Start, f.Now), f.Jobs[i].Need})
			if !b.End.IsZero() {
				changes = append(changes, change{b.End, cluster.Resources{}.Minus(f.Jobs[i].Need)})
			}
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return a.at.Compare(b.at) })
	sizes := sums(f.Nodes)
	list := []Use{{At: f.Now}}
	var sum cluster.Resources
	for _, c := range changes {
		sum = sum.Plus(c.need)
		used := cluster.Resources{CPU: min(sum.CPU, f.Total.CPU), Memory: min(sum.Memory, f.Total.Memory)} // others make room
		if last := &list[len(list)-1]; !c.at.After(last.At) {
			last.Used, last.Nodes = used, minNodes(sizes, used)
		} else {
			list = append(list, Use{At: c.at, Used: used, Nodes: minNodes(sizes, used)})
		}
	}
	return list
}

// capacitySums is what the largest nodes have together.
type capacitySums struct{ cpu, memory []int64 }

func sums(nodes []cluster.Resources) (r capacitySums) {
	for _, n := range nodes {
		r.cpu, r.memory = append(r.cpu, int64(n.CPU)), append(r.memory, int64(n.Memory))
	}
	for _, list := range [][]int64{r.cpu, r.memory} {
		slices.SortFunc(list, func(a, b int64) int { return cmp.Compare(b, a) })
		for i := 1; i < len(list); i++ {
			list[i] += list[i-1]
		}
	}
	return r
}

// minNodes is how many nodes it takes at least.
func minNodes(r capacitySums, used cluster.Resources) int {
	count := func(sums []int64, amount int64) int {
		if amount <= 0 {
			return 0
		}
		i, _ := slices.BinarySearch(sums, amount)
		return min(i+1, len(sums))
	}
	return max(count(r.cpu, int64(used.CPU)), count(r.memory, int64(used.Memory)))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
