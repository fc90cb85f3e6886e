// Package forecast computes when each vjob starts and ends if all use their whole walltimes and no
// vjob is submitted, how much is used meanwhile, and why waiting vjobs wait.
//
// Capacity is counted in sums and, within a limit on effort, in places on the nodes with all running
// VMs movable, by the placement rules if there are any. The order of the vjobs and which of them run
// are inputs: they were decided before.
package forecast

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/queue/availability"
)

// Job is a vjob as the forecast sees it.
type Job struct {
	ID    cluster.VJobID
	Need  cluster.Resources
	VMs   []cluster.Resources      // each of them; empty: sums decide
	Parts []availability.LimitPart // of limits that it takes
	Pool  PoolNeed                 // what it reserves in its pool; nil: nothing
	Ruled bool                     // placement rules concern it
	Left  time.Duration            // of its walltime
	Ends  bool                     // it has a walltime
	Runs  bool                     // it runs or starts now
	Since time.Time                // when it last started, if it runs
	// Yields: it runs and is suspended for earlier vjobs; BestEffort: for all others.
	Yields, BestEffort bool
	// Strict: it does not start before an earlier vjob that is strict too, unless that waits
	// for a quota.
	Strict   bool
	Reserved time.Time // start of its reservation; zero: none
	// NotBefore is an instant before which it does not start, whatever is free, without delaying
	// others; zero: none.
	NotBefore time.Time
	// After are the unmet dependencies if nothing else blocks it; Array is its own array.
	After []Dependency
	Array cluster.VJobID
	// Leaves: it is on its way out, and its capacity becomes free by itself.
	Leaves bool
	// Stuck: its start is unknown and does not depend on capacity, since it is held, backs off or
	// waits for another vjob.
	Stuck  bool
	Reason string // of the last decision
	// Named are the vjobs in Reason; Discreet is Reason for users that must not see all of them, "" if it is the same.
	Named    []cluster.VJobID
	Discreet string
}

// PoolNeed is what a vjob reserves in its pool, and so in those above it.
type PoolNeed interface {
	// Earliest returns the first instant, from one on, at which the vjob may begin that runs for a length of time, or for
	// good, and the limit for which it waits until then, in words. It reports false if no instant does.
	Earliest(from time.Time, length time.Duration, ends bool) (start time.Time, limit string, ok bool)
	// Take reserves the need for a vjob that begins at an instant.
	Take(from time.Time, length time.Duration, ends bool)
}

// Scene is the input of a forecast.
type Scene struct {
	Now    time.Time
	Total  cluster.Resources   // of the nodes that may run VMs
	Nodes  []cluster.Resources // each of them
	Places Places              // by all rules; nil without rules
	Jobs   []Job               // waiting ones in order
	// Until is when all vjobs must have ended; zero: never.
	Until time.Time
	// Gap is how long after its end the capacity of a vjob counts as taken; see [queue.WithGap].
	Gap time.Duration
}

// Estimate is one vjob in the schedule, at its index among the jobs. Its reason is put into words when it is read.
type Estimate struct {
	Start   time.Time // zero: unknown
	End     time.Time // zero: none, or unknown
	job     *Job
	because reason // beside that of the last decision
}

// Use is what is in use from an instant until the next.
type Use struct {
	At    time.Time
	Used  cluster.Resources
	Nodes int // the least number that has so much
}

// Schedule is the forecast.
type Schedule struct {
	Estimates []Estimate
	Use       []Use
}

// Compute computes the forecast.
func Compute(s *Scene) Schedule {
	f := &forecast{
		Scene: s.withGaps(), bars: make([]Estimate, len(s.Jobs)), available: availability.New(s.Now, s.Total, cluster.Resources{}), effort: maxEffort,
	}
	for i := range s.Jobs {
		f.bars[i].job = &s.Jobs[i]
	}
	f.leaving = slices.ContainsFunc(s.Jobs, func(j Job) bool { return j.Leaves })
	f.planRunning()
	f.planReserved()
	f.initProtected()
	f.planWaiting()
	f.planDependents()
	f.removeGaps()
	return Schedule{Estimates: f.bars, Use: f.use()}
}

// withGaps returns the scene with each vjob longer by the gap. The ends in the result exclude it.
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

// removeGaps removes the gaps from the ends.
func (f *forecast) removeGaps() {
	for i := range f.bars {
		if b := &f.bars[i]; !b.End.IsZero() {
			b.End = b.End.Add(-f.Gap)
		}
	}
}

// forecast is the state of one computation.
type forecast struct {
	*Scene
	bars       []Estimate
	available  *availability.Profile
	protected  *availability.Profile // beside earlier vjobs only; nil: no vjob yields
	searches   int                   // in protected
	ends       []end                 // of running and planned vjobs, unsorted
	sorted     int                   // length of the sorted prefix
	endless    []cluster.VJobID
	leaving    bool // a vjob is on its way out: capacity may become free at once
	effort     int  // left for placement
	placements int  // number of placements by rules
}

// end is an instant at which a vjob frees its capacity.
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
		part.Take(cluster.Later(start, f.Now), j.Left, j.Ends)
	}
	if j.Pool != nil {
		j.Pool.Take(cluster.Later(start, f.Now), j.Left, j.Ends)
	}
	if !j.Ends {
		f.endless = append(f.endless, j.ID)
		return
	}
	b.End = cluster.Later(start, f.Now).Add(j.Left)
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
			f.available.Occupy(j.Need, j.Left, j.Ends)
		}
	}
}

func (f *forecast) planReserved() {
	for i := range f.Jobs {
		if j := &f.Jobs[i]; !j.Runs && !j.Stuck && !j.Reserved.IsZero() {
			start := cluster.Later(j.Reserved, f.Now)
			f.plan(i, start)
			f.available.Book(start, j.Need, j.Left)
		}
	}
}

// planWaiting plans waiting vjobs, each as early as it fits beside all earlier ones.
func (f *forecast) planWaiting() {
	before, unknown := f.Now, false // start of the last strict vjob; unknown: it has none
	for i := range f.Jobs {
		j := &f.Jobs[i]
		f.holdRunning(j)
		if j.Runs || !j.Reserved.IsZero() && !j.Stuck {
			continue
		}
		if j.Stuck || j.Strict && unknown {
			continue
		}
		from := f.Now
		if j.Strict {
			from = before
		}
		from = cluster.Later(from, j.NotBefore)
		start, because, ok := f.start(j, from)
		if sooner, some := f.earliestByPreemption(j, from); some && !because.infeasible && (!ok || sooner.Before(start)) {
			start, because, ok = sooner, byPreemption, true
		}
		if !ok || !start.Equal(j.NotBefore) {
			f.bars[i].because = f.why(j, start, because, ok)
		}
		if !ok {
			unknown = unknown || j.Strict && because.limit == ""
			continue
		}
		f.occupy(j, start, because)
		f.plan(i, start)
		if j.Strict && j.NotBefore.IsZero() && because.limit == "" { // a quota delays no other
			before = start
		}
	}
}

// use sums up what is in use over time.
func (f *forecast) use() []Use {
	type change struct {
		at   time.Time
		need cluster.Resources
	}
	var changes []change
	for i := range f.bars {
		if b := &f.bars[i]; !b.Start.IsZero() {
			changes = append(changes, change{cluster.Later(b.Start, f.Now), f.Jobs[i].Need})
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
		used := cluster.Resources{CPU: min(sum.CPU, f.Total.CPU), Memory: min(sum.Memory, f.Total.Memory)} // others are suspended
		if last := &list[len(list)-1]; !c.at.After(last.At) {
			last.Used, last.Nodes = used, minNodes(sizes, used)
		} else {
			list = append(list, Use{At: c.at, Used: used, Nodes: minNodes(sizes, used)})
		}
	}
	return list
}

// capacitySums are the sums over the largest nodes, by their number.
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

// minNodes returns the least number of nodes that have so much.
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
