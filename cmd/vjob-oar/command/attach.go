package command

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"vjob/api/client"
	"vjob/cluster"
	"vjob/cmd/program"
	"vjob/oar"
	"vjob/oar/script"
)

// pollInterval is the interval of queries for a job that has not started.
const pollInterval = time.Second

// maxRefusals is how many times a running job may refuse a connection before the command gives up.
const maxRefusals = 30

// interactive waits for the start of a job and connects the terminal with its first VM. As in OAR, the
// job ends when the user leaves or interrupts the command.
func interactive(ctx context.Context, r *commandRun, id int64) error {
	r.print("# Interactive mode: waiting...\n")
	var shown int64
	for {
		j, err := r.job(ctx, id)
		if err != nil {
			return r.leave(ctx, id, err)
		}
		switch {
		case j.State == string(oar.StateRunning), j.State == string(oar.StateTerminated) && j.Started != 0:
			r.print("# Starting...\n")
			r.printError("# The shell answers when the VM has booted.")
			return r.leave(ctx, id, r.work(ctx, id))
		case !oar.State(j.State).Active():
			return exitError(11, "# Error: job %d is %s: %s", id, j.State, j.Message)
		case j.Scheduled != 0 && j.Scheduled != shown:
			shown = j.Scheduled
			r.print("# [%s] Start prediction: %s (%s)\n", r.Now().Format(time.DateTime), time.Unix(shown, 0).In(r.Now().Location()).Format(time.DateTime), j.Message)
		}
		if !r.Pause(ctx, pollInterval) {
			return r.leave(ctx, id, ctx.Err())
		}
	}
}

// job returns a job. While the daemon does not answer, such as during its restart, it says so once and tries
// again: the job does not need the daemon to run.
func (r *commandRun) job(ctx context.Context, id int64) (j oar.Detail, err error) {
	c, err := r.client()
	if err != nil {
		return j, err
	}
	for waits := false; ; waits = true {
		err := c.Get(ctx, jobPath(id), nil, &j)
		switch {
		case err == nil && waits:
			r.printError(fmt.Sprintf("# vjobd answers again: job %d is %s.", id, j.State))
			return j, nil
		case !errors.Is(err, cluster.ErrUnavailable):
			return j, err
		case !waits:
			r.printError(fmt.Sprintf("# vjobd does not answer. Job %d continues, and the terminal reconnects by itself; later, or from another terminal: oarsub -C %d", id, id))
		}
		if !r.Pause(ctx, pollInterval) {
			return j, ctx.Err()
		}
	}
}

// leave deletes an interactive job after its user has left.
func (r *commandRun) leave(ctx context.Context, id int64, err error) error {
	if err == nil {
		return nil
	}
	c, failed := r.client()
	if failed != nil {
		return failed
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	switch ended := c.Do(late, "DELETE", jobPath(id), nil, nil); {
	case ended == nil:
		r.printError(fmt.Sprintf("# Job %d is deleted: its terminal is closed.", id))
	case errors.Is(ended, cluster.ErrUnavailable):
		r.printError(fmt.Sprintf("# Job %d continues: vjobd does not answer. When it does, oarsub -C %d connects again, and oardel %d ends the job.", id, id, id))
	}
	switch {
	case errors.Is(err, program.ErrLeft):
		return nil
	case errors.Is(err, context.Canceled):
		return exitError(1, "# Error: interrupted.")
	}
	return exitError(1, "# Error: %v", err)
}

// work connects the terminal with a job until the job ends or the user leaves. It reconnects after a
// suspension, a migration or a restart of the daemon.
func (r *commandRun) work(ctx context.Context, id int64) error {
	c, err := r.client()
	if err != nil {
		return err
	}
	shown := ""
	for refusals := 0; ; {
		err := r.Attach(ctx, c, id)
		switch {
		case err == nil:
			refusals = 0
		case !errors.Is(err, cluster.ErrConflict) && !errors.Is(err, cluster.ErrUnavailable) || refusals == maxRefusals:
			return err
		default: // not running, or not yet, or the daemon restarts
			refusals++
		}
		j, err := r.job(ctx, id)
		if err != nil {
			return err
		}
		switch s := oar.State(j.State); {
		case !s.Active(), s == oar.StateFinishing:
			r.print("Disconnected from OAR job %d.\n", id)
			return nil
		case s != oar.StateRunning:
			refusals = 0
			if shown != j.State {
				shown = j.State
				r.printError(fmt.Sprintf("# Job %d is %s: the terminal reconnects when it continues.", id, shown))
			}
		}
		if !r.Pause(ctx, pollInterval) {
			return ctx.Err()
		}
	}
}

// connect is oarsub -C: it connects the terminal with a running job. The job continues afterwards.
func connect(ctx context.Context, r *commandRun) error {
	if oar.HasJobType(r.given.Values("type"), "noop") {
		return errNoop
	}
	for _, name := range []string{"resource", "property", "queue", "reservation", "array", "array-param-file", "name", "hold", "interactive", "resubmit"} {
		if r.has(name) {
			r.printError(fmt.Sprintf("# Warning: --%s has no effect beside -C, which connects to a running job.", name))
		}
	}
	if len(r.arguments) > 0 {
		r.printError(fmt.Sprintf("# Warning: %q is not run: -C connects to a running job.", r.arguments[0]))
	}
	c, err := r.client()
	if err != nil {
		return err
	}
	id, err := jobToConnect(ctx, r, c)
	if err != nil || id == 0 {
		return err
	}
	var j oar.Detail
	if err := c.Get(ctx, jobPath(id), nil, &j); err != nil {
		return exitError(20, "# Error: job %d: you are not the right user, or there is no such job.", id)
	}
	if oar.HasJobType(j.Types, "noop") {
		return errNoop
	}
	if oar.HasJobType(j.Types, "container") {
		return exitError(20, "# Error: job %d is a container: it runs only other jobs.", id)
	}
	if j.State != string(oar.StateRunning) {
		return exitError(20, "# Error: job %d is not running. Its current state is %s.", id, j.State)
	}
	ctx, stop := r.Interrupted(ctx) // restore the terminal on interrupts
	defer stop()
	switch err := r.work(ctx, id); {
	case errors.Is(err, program.ErrLeft):
		r.printError(fmt.Sprintf("# Left: job %d continues.", id))
		return nil
	case errors.Is(err, cluster.ErrForbidden), errors.Is(err, cluster.ErrNotFound):
		return exitError(20, "# Error: job %d: you are not the right user.", id)
	default:
		return err
	}
}

// connectArgument is oarconnect: oarsub -C with the job as an argument.
func connectArgument(ctx context.Context, r *commandRun) error {
	if len(r.arguments) > 1 {
		return usageError(1, "")
	}
	for _, id := range r.arguments {
		r.given = append(r.given, script.Option{Name: "connect", Value: id})
	}
	r.arguments = nil
	return connect(ctx, r)
}

// jobToConnect returns the job that is named, or the only running job of the user. It is 0 if there is
// none or several of them, which it prints.
func jobToConnect(ctx context.Context, r *commandRun, c *client.Client) (id int64, err error) {
	if named := r.value("connect"); named != "" {
		id, ok := number(named)
		if !ok {
			return 0, exitError(1, "Value %q invalid for option connect (number expected)", named)
		}
		return id, nil
	}
	who, err := r.whoami(ctx)
	if err != nil {
		return 0, err
	}
	var page oar.Page[oar.Item]
	if err := c.Get(ctx, "/oarapi/jobs", url.Values{"state": {string(oar.StateRunning)}, "user": {who.Name}}, &page); err != nil {
		return 0, err
	}
	switch len(page.Items) {
	case 0:
		r.print("No running jobs\n")
		return 0, nil
	case 1:
		return page.Items[0].ID, nil
	default:
		r.print("You have several running jobs. Please provide a job id.\nRunning jobs are: %s\n", listJobs(page.Items))
		return 0, nil
	}
}

// listJobs lists jobs with their names.
func listJobs(jobs []oar.Item) string {
	words := make([]string, len(jobs))
	for i, j := range jobs {
		words[i] = fmt.Sprint(j.ID)
		if j.Name != nil {
			words[i] += " (" + oar.Printable(*j.Name) + ")"
		}
	}
	return strings.Join(words, ", ")
}

// errNoop: a noop job runs nothing.
var errNoop = exitError(17, "# Error: it is not possible to connect to a NOOP job.")

func jobPath(id int64) string { return fmt.Sprintf("/oarapi/jobs/%d", id) }
