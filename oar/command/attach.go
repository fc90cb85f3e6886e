package command

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"vjob/oar/rest"
	"vjob/oar/state"
)

// look is the pause between two looks at a job that has not started.
const look = time.Second

// interactive waits for the start of a job and shows its console. Whoever breaks off
// ends the job, as leaving the shell of OAR's does.
func interactive(ctx context.Context, r *run, id int64) error {
	r.print("# Interactive mode: waiting...\n")
	c, err := r.client()
	if err != nil {
		return err
	}
	var told int64
	for {
		var j rest.Detail
		if err := c.Get(ctx, jobPath(id), nil, &j); err != nil {
			return r.leave(ctx, id, err)
		}
		switch {
		case j.State == string(state.Running), j.State == string(state.Terminated) && j.Started != 0:
			r.print("# Starting...\n")
			return r.leave(ctx, id, r.Attach(ctx, c, id))
		case !state.State(j.State).Active():
			return stopped(11, "# Error: job %d is %s: %s", id, j.State, j.Message)
		case j.Scheduled != 0 && j.Scheduled != told:
			told = j.Scheduled
			r.print("# [%s] Start prediction: %s (%s)\n", r.Now().Format(time.DateTime), time.Unix(told, 0).In(r.Now().Location()).Format(time.DateTime), j.Message)
		}
		if !r.Pause(ctx, look) {
			return r.leave(ctx, id, ctx.Err())
		}
	}
}

// leave ends an interactive job whose user has gone.
func (r *run) leave(ctx context.Context, id int64, err error) error {
	if err == nil {
		return nil
	}
	c, failed := r.client()
	if failed != nil {
		return failed
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if ended := c.Do(late, "DELETE", jobPath(id), nil, nil); ended == nil {
		r.tell(fmt.Sprintf("# Job %d is deleted: nobody is attached any more.", id))
	}
	return stopped(1, "# Error: %v", err)
}

// connect is oarsub -C: it shows the console of a job that runs.
func connect(ctx context.Context, r *run) error {
	if slices.Contains(r.given.Values("type"), "noop") {
		return errNoop
	}
	c, err := r.client()
	if err != nil {
		return err
	}
	text := r.value("connect")
	if text == "" {
		var page rest.Page[rest.Item]
		if err := c.Get(ctx, "/oarapi/jobs", url.Values{"state": {string(state.Running)}, "limit": {"2"}}, &page); err != nil {
			return err
		}
		switch len(page.Items) {
		case 0:
			r.print("No running jobs\n")
			return nil
		case 1:
			return r.Attach(ctx, c, page.Items[0].ID)
		}
		return stopped(20, "# Error: several jobs are running: say which, such as -C %d", page.Items[0].ID)
	}
	id, ok := number(text)
	if !ok {
		return stopped(1, "Value %q invalid for option connect (number expected)", text)
	}
	var j rest.Detail
	if err := c.Get(ctx, jobPath(id), nil, &j); err != nil {
		return stopped(20, "# Error: job %d: you are not the right user, or there is no such job.", id)
	}
	if slices.Contains(j.Types, "noop") {
		return errNoop
	}
	if j.State != string(state.Running) {
		return stopped(20, "# Error: job %d is not running. Its current state is %s.", id, j.State)
	}
	return r.Attach(ctx, c, id)
}

// errNoop: a job of type noop runs nothing.
var errNoop = stopped(17, "# Error: it is not possible to connect to a NOOP job.")

func jobPath(id int64) string { return fmt.Sprintf("/oarapi/jobs/%d", id) }
