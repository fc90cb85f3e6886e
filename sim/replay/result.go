package replay

import (
	"time"

	"vjob/cluster"
	"vjob/internal/chart"
)

// Result is what became of a workload under one policy. Times count from the
// start of the workload.
type Result struct {
	Policy   string
	Profile  string
	Nodes    int
	Capacity cluster.Resources
	Total    time.Duration // until the last vjob had ended
	VJobs    []VJob        // in order of submission
	Refused  []Refusal     // likewise
	Switches []Switch      // in order of their start
	Samples  []Sample      // of what is used, in order of time
}

// Refusal is what the daemon would not have taken: a vjob, or a whole array.
type Refusal struct {
	Name  string
	Owner string
	Queue string // as it was submitted
	At    time.Duration
	VJobs int
	Why   string
}

// VJob is one vjob of the workload.
type VJob struct {
	ID          cluster.VJobID
	Name        string
	Owner       string
	Queue       string
	Project     string
	Length      time.Duration // that it takes alone, when its VMs always get what they need
	Submitted   time.Duration
	Started     time.Duration // when it first ran; negative when it never did
	Ended       time.Duration // negative when it has not
	State       cluster.State
	Reason      string
	Outcome     cluster.Outcome
	Held        bool // it waits for somebody to release it
	Suspensions int  // to disk
	Standstills int  // suspensions in memory
	Migrations  int  // changes of nodes by the whole vjob or some of its VMs
	Spans       []Span
}

// Span is a stretch of time in one state.
type Span struct {
	State    cluster.State
	From, To time.Duration
}

// Spent is how long the vjob was in a state.
func (j *VJob) Spent(state cluster.State) time.Duration {
	var sum time.Duration
	for _, s := range j.Spans {
		if s.State == state {
			sum += s.To - s.From
		}
	}
	return sum
}

// Switch is one context switch.
type Switch struct {
	Plan         int64
	At           time.Duration
	Took         time.Duration
	Estimated    time.Duration
	CostMiB      int64
	Boots        int
	Stops        int
	Pauses       int // suspensions in memory
	Unpauses     int
	Suspends     int // suspensions to disk
	Resumes      int // all of them from disk
	LocalResumes int // those on the node where the image lay
	Migrations   int
	Skew         time.Duration // the largest of its gangs
	State        string        // done, failed, dropped
	Note         string
}

// Actions counts the actions.
func (s *Switch) Actions() int {
	return s.Boots + s.Stops + s.Pauses + s.Unpauses + s.Suspends + s.Resumes + s.Migrations
}

// Sample is what the VMs use at an instant.
type Sample struct {
	At     time.Duration
	CPU    cluster.MilliCPU // what the guests get
	Demand cluster.MilliCPU // what they need
	Memory cluster.MiB
}

// Summary is the totals of a result.
type Summary struct {
	Total      time.Duration
	Ended      int
	Failed     int
	Overdue    int // ended by their walltimes
	Left       int // not ended: they wait for people, or for what never comes
	Refused    int
	Switches   int
	Idle       int // switches of cost 0: nothing is copied
	Boots      int
	Stops      int
	Pauses     int // suspensions in memory
	Suspends   int // suspensions to disk
	Resumes    int
	Local      int // resumes
	Migrations int
	CostMiB    int64
	Wait       chart.Distribution // in seconds, from submission to the first start
	Slowdown   chart.Distribution // bounded: from submission to the end, against what it takes alone
	MeanTurn   time.Duration      // from submission to the end
	CPUUsed    float64            // share of the capacity until the end, 0..1
	CPUDemand  float64            // likewise, may be more than 1
	MemoryUsed float64
}

// Summary computes the totals.
func (r *Result) Summary() Summary {
	s := Summary{Total: r.Total, Switches: len(r.Switches)}
	var turn time.Duration
	var fates fates
	for i := range r.VJobs {
		j := &r.VJobs[i]
		fates.add(j)
		if j.Ended >= 0 {
			s.Ended++
			turn += j.Ended - j.Submitted
		} else {
			s.Left++
		}
		if j.State == cluster.Failed {
			s.Failed++
		}
		if j.Outcome == cluster.WalltimeExceeded {
			s.Overdue++
		}
	}
	for i := range r.Refused {
		s.Refused += r.Refused[i].VJobs
	}
	if s.Ended > 0 {
		s.MeanTurn = turn / time.Duration(s.Ended)
	}
	s.Wait, s.Slowdown = chart.Distribute(fates.waits), chart.Distribute(fates.slowdowns)
	for i := range r.Switches {
		w := &r.Switches[i]
		s.Boots, s.Stops, s.Suspends = s.Boots+w.Boots, s.Stops+w.Stops, s.Suspends+w.Suspends
		s.Resumes, s.Local, s.Migrations = s.Resumes+w.Resumes, s.Local+w.LocalResumes, s.Migrations+w.Migrations
		s.Pauses += w.Pauses
		s.CostMiB += w.CostMiB
		if w.CostMiB == 0 {
			s.Idle++
		}
	}
	s.CPUUsed = r.mean(func(x Sample) float64 { return float64(x.CPU) }) / float64(max(1, r.Capacity.CPU))
	s.CPUDemand = r.mean(func(x Sample) float64 { return float64(x.Demand) }) / float64(max(1, r.Capacity.CPU))
	s.MemoryUsed = r.mean(func(x Sample) float64 { return float64(x.Memory) }) / float64(max(1, r.Capacity.Memory))
	return s
}

// mean is the average of a quantity until the end of the workload.
func (r *Result) mean(of func(Sample) float64) float64 {
	sum := 0.0
	for i, x := range r.Samples {
		until := r.Total
		if i+1 < len(r.Samples) {
			until = min(until, r.Samples[i+1].At)
		}
		if until > x.At {
			sum += of(x) * float64(until-x.At)
		}
	}
	return sum / float64(max(1, r.Total))
}
