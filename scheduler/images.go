package scheduler

import (
	"context"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/hypervisor"
)

// Orphan is an image that belongs to no vjob.
type Orphan = execute.Orphan

// Refusal is a node on which a VM could not be created.
type Refusal = execute.Refusal

// Orphans lists the images that belong to no vjob, in order.
func (l *Requests) Orphans(ctx context.Context) (list []Orphan, err error) {
	err = l.inbox.ask(ctx, func(c *Core) error {
		list = c.exec.Images.Orphans()
		return nil
	})
	return list, err
}

// DiscardImage deletes an orphaned image by its name.
func (l *Requests) DiscardImage(ctx context.Context, name, by string) error {
	id, err := hypervisor.ParseImageID(name)
	if err != nil {
		return err
	}
	return l.inbox.ask(ctx, func(c *Core) error { return c.exec.Images.Discard(l.now(), id, by) })
}

// Restore reverts a vjob to images kept since it was lost; generation 0 is the newest. The vjob is
// held.
func (l *Requests) Restore(ctx context.Context, id cluster.VJobID, generation int, by string) error {
	return l.inbox.ask(ctx, guarded(ctx, ofVJob(id), func(c *Core) error { return c.VJobs.Restore(l.now(), id, generation, by) }))
}
