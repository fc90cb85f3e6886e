package main

import (
	"context"
	"fmt"
	"time"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
)

// Until when `vjob submit` waits.
const (
	waitStart = "start"
	waitEnd   = "end"
)

// checkWait refuses what cannot be waited for.
func checkWait(until string, s *wire.Submission) error {
	switch {
	case until != "" && until != waitStart && until != waitEnd:
		return cluster.BadField("--wait", until, waitStart+" or "+waitEnd)
	case until != "" && (s.Array > 0 || len(s.Parameters) > 0):
		return cluster.BadField("--wait", until, "a single vjob: an array is waited for by one that comes after it")
	}
	return nil
}

// failedError is a vjob that was waited for and has failed.
type failedError struct{ job wire.VJob }

// Error names the vjob and says why.
func (e *failedError) Error() string {
	return fmt.Sprintf("vjob %d failed: %s", e.job.ID, e.job.Reason)
}

// await waits for the start or the end of a vjob; a timeout of 0 waits for ever. People
// are told meanwhile why it waits, and for how long at most.
func (a *app) await(ctx context.Context, c *client.Client, id int64, until string, timeout time.Duration) error {
	patience := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		patience, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	told := ""
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		job, err := c.VJob(ctx, id)
		if err != nil {
			return err
		}
		switch over := job.State == cluster.Terminated.String() || until == waitStart && job.Started != nil; {
		case job.State == cluster.Failed.String():
			return &failedError{job.VJob}
		case over && a.json():
			return printJSON(a.out, job, true)
		case over:
			return nil
		}
		if line := standsLine(&job.VJob); line != told && a.width() > 0 && !a.json() {
			told = line
			_, _ = fmt.Fprintln(a.err, line)
		}
		if sleep(patience, pause) {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("vjob %d is still %s after %s: %w", id, job.State, timeout, errTimeout)
	}
}

// standsLine is how a vjob stands that is waited for.
func standsLine(j *wire.VJob) string {
	line := fmt.Sprintf("vjob %d is %s: %s", j.ID, clean(j.State), clean(why(j)))
	if j.EstimatedStart != nil {
		line += "; it starts at " + moment(j.EstimatedStart) + " at the latest"
	}
	return line
}
