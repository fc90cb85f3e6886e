package api

import (
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/scheduler"
)

// wireCause returns a cause for JSON, nil for the zero cause. Vjobs that the viewer may not see
// are redacted in its text.
func wireCause(c cluster.Cause, viewer string, now *scheduler.Snapshot) *wire.Cause {
	if c.IsZero() {
		return nil
	}
	w := &wire.Cause{
		Kind: string(c.Kind), Hidden: c.Hidden, CPUMilli: int64(c.Short.CPU), MemoryMiB: int64(c.Short.Memory),
		By: c.By, Text: Shown(c.Text, viewer, now), Plan: c.Switch,
	}
	for _, r := range c.VJobs {
		w.VJobs = append(w.VJobs, wire.VJobRef{ID: int64(r.ID), Name: r.Name, Owner: r.Owner})
	}
	for _, n := range c.Nodes {
		w.Nodes = append(w.Nodes, string(n))
	}
	return w
}
