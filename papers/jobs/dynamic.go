package jobs

import (
	"context"
	"fmt"
	"time"

	"vjob/daemon/settings"
	"vjob/hypervisor/simulated"
	"vjob/papers/figure"
	"vjob/sim/replay"
	"vjob/sim/workload"
)

// The experiment of §10.2.2, and §5.2 of the Entropy paper, in the root folder of the repository: its assumptions are in
// the file. The first application that ends is HC.
const (
	dynamicFile     = "examples/nasgrid-consolidation.json"
	dynamicSettings = "examples/replay/pack.yaml"
	dynamicCommand  = "vjob replay " + dynamicFile + " --settings " + dynamicSettings
)

// dynamic has the three ways of the experiment: each VM on a node of its own for its whole time, First Fit Decreasing
// at each change of activity, and the daemon with placement: pack.
type dynamic struct{ static, firstFit, ours usage }

// consolidated runs the experiment. Figures 10.5 to 10.8 count until the first application ends, so that VMs of
// applications that have ended do not matter.
func consolidated() (d dynamic, err error) {
	w, err := workload.Read(dynamicFile)
	if err != nil {
		return d, err
	}
	alone := w.Jobs[0].Length()
	for i := range w.Jobs {
		alone = min(alone, w.Jobs[i].Length())
	}
	vms := 0
	for i := range w.Jobs {
		vms += len(w.Jobs[i].Submission.VMs)
	}
	d.static = usage{nodes: float64(vms), nodeHours: float64(vms) * alone.Hours()}
	d.firstFit = newRepacker(w).run(alone)
	core, err := packSettings()
	if err != nil {
		return d, err
	}
	r, err := replay.Run(context.Background(), w, replay.Options{Base: core.Base, Profile: simulated.Thesis, Locks: true})
	if err != nil {
		return d, err
	}
	d.ours = ofReplay(r, alone)
	return d, nil
}

// packSettings reads the settings of the daemon.
func packSettings() (o replay.Options, err error) {
	s, err := settings.Read(dynamicSettings, func(string) string { return "" })
	if err != nil {
		return o, err
	}
	core, err := s.Scheduler()
	o.Base = &core
	return o, err
}

// ofReplay is the usage of a replay until its first vjob ends. That vjob takes the given time alone.
func ofReplay(r *replay.Result, alone time.Duration) (u usage) {
	end := r.Total
	var first *replay.VJob
	for i := range r.VJobs {
		if j := &r.VJobs[i]; j.Ended >= 0 && j.Ended <= end {
			end, first = j.Ended, j
		}
	}
	for i, s := range r.Samples {
		until := end
		if i+1 < len(r.Samples) {
			until = min(until, r.Samples[i+1].At)
		}
		if until > s.At {
			u.unsatisfied += float64(s.Unsatisfied) * (until - s.At).Seconds() / end.Seconds()
		}
	}
	u.nodeHours, u.reaction = r.Usage.FirstEnd.Hours(), r.Usage.MeanReaction()
	u.nodes = u.nodeHours / end.Hours()
	if first != nil {
		u.overhead = float64(first.Ended-first.Started)/float64(alone) - 1
	}
	return u
}

// Consolidation returns the rows of the experiment for a paper that has it under another name.
func Consolidation(nodes, activity, overhead string) ([]figure.Row, error) {
	d, err := consolidated()
	if err != nil {
		return nil, err
	}
	row := func(where, what, published, ours string) figure.Row {
		return figure.Row{Where: where, What: what, Published: published, Ours: ours, Command: dynamicCommand}
	}
	three := func(format string, of func(u *usage) float64) string {
		return fmt.Sprintf(format+", "+format+", "+format, of(&d.static), of(&d.firstFit), of(&d.ours))
	}
	two := func(format string, of func(u *usage) any) string {
		return fmt.Sprintf(format+", "+format, of(&d.firstFit), of(&d.ours))
	}
	return []figure.Row{
		row(nodes, "node-hours until HC ends: static, FFD, Entropy; ours: static, FFD, placement `pack`", "24.31, 15.34, 11.72",
			three("%.2f", func(u *usage) float64 { return u.nodeHours })),
		row(activity, "mean number of unsatisfied VMs: FFD, Entropy; ours: FFD, `pack`", "1.75, 1.05", two("%.2f", func(u *usage) any { return u.unsatisfied })),
		row(activity, "mean time until no VM is unsatisfied: FFD, Entropy; ours: FFD, `pack`", "248 s, 142 s",
			two("%.0f s", func(u *usage) any { return u.reaction.Seconds() })),
		row(overhead, "overhead of consolidation: FFD, Entropy (all benchmarks); ours: FFD, `pack` (HC)", "19.2 %, 11.5 %",
			two("%.1f %%", func(u *usage) any { return 100 * u.overhead })),
	}, nil
}
