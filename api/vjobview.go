package api

import (
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/queue/multifactor"
	"vjob/scheduler"
)

// wireVJob shows a vjob as it is kept, with what the loop knows beyond that as
// long as both speak of the same state. The viewer is a user, or "" for administrators.
func wireVJob(row *journal.Row, now *scheduler.Snapshot, viewer string) wire.VJob {
	size, reserved := row.Size, row.Reserved
	if len(row.VMs) > 0 {
		size, reserved = len(row.VMs), row.VJob.Reserved()
	}
	w := wire.VJob{
		ID: int64(row.ID), Name: row.Name, Owner: row.Owner, State: row.State.String(), Held: row.Held,
		Reason: row.Cause.For(viewer).Why(row.State), Cause: wireCause(row.Cause.For(viewer), viewer, now, row.ID), Priority: row.Priority, VMCount: size,
		CPUMilli: int64(reserved.CPU), MemoryMiB: int64(reserved.Memory),
		WalltimeSeconds: int64(row.Walltime / time.Second), RanSeconds: (row.Account.Running - row.Account.Crowded).Seconds(),
		Submitted: row.Submitted.UTC(), Started: instant(row.Started), Ended: instant(row.Ended),
		Queue: row.Queue, Project: row.Project, Pool: row.Pool, Comment: row.Comment, Labels: row.Labels,
		Array: int64(row.Array), Index: row.Index, Parameter: row.Parameter, Replaces: int64(row.Replaces), Attempts: row.Attempts,
		Members: wireMembers(row.Fold),
	}
	if row.Outcome != cluster.Open {
		w.Outcome, w.ExitStatus = row.Outcome.String(), row.Exit.String()
	}
	if status, ok := now.VJobs.Get(row.ID); ok && status.State == row.State {
		w.Pool = status.Pool
		w.QueuePlace, w.EstimatedStart = status.Place, instant(status.Start)
		rank := now.VJobs.Rank(row.ID)
		w.Rank = wireRank(&rank)
		w.RanSeconds = max(w.RanSeconds, status.Ran.Seconds())
		w.PowerWatts = watts(status.Watts)
		w.Reason, w.Since = status.Why(viewer, now.At), instant(status.Gang.Since)
	}
	w.Reason = Shown(w.Reason, viewer, now, row.ID)
	w.Late = late(row, &w, now.At)
	return w
}

// late says whether a vjob misses its deadline, by when it is estimated to start, or may.
func late(row *journal.Row, w *wire.VJob, now time.Time) string {
	from := now
	if row.Submitted.After(from) { // it has just come
		from = row.Submitted
	}
	if row.State.Ready() {
		for _, at := range []*time.Time{w.EstimatedStart, instant(row.NotBefore), instant(row.Reservation)} {
			if at != nil && at.After(from) {
				from = *at
			}
		}
	}
	return row.DeadlineWarning(from, time.Duration(w.RanSeconds*float64(time.Second)))
}

func wireDetail(kept *journal.Kept, events []journal.Event, now *scheduler.Snapshot, viewer string) wire.VJobDetail {
	d := wire.VJobDetail{
		VJob: wireVJob(&kept.Row, now, viewer), Version: kept.Version,
		Phase: kept.Gang.Phase.String(), Generation: kept.Gang.Generation,
		Origin: kept.Origin, VMs: make([]wire.VM, len(kept.VMs)), Rules: kept.Rules, Terms: wireTerms(kept.Terms),
		CrowdedSeconds: kept.Account.Crowded.Seconds(), CPUSeconds: kept.Account.CPU.Seconds(), CPUWantedSeconds: kept.Account.Wanted.Seconds(),
		MemoryMiBSeconds: kept.Account.MemorySec, EnergyJoules: kept.Account.Joules,
		Events: wireEvents(events, now, viewer),
	}
	status, live := now.VJobs.Get(kept.ID)
	if live {
		d.CrowdedSeconds = max(d.CrowdedSeconds, status.Crowded.Seconds())
		for _, r := range status.Refusals {
			d.Refusals = append(d.Refusals, wire.Refusal{VM: r.VM.String(), Node: string(r.Node), At: r.At.UTC(), Why: r.Why})
		}
	}
	for i, vm := range kept.VMs {
		d.VMs[i] = wire.VM{
			ID: vm.ID.String(), CPUMilli: int64(vm.Reserved.CPU), MemoryMiB: int64(vm.Reserved.Memory), Image: vm.Work().Image,
		}
		if i < len(kept.Gang.Members) {
			m := kept.Gang.Members[i]
			if i < len(status.Entitled) && status.Entitled[i].Weight > 0 {
				e := wireEntitlement(&status.Entitled[i])
				d.VMs[i].Entitlement = &e
			}
			d.VMs[i].Node, d.VMs[i].NextNode, d.VMs[i].Ended = string(m.Node), string(m.Next), m.Ended
			d.VMs[i].ExitStatus = m.Exit.String()
		}
	}
	return d
}

// instant is a time for JSON: nil when it has not come.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// wireCause returns a cause for JSON, nil for the zero cause. Vjobs that the viewer may not see
// are redacted in its text, but for the one that it is about.
func wireCause(c *cluster.Cause, viewer string, now *scheduler.Snapshot, about ...cluster.VJobID) *wire.Cause {
	if c.IsZero() {
		return nil
	}
	w := &wire.Cause{
		Kind: string(c.Kind), Hidden: c.Hidden, CPUMilli: int64(c.Short.CPU), MemoryMiB: int64(c.Short.Memory),
		By: c.By, Text: Shown(c.Text, viewer, now, about...), Plan: c.Switch,
	}
	for _, r := range c.VJobs {
		w.VJobs = append(w.VJobs, wire.VJobRef{ID: int64(r.ID), Name: r.Name, Owner: r.Owner})
	}
	for _, n := range c.Nodes {
		w.Nodes = append(w.Nodes, string(n))
	}
	return w
}

// wireMembers shows an array in short.
func wireMembers(f *journal.Fold) *wire.Members {
	if f == nil {
		return nil
	}
	m := &wire.Members{First: f.First, Last: f.Last, States: map[string]int{}}
	for state, n := range f.States {
		m.States[state.String()] = n
	}
	return m
}

// wireRank is the rank of a vjob; nil for one that has none, since it has ended.
func wireRank(r *multifactor.Priority) *wire.Rank {
	if r.ID == 0 {
		return nil
	}
	w := &wire.Rank{Parts: []wire.RankPart{}}
	var parts []multifactor.Part
	w.Points, parts = r.Points()
	for _, p := range parts {
		w.Parts = append(w.Parts, wire.RankPart{Name: p.Name, Points: p.Points})
	}
	return w
}
