package vjobs

import (
	"context"
	"fmt"
	"time"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/program"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

// Until when `vjob submit` waits.
const (
	waitStart = "start"
	waitEnd   = "end"
)

// checkWait refuses what cannot be waited for.
func checkWait(until string) error {
	if until != "" && until != waitStart && until != waitEnd {
		return cluster.BadField("--wait", until, waitStart+" or "+waitEnd)
	}
	return nil
}

// endError is the error for a vjob that was waited for and has not completed. The exit code is the exit status of its
// work, if that failed.
func endError(j *wire.VJob) error {
	e := &cli.ExitError{Code: cli.ExitInternal, Text: fmt.Sprintf("vjob %d failed: %s", j.ID, j.Reason)}
	if j.State != cluster.Failed.String() {
		e.Text = fmt.Sprintf("vjob %d has not completed: %s", j.ID, j.Reason)
	}
	if status, err := cluster.ParseExitStatus(j.ExitStatus); err == nil && status.Value() > 0 {
		e.Code = status.Value()
	}
	return e
}

// wait is the condition of `vjob submit --wait`.
type wait struct {
	until   string        // waitStart or waitEnd
	timeout time.Duration // the longest; 0 is for ever
	// look returns whether the wait is over, and otherwise a line about the progress.
	look func(ctx context.Context) (over bool, line string, err error)
}

// await waits, and prints the progress meanwhile.
func await(ctx context.Context, a *cli.App, w wait) error {
	patience := ctx
	if w.timeout > 0 {
		var cancel context.CancelFunc
		patience, cancel = context.WithTimeout(ctx, w.timeout)
		defer cancel()
	}
	told := ""
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		over, line, err := w.look(ctx)
		if over || err != nil {
			return err
		}
		if line != told && a.Width() > 0 && !a.Structured() {
			told = line
			_, _ = fmt.Fprintln(a.Err, line)
		}
		if program.Sleep(patience, pause) {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%s: %w of %s is over; it goes on: vjob list shows it", line, cli.ErrTimeout, w.timeout)
	}
}

// awaitVJob waits for the start or the end of a vjob; one that ends without completing is an error.
func awaitVJob(ctx context.Context, a *cli.App, c *client.Client, id int64, until string, timeout time.Duration) error {
	return await(ctx, a, wait{until, timeout, func(ctx context.Context) (bool, string, error) {
		job, err := c.VJob(ctx, id)
		if err != nil {
			return false, "", err
		}
		ended := job.State == cluster.Terminated.String() || job.State == cluster.Failed.String()
		over := ended || until == waitStart && job.Started != nil
		switch {
		case ended && job.Outcome != cluster.Completed.String():
			return false, "", endError(&job.VJob)
		case over && a.Structured():
			return true, "", a.Print(job)
		}
		return over, standsLine(&job.VJob), nil
	}})
}

// awaitArray waits until all vjobs of an array have started or ended. That some have
// failed is an error, once all have ended; its exit code is the largest exit status.
func awaitArray(ctx context.Context, a *cli.App, c *client.Client, id int64, until string, timeout time.Duration) error {
	return await(ctx, a, wait{until, timeout, func(ctx context.Context) (bool, string, error) {
		page, err := c.VJobs(ctx, client.VJobQuery{Array: id, Fold: true})
		if err == nil && (len(page.VJobs) == 0 || page.VJobs[0].Members == nil) {
			err = fmt.Errorf("array %d: %w", id, cluster.ErrNotFound)
		}
		if err != nil {
			return false, "", err
		}
		array := page.VJobs[0]
		for state := cluster.Waiting; state <= cluster.Failed; state++ {
			begun := state != cluster.Waiting && state != cluster.Booting
			if array.Members.States[state.String()] > 0 && !state.Terminal() && (until == waitEnd || !begun) {
				return false, fmt.Sprintf("array %d is %s", id, display.Members(array.Members)), nil
			}
		}
		failed := array.Members.States[cluster.Failed.String()]
		switch {
		case failed > 0:
			code, err := largestExit(ctx, c, id)
			if err != nil {
				return false, "", err
			}
			return false, "", &cli.ExitError{
				Code: code, Text: fmt.Sprintf("%s of array %d failed: vjob list --array %d --state failed shows which", cluster.Count(failed, "vjob"), id, id),
			}
		case a.Structured():
			return true, "", a.Print(array)
		}
		return true, "", nil
	}})
}

// largestExit is the largest exit status of the vjobs of an array that failed.
func largestExit(ctx context.Context, c *client.Client, array int64) (int, error) {
	code := cli.ExitInternal
	for job, err := range c.AllVJobs(ctx, client.VJobQuery{Array: array, States: []string{cluster.Failed.String()}}) {
		if err != nil {
			return 0, err
		}
		if status, err := cluster.ParseExitStatus(job.ExitStatus); err == nil {
			code = max(code, status.Value())
		}
	}
	return code, nil
}

// standsLine is how a vjob stands that is waited for.
func standsLine(j *wire.VJob) string {
	line := fmt.Sprintf("vjob %d is %s: %s", j.ID, display.Clean(j.State), display.Clean(display.Why(j)))
	if j.EstimatedStart != nil {
		line += "; it starts at " + display.Moment(j.EstimatedStart) + " at the latest"
	}
	return line
}
