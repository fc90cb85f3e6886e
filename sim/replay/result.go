package replay

import (
	"time"

	"vjob/cluster"
	"vjob/internal/chart"
)

// Result is the result of a workload under one policy. Times count from the
// start of the workload.
type Result struct {
	Policy   string
	Profile  string
	Nodes    int
	Capacity cluster.Resources
	Total    time.Duration // until the end of the last vjob
	VJobs    []VJob        // in order of submission
	Refused  []Refusal     // in order of submission
	Switches []Switch      // in order of their start
	Samples  []Sample      // of usage, in order of time
	Usage    Usage
}

// Refusal is a refused submission: a vjob, or a whole array.
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
	Length      time.Duration // duration alone, with all VMs always satisfied
	Submitted   time.Duration
	Started     time.Duration // first start; negative if it never ran
	Ended       time.Duration // negative if it has not ended
	State       cluster.State
	Reason      string
	Outcome     cluster.Outcome
	Held        bool // it waits for a release by its user
	Suspensions int  // to disk
	Standstills int  // suspensions in memory
	Migrations  int  // node changes of the whole vjob or of some of its VMs
	Spans       []Span
}

// Span is a time span in one state.
type Span struct {
	State    cluster.State
	From, To time.Duration
}

// Spent returns the total time of the vjob in a state.
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
	VMTime       time.Duration // of all its migrations, saves and restores together, as planned
	Skew         time.Duration // the largest of its gangs
	State        string        // done, failed, dropped
	Note         string
}

// Sample is the usage of the VMs at an instant.
type Sample struct {
	At     time.Duration
	CPU    cluster.MilliCPU // allocated to the guests
	Demand cluster.MilliCPU // of the guests
	Memory cluster.MiB
	// Nodes have VMs, Unsatisfied VMs get less CPU than they demand.
	Nodes, Unsatisfied int
}

// Summary is the totals of a result.
type Summary struct {
	Total      time.Duration
	Ended      int
	Failed     int
	Overdue    int // ended at the end of their walltime
	Left       int // not ended: held, or waiting for ever
	Refused    int
	Switches   int
	Idle       int // switches of cost 0: no copies
	Boots      int
	Stops      int
	Pauses     int // suspensions in memory
	Suspends   int // suspensions to disk
	Resumes    int
	Local      int // resumes
	Migrations int
	CostMiB    int64
	Wait       chart.Distribution // in seconds, from submission to the first start
	Slowdown   chart.Distribution // bounded: time from submission to the end over the duration alone
	MeanTurn   time.Duration      // from submission to the end
	CPUUsed    float64            // share of the capacity until the end, 0..1
	CPUDemand  float64            // share of the capacity until the end, may exceed 1
	MemoryUsed float64
	NodesUsed  float64       // mean until the end
	SwitchTime time.Duration // of all VMs, in migrations, saves and restores as planned
	// Overhead is by how much the vjobs that ended took longer than alone, as a part of that: from the first start to the
	// end, without the time in which they were suspended.
	Overhead float64
}

// Summary computes the totals.
func (r *Result) Summary() Summary {
	s := Summary{Total: r.Total, Switches: len(r.Switches)}
	var turn time.Duration
	var totals totals
	for i := range r.VJobs {
		j := &r.VJobs[i]
		totals.add(j)
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
	s.Overhead = r.overhead()
	s.NodesUsed = r.Usage.NodeTime.Hours() / max(1e-9, r.Total.Hours())
	s.Wait, s.Slowdown = chart.Distribute(totals.waits), chart.Distribute(totals.slowdowns)
	for i := range r.Switches {
		w := &r.Switches[i]
		s.Boots, s.Stops, s.Suspends = s.Boots+w.Boots, s.Stops+w.Stops, s.Suspends+w.Suspends
		s.Resumes, s.Local, s.Migrations = s.Resumes+w.Resumes, s.Local+w.LocalResumes, s.Migrations+w.Migrations
		s.Pauses += w.Pauses
		s.CostMiB += w.CostMiB
		s.SwitchTime += w.VMTime
		if w.CostMiB == 0 {
			s.Idle++
		}
	}
	s.CPUUsed = r.mean(func(x Sample) float64 { return float64(x.CPU) }) / float64(max(1, r.Capacity.CPU))
	s.CPUDemand = r.mean(func(x Sample) float64 { return float64(x.Demand) }) / float64(max(1, r.Capacity.CPU))
	s.MemoryUsed = r.mean(func(x Sample) float64 { return float64(x.Memory) }) / float64(max(1, r.Capacity.Memory))
	return s
}

// mean returns the average of a quantity until the end of the workload.
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
