package vjobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/program"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

// Until when vjobs are waited for.
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

// wait is a wait for the start or the end of vjobs.
type wait struct {
	a       *cli.App
	client  *client.Client
	until   string        // waitStart or waitEnd
	timeout time.Duration // the longest, for all; 0 is for ever
	told    string        // the line that was printed last
}

// all waits until each vjob and each array has started or ended. It returns an error for those that end without
// completing, once all are over; its exit code is the largest exit status.
func (w *wait) all(ctx context.Context, list []cli.Named) error {
	patience := ctx
	if w.timeout > 0 {
		var cancel context.CancelFunc
		patience, cancel = context.WithTimeout(ctx, w.timeout)
		defer cancel()
	}
	var failed []*cli.ExitError
	var found []any
	for _, n := range list {
		look := func(ctx context.Context) (any, string, error) { return w.vjob(ctx, n.ID) }
		if n.Array {
			look = func(ctx context.Context) (any, string, error) { return w.array(ctx, n) }
		}
		result, err := w.await(ctx, patience, look)
		if own, ok := errors.AsType[*cli.ExitError](err); ok {
			failed = append(failed, own)
		} else if err != nil {
			return err
		}
		found = append(found, result)
	}
	switch {
	case len(failed) > 0:
		return worst(failed)
	case !w.a.Structured():
		return nil
	case len(found) == 1:
		return w.a.Print(found[0])
	}
	return w.a.Print(map[string]any{"vjobs": found})
}

// worst joins errors; the exit code is the largest.
func worst(list []*cli.ExitError) error {
	sum := &cli.ExitError{}
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i], sum.Code = e.Text, max(sum.Code, e.Code)
	}
	sum.Text = strings.Join(texts, "\n")
	return sum
}

// await looks until there is a result, and prints the progress meanwhile.
func (w *wait) await(ctx, patience context.Context, look func(context.Context) (result any, line string, err error)) (any, error) {
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		result, line, err := look(ctx)
		if result != nil || err != nil {
			return result, err
		}
		if line != w.told && w.a.Width() > 0 && !w.a.Structured() {
			w.told = line
			_, _ = fmt.Fprintln(w.a.Err, line)
		}
		if program.Sleep(patience, pause) {
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s: %w of %s is over; it goes on: vjob list shows it", line, cli.ErrTimeout, w.timeout)
	}
}

// vjob returns a vjob that has started or ended, and otherwise a line about it.
func (w *wait) vjob(ctx context.Context, id int64) (result any, line string, err error) {
	job, err := w.client.VJob(ctx, id)
	switch {
	case err != nil:
		return nil, "", err
	case job.Ended != nil && job.Outcome != cluster.Completed.String():
		return nil, "", endError(&job.VJob)
	case job.Ended != nil, w.until == waitStart && job.Started != nil:
		return job, "", nil
	}
	return nil, standsLine(&job.VJob), nil
}

// array returns the vjobs of an array once all have started or ended, and otherwise a line about them.
func (w *wait) array(ctx context.Context, n cli.Named) (result any, line string, err error) {
	q := client.VJobQuery{Array: n.ID, Indexes: n.Indexes, Live: true, Limit: 1}
	if w.until == waitStart {
		q.States = []string{cluster.Waiting.String(), cluster.Booting.String()}
	}
	left, err := w.client.VJobs(ctx, q)
	if err != nil {
		return nil, "", err
	}
	if left.Total > 0 {
		return nil, fmt.Sprintf("%s: %s still to %s", n, cluster.Count(left.Total, "vjob"), w.until), nil
	}
	rows, err := n.VJobs(ctx, w.client)
	if err != nil {
		return nil, "", err
	}
	failed, code := 0, cli.ExitInternal
	for i := range rows {
		if rows[i].Ended != nil && rows[i].Outcome != cluster.Completed.String() {
			failed, code = failed+1, max(code, endError(&rows[i]).Code)
		}
	}
	if failed > 0 {
		place := fmt.Sprint(n.ID)
		if n.Indexes != "" {
			place = "'" + n.String() + "'"
		}
		return nil, "", &cli.ExitError{Code: code, Text: fmt.Sprintf("%s: %d of %s did not complete: vjob list --array %s shows which", n, failed, cluster.Count(len(rows), "vjob"), place)}
	}
	return wire.VJobList{VJobs: rows, Total: len(rows)}, "", nil
}

// endError is the error for a vjob that was waited for and has not completed. The exit code is the exit status of its
// work, if that failed.
func endError(j *wire.VJob) *cli.ExitError {
	e := &cli.ExitError{Code: cli.ExitInternal, Text: fmt.Sprintf("vjob %d has failed: %s", j.ID, j.Reason)}
	if j.State != cluster.Failed.String() {
		e.Text = fmt.Sprintf("vjob %d has not completed: %s", j.ID, j.Reason)
	}
	if status, err := cluster.ParseExitStatus(j.ExitStatus); err == nil && status.Value() > 0 {
		e.Code = status.Value()
	}
	return e
}

// standsLine is how a vjob stands that is waited for.
func standsLine(j *wire.VJob) string {
	line := fmt.Sprintf("vjob %d %s", j.ID, display.StateClause(j.State))
	if why := display.Clean(display.Why(j)); why != "" {
		line += ": " + why
	}
	if j.EstimatedStart != nil {
		line += "; it starts at " + display.Moment(j.EstimatedStart) + " at the latest"
	}
	return line
}
