package watch

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/cmd/vjob/watch/screen"
)

// feed reads from the daemon what a view needs.
type feed struct {
	client *client.Client // that tries each request once
	admin  bool           // the user may see alarms, as far as known
}

// The most that is read at a time.
const (
	mostVJobs  = 5000
	mostPlans  = 200
	mostAlarms = 500
	mostLines  = 2000 // of output
	firstFew   = 500  // events at the beginning
)

// read answers a query.
func (f *feed) read(ctx context.Context, q screen.Query) screen.Answer {
	value, err := f.value(ctx, q)
	return screen.Answer{Query: q, Value: value, Err: err}
}

func (f *feed) value(ctx context.Context, q screen.Query) (any, error) {
	switch q.Kind {
	case screen.Nodes:
		return f.client.Nodes(ctx)
	case screen.VJobs:
		return f.vjobs(ctx, q)
	case screen.Plans:
		return f.client.Plans(ctx, mostPlans)
	case screen.Events:
		list, err := f.client.Events(ctx, client.EventQuery{Latest: true, Limit: firstFew})
		return list.Events, err
	case screen.Alarms:
		return f.client.Alarms(ctx, "", false, mostAlarms)
	case screen.OneVJob:
		detail, err := f.client.VJob(ctx, q.ID)
		if err != nil {
			return nil, err
		}
		submission, err := f.client.Submission(ctx, q.ID, false)
		return screen.VJobShown{Detail: detail, Submission: submission}, err
	case screen.Output:
		return f.output(ctx, q)
	case screen.OneNode:
		node, err := f.client.Node(ctx, q.Node)
		if err != nil {
			return nil, err
		}
		list, err := f.client.VJobs(ctx, client.VJobQuery{Node: q.Node, Live: true, Limit: mostVJobs})
		return screen.NodeShown{Node: node, VJobs: list.VJobs}, err
	case screen.OnePlan:
		return f.client.Plan(ctx, q.ID)
	case screen.Pulse:
		return f.pulse(ctx)
	case screen.Text:
	}
	return nil, nil
}

// vjobs reads the first page of vjobs: those of an array, those that a filter selects, or the live ones.
func (f *feed) vjobs(ctx context.Context, q screen.Query) (wire.VJobList, error) {
	query, err := cli.ParseFilter(q.Filter)
	if err != nil {
		return wire.VJobList{}, err
	}
	query.Limit, query.Array = mostVJobs, q.ID
	query.Fold = q.ID == 0 && query.Name == ""
	query.Live = len(query.States) == 0 && q.ID == 0
	for _, name := range query.States {
		state, err := cluster.ParseState(name)
		query.Newest = query.Newest || err == nil && state.Terminal()
	}
	return f.client.VJobs(ctx, query)
}

// output reads the last lines of what a VM has printed.
func (f *feed) output(ctx context.Context, q screen.Query) (any, error) {
	job, err := f.client.VJob(ctx, q.ID)
	if err != nil {
		return nil, err
	}
	shown := screen.OutputShown{VMs: len(job.VMs)}
	in, err := f.client.Logs(ctx, q.ID, client.LogQuery{Rank: q.Rank, Output: true, Tail: mostLines})
	if errors.Is(err, cluster.ErrNotFound) {
		return shown, nil // nothing was printed yet
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var b strings.Builder
	if _, err := io.Copy(&display.CleanWriter{To: &b}, in); err != nil {
		return nil, err
	}
	shown.Text = b.String()
	return shown, nil
}

// pulse reads whether the daemon is well and what it does.
func (f *feed) pulse(ctx context.Context) (any, error) {
	health, err := f.client.Health(ctx)
	if err != nil {
		return nil, err
	}
	shown := screen.PulseShown{Health: health}
	plans, err := f.client.Plans(ctx, 1)
	if err != nil {
		return nil, err
	}
	if len(plans.Plans) > 0 {
		shown.Plan = &plans.Plans[0]
	}
	if !f.admin {
		return shown, nil
	}
	alarms, err := f.client.Alarms(ctx, "", false, mostAlarms)
	switch {
	case errors.Is(err, cluster.ErrForbidden):
		f.admin = false
		return shown, nil
	case err != nil:
		return nil, err
	}
	open := 0
	for i := range alarms.Alarms {
		if alarms.Alarms[i].AckedBy == "" {
			open++
		}
	}
	shown.Alarms = &open
	return shown, nil
}

// batch is how long events are collected before they are shown together.
const batch = 250 * time.Millisecond

// follow hands the events on in batches, the latest of the past first, until the context ends.
func follow(ctx context.Context, c *client.Client, hand func([]wire.Event)) {
	arrived := make(chan wire.Event)
	go func() {
		defer close(arrived)
		query := client.EventQuery{Latest: true}
		past, err := c.Events(ctx, client.EventQuery{Latest: true, Limit: firstFew})
		if err == nil {
			query = client.EventQuery{After: past.Last}
			hand(past.Events)
		}
		for e, err := range c.Follow(ctx, query) {
			if err != nil {
				return
			}
			select {
			case arrived <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	var held []wire.Event
	ticks := time.NewTicker(batch)
	defer ticks.Stop()
	for {
		select {
		case e, open := <-arrived:
			if !open {
				return
			}
			held = append(held, e)
		case <-ticks.C:
			if len(held) > 0 {
				hand(held)
				held = nil
			}
		}
	}
}
