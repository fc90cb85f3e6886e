package sim

import (
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/admission"
)

// fails reports whether the work of some guests of a run fails: half of the runs, which meet every other option.
func (o *Options) fails() bool { return o.Seed/5%2 == 1 }

// exit sets the exit codes of a submission, without another random number, so that old seeds stay valid.
func (r *run) exit(sub *admission.Submission) {
	if !r.opts.fails() {
		return
	}
	n := len(r.check.acked)
	sub.Success = cluster.Success(n / 2 % 3)
	for rank := range sub.VMs {
		if (n+rank)%3 == 0 {
			sub.VMs[rank].Payload.Program.Exit = 1 + (n+7*rank)%200
		}
	}
}

// exits checks I39: a vjob that ends by itself has the exit status that its guests have told in its current life: that of
// the first if the vjob is led or says so, the least if one suffices, otherwise the largest; and it has succeeded only if that is 0. What was asked for
// is unknown for a vjob that was never acknowledged.
func (k *Checker) exits(c journal.VJobChange) {
	_, known := k.ties.owner[c.ID]
	if !known || c.Outcome != cluster.Completed && c.Outcome != cluster.Unsuccessful {
		return
	}
	var told []int
	for rank := range k.gangs[c.ID].Members {
		if vm := (cluster.VMID{VJob: c.ID, Rank: rank}); k.done[vm] == k.gangs[c.ID].Incarnation {
			told = append(told, max(0, k.told[vm].Value())) // a guest that was shut down has failed at nothing
		}
	}
	if len(told) == 0 {
		return // I7 says so
	}
	want := slices.Max(told)
	switch success := k.ties.success[c.ID]; {
	case success == cluster.FirstSucceed || k.ties.led[c.ID]:
		want = told[0]
	case success == cluster.AnySucceeds:
		want = slices.Min(told)
	}
	if max(0, c.Exit.Value()) != want || (c.Outcome == cluster.Completed) != (want == 0) {
		k.violate(39, "vjob %s is %s with exit status %s, its guests told %v, want %d", c.ID, c.Outcome, c.Exit, told, want)
	}
}
