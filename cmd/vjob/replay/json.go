package replay

import (
	"time"

	"vjob/energy"
	"vjob/sim/replay"
)

// Replayed is the JSON of `vjob replay -o json`. Times are in seconds from the start of the
// workload; -1 is never.
type (
	Replayed struct {
		Title            string        `json:"title"`
		*ReplayedFigures               // of the only run
		Runs             []replayedRun `json:"runs"`
	}
	// ReplayedFigures are called as those of logs.
	ReplayedFigures struct {
		Jobs         int     `json:"jobs"`
		MeanWait     float64 `json:"mean_wait_s"`
		MedianWait   float64 `json:"median_wait_s"`
		P95Wait      float64 `json:"p95_wait_s"`
		MaxWait      float64 `json:"max_wait_s"`
		MeanSlowdown float64 `json:"mean_bsld"`
		P95Slowdown  float64 `json:"p95_bsld"`
		Makespan     float64 `json:"makespan_s"`
		Used         float64 `json:"utilisation"` // of CPU, what guests got
		KWh          float64 `json:"energy_kwh"`  // of all nodes, always on
		Switches     int     `json:"switches"`
		Suspends     int     `json:"suspends"`
		Migrations   int     `json:"migrations"`
		CostMiB      int64   `json:"cost_mib"`
		Overdue      int     `json:"overdue"`     // ended by their walltimes
		NeverEnded   int     `json:"never_ended"` // wait for people, or for what never comes
		Refused      int     `json:"refused"`     // vjobs that the daemon would not take; they are not among the jobs
	}
	replayedRun struct {
		Policy    string `json:"policy"`
		Profile   string `json:"profile"`
		Nodes     int    `json:"nodes"`
		CPUMilli  int64  `json:"cpu_milli"`
		MemoryMiB int64  `json:"memory_mib"`
		ReplayedFigures
		replayedUsage
		CPUDemand  float64          `json:"cpu_demand"` // share of the capacity
		MemoryUsed float64          `json:"memory_used"`
		MeanTurn   float64          `json:"mean_turnaround_s"`
		Queues     []replayedGroup  `json:"queues"` // larger ones first
		Users      []replayedGroup  `json:"users"`
		Refusals   []refusal        `json:"refusals"`
		VJobs      []replayedVJob   `json:"vjobs"`
		Taken      []replayedSwitch `json:"context_switches"`
		Samples    []replayedSample `json:"samples"`
	}
	// replayedUsage is how many nodes were in use, and what VMs went without.
	replayedUsage struct {
		NodesUsed     float64 `json:"mean_nodes_used"`
		MostNodes     int     `json:"most_nodes_used"`
		NodeHours     float64 `json:"node_hours"`
		NodeHoursEnd  float64 `json:"node_hours_until_first_end"`
		Unsatisfied   float64 `json:"unsatisfied_vm_hours"` // of VMs that get less CPU than they demand
		Crises        int     `json:"unsatisfied_times"`
		MeanReaction  float64 `json:"mean_reaction_s"` // from demand beyond the capacity to relief
		MostReaction  float64 `json:"longest_reaction_s"`
		SwitchVMHours float64 `json:"switch_vm_hours"`   // of VMs in migrations, saves and restores, as planned
		Overhead      float64 `json:"run_time_overhead"` // part of the run time alone
	}
	replayedGroup struct {
		Name         string  `json:"name"`
		Jobs         int     `json:"jobs"`
		MeanWait     float64 `json:"mean_wait_s"`
		P95Wait      float64 `json:"p95_wait_s"`
		MeanSlowdown float64 `json:"mean_bsld"`
		P95Slowdown  float64 `json:"p95_bsld"`
	}
	refusal struct {
		Name  string  `json:"name"`
		Owner string  `json:"owner"`
		Queue string  `json:"queue"`
		At    float64 `json:"at_seconds"`
		Jobs  int     `json:"jobs"` // more than one: an array
		Why   string  `json:"why"`
	}
	replayedVJob struct {
		Name        string         `json:"name"`
		Owner       string         `json:"owner"`
		Queue       string         `json:"queue"`
		Project     string         `json:"project"`
		Length      float64        `json:"length_seconds"` // that it takes alone
		State       string         `json:"state"`
		Reason      string         `json:"reason"`
		Submitted   float64        `json:"submitted_seconds"`
		Started     float64        `json:"started_seconds"`
		Ended       float64        `json:"ended_seconds"`
		Suspensions int            `json:"suspensions"` // to disk
		Standstills int            `json:"suspensions_in_memory"`
		Spans       []replayedSpan `json:"spans"`
	}
	replayedSpan struct {
		State string  `json:"state"`
		From  float64 `json:"from_seconds"`
		To    float64 `json:"to_seconds"`
	}
	replayedSwitch struct {
		Plan         int64   `json:"plan"`
		At           float64 `json:"at_seconds"`
		Took         float64 `json:"took_seconds"`
		Estimated    float64 `json:"estimated_seconds"`
		CostMiB      int64   `json:"cost_mib"`
		Boots        int     `json:"boots"`
		Stops        int     `json:"stops"`
		Pauses       int     `json:"pauses"`
		Unpauses     int     `json:"unpauses"`
		Suspends     int     `json:"suspends"`
		Resumes      int     `json:"resumes"`
		LocalResumes int     `json:"local_resumes"`
		Migrations   int     `json:"migrations"`
		Skew         float64 `json:"skew_seconds"`
		State        string  `json:"state"`
		Note         string  `json:"note"`
	}
	replayedSample struct {
		At        float64 `json:"at_seconds"`
		CPUMilli  int64   `json:"cpu_milli"`
		Demand    int64   `json:"cpu_demand_milli"`
		MemoryMiB int64   `json:"memory_mib"`
		Nodes     int     `json:"nodes_used"`
		Short     int     `json:"unsatisfied_vms"`
	}
)

// replayJSON is the results as they are printed for programs.
func replayJSON(title string, results []*replay.Result, power energy.Power) Replayed {
	out := Replayed{Title: title, Runs: []replayedRun{}}
	for _, r := range results {
		out.Runs = append(out.Runs, runJSON(r, power))
	}
	if len(out.Runs) == 1 {
		out.ReplayedFigures = &out.Runs[0].ReplayedFigures
	}
	return out
}

func runJSON(r *replay.Result, power energy.Power) replayedRun {
	s := r.Summary()
	run := replayedRun{
		Policy: r.Policy, Profile: r.Profile, Nodes: r.Nodes, CPUMilli: int64(r.Capacity.CPU), MemoryMiB: int64(r.Capacity.Memory),
		ReplayedFigures: ReplayedFigures{
			Jobs: len(r.VJobs), MeanWait: s.Wait.Mean, MedianWait: s.Wait.Median, P95Wait: s.Wait.P95, MaxWait: s.Wait.Max,
			MeanSlowdown: s.Slowdown.Mean, P95Slowdown: s.Slowdown.P95, Makespan: r.Total.Seconds(), Used: s.CPUUsed,
			KWh: drawn(r, &s, power).KWh(), Switches: s.Switches, Suspends: s.Suspends, Migrations: s.Migrations, CostMiB: s.CostMiB,
			Overdue: s.Overdue, NeverEnded: s.Left, Refused: s.Refused,
		},
		replayedUsage: usageJSON(&r.Usage, &s),
		CPUDemand:     s.CPUDemand, MemoryUsed: s.MemoryUsed, MeanTurn: s.MeanTurn.Seconds(),
		Queues: groupsJSON(r.Groups(queueOf)), Users: groupsJSON(r.Groups(userOf)), Refusals: []refusal{},
		VJobs: []replayedVJob{}, Taken: []replayedSwitch{}, Samples: []replayedSample{},
	}
	for _, x := range r.Refused {
		run.Refusals = append(run.Refusals, refusal{x.Name, x.Owner, x.Queue, x.At.Seconds(), x.VJobs, x.Why})
	}
	for i := range r.VJobs {
		run.VJobs = append(run.VJobs, vjobJSON(&r.VJobs[i]))
	}
	for i := range r.Switches {
		w := &r.Switches[i]
		run.Taken = append(run.Taken, replayedSwitch{
			w.Plan, w.At.Seconds(), w.Took.Seconds(), w.Estimated.Seconds(), w.CostMiB, w.Boots, w.Stops, w.Pauses, w.Unpauses, w.Suspends,
			w.Resumes, w.LocalResumes, w.Migrations, w.Skew.Seconds(), w.State, w.Note,
		})
	}
	for _, x := range r.Samples {
		run.Samples = append(run.Samples, replayedSample{x.At.Seconds(), int64(x.CPU), int64(x.Demand), int64(x.Memory), x.Nodes, x.Unsatisfied})
	}
	return run
}

func usageJSON(u *replay.Usage, s *replay.Summary) replayedUsage {
	return replayedUsage{
		s.NodesUsed, u.MostNodes, u.NodeTime.Hours(), u.FirstEnd.Hours(), u.UnsatisfiedTime.Hours(), u.Crises, u.MeanReaction().Seconds(),
		u.LongestOne.Seconds(), s.SwitchTime.Hours(), s.Overhead,
	}
}

func vjobJSON(j *replay.VJob) replayedVJob {
	v := replayedVJob{
		Name: j.Name, Owner: j.Owner, Queue: j.Queue, Project: j.Project, Length: j.Length.Seconds(),
		State: j.State.String(), Reason: j.Reason, Submitted: j.Submitted.Seconds(),
		Started: never(j.Started), Ended: never(j.Ended), Suspensions: j.Suspensions, Standstills: j.Standstills, Spans: []replayedSpan{},
	}
	for _, x := range j.Spans {
		v.Spans = append(v.Spans, replayedSpan{x.State.String(), x.From.Seconds(), x.To.Seconds()})
	}
	return v
}

func groupsJSON(groups []replay.Group) []replayedGroup {
	list := make([]replayedGroup, len(groups))
	for i, g := range groups {
		list[i] = replayedGroup{g.Name, g.VJobs, g.Wait.Mean, g.Wait.P95, g.Slowdown.Mean, g.Slowdown.P95}
	}
	return list
}

func never(d time.Duration) float64 {
	if d < 0 {
		return -1
	}
	return d.Seconds()
}
