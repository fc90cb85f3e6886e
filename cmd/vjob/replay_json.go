package main

import (
	"time"

	"vjob/replay"
)

// The JSON of `vjob replay -o json`. Times are in seconds from the start of the
// workload; -1 is never.
type (
	replayed struct {
		Title string        `json:"title"`
		Runs  []replayedRun `json:"runs"`
	}
	replayedRun struct {
		Policy      string           `json:"policy"`
		Profile     string           `json:"profile"`
		Nodes       int              `json:"nodes"`
		CPUMilli    int64            `json:"cpu_milli"`
		MemoryMiB   int64            `json:"memory_mib"`
		Total       float64          `json:"total_seconds"`
		CPUUsed     float64          `json:"cpu_used"` // shares of the capacity
		CPUDemand   float64          `json:"cpu_demand"`
		MemoryUsed  float64          `json:"memory_used"`
		MeanWait    float64          `json:"mean_wait_seconds"`
		MeanTurn    float64          `json:"mean_turnaround_seconds"`
		CostMiB     int64            `json:"cost_mib"`
		VJobs       []replayedVJob   `json:"vjobs"`
		Switches    []replayedSwitch `json:"context_switches"`
		Utilisation []replayedSample `json:"utilisation"`
	}
	replayedVJob struct {
		Name        string         `json:"name"`
		State       string         `json:"state"`
		Reason      string         `json:"reason"`
		Submitted   float64        `json:"submitted_seconds"`
		Started     float64        `json:"started_seconds"`
		Ended       float64        `json:"ended_seconds"`
		Suspensions int            `json:"suspensions"`
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
	}
)

// replayJSON is the results as they are printed for programs.
func replayJSON(title string, results []*replay.Result) replayed {
	out := replayed{Title: title, Runs: []replayedRun{}}
	for _, r := range results {
		out.Runs = append(out.Runs, runJSON(r))
	}
	return out
}

func runJSON(r *replay.Result) replayedRun {
	s := r.Summary()
	run := replayedRun{
		Policy: r.Policy, Profile: r.Profile, Nodes: r.Nodes, CPUMilli: int64(r.Capacity.CPU), MemoryMiB: int64(r.Capacity.Memory),
		Total: r.Total.Seconds(), CPUUsed: s.CPUUsed, CPUDemand: s.CPUDemand, MemoryUsed: s.MemoryUsed,
		MeanWait: s.MeanWait.Seconds(), MeanTurn: s.MeanTurn.Seconds(), CostMiB: s.CostMiB,
		VJobs: []replayedVJob{}, Switches: []replayedSwitch{}, Utilisation: []replayedSample{},
	}
	for i := range r.VJobs {
		j := &r.VJobs[i]
		v := replayedVJob{
			Name: j.Name, State: j.State.String(), Reason: j.Reason, Submitted: j.Submitted.Seconds(),
			Started: never(j.Started), Ended: never(j.Ended), Suspensions: j.Suspensions, Spans: []replayedSpan{},
		}
		for _, x := range j.Spans {
			v.Spans = append(v.Spans, replayedSpan{x.State.String(), x.From.Seconds(), x.To.Seconds()})
		}
		run.VJobs = append(run.VJobs, v)
	}
	for i := range r.Switches {
		w := &r.Switches[i]
		run.Switches = append(run.Switches, replayedSwitch{
			w.Plan, w.At.Seconds(), w.Took.Seconds(), w.Estimated.Seconds(), w.CostMiB, w.Boots, w.Stops, w.Suspends,
			w.Resumes, w.LocalResumes, w.Migrations, w.Skew.Seconds(), w.State, w.Note,
		})
	}
	for _, x := range r.Samples {
		run.Utilisation = append(run.Utilisation, replayedSample{x.At.Seconds(), int64(x.CPU), int64(x.Demand), int64(x.Memory)})
	}
	return run
}

func never(d time.Duration) float64 {
	if d < 0 {
		return -1
	}
	return d.Seconds()
}
