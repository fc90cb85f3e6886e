package command

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/script"
)

var (
	byArray = script.OptionSpec{Name: "array", Meaning: "the numbers are of arrays: each of their jobs"}
	bySQL   = script.OptionSpec{Name: "sql", Argument: script.TextArgument, Meaning: "each live job for which a condition holds, such as \"project = 'p1'\""}

	delOptions = []script.OptionSpec{
		byArray, bySQL,
		{Name: "checkpoint", Letter: "c", Meaning: "not offered"},
		{Name: "signal", Letter: "s", Argument: script.TextArgument, Meaning: "not offered"},
		{Name: "besteffort", Letter: "b", Meaning: "not offered: the terms of a job never change"},
		{Name: "force-terminate-finishing-job", Meaning: "not offered: vjobd retries until the VMs of a job are gone"},
	}
	holdOptions   = []script.OptionSpec{byArray, bySQL, {Name: "running", Letter: "r", Meaning: "suspend jobs that run"}}
	resumeOptions = []script.OptionSpec{byArray, bySQL}
)

// jobArguments returns the jobs of the command line. It reports arguments that are not numbers; the exit
// code is then wrong.
func (r *commandRun) jobArguments(ctx context.Context, wrong int) (ids []int64, err error) {
	if r.has("sql") {
		return r.jobsToOrder(ctx)
	}
	if len(r.arguments) == 0 {
		return nil, usageError(1, "")
	}
	kind := "job"
	if r.has("array") {
		kind = "job array"
	}
	for _, text := range r.arguments {
		id, ok := number(text)
		if !ok {
			r.printError(fmt.Sprintf("[ERROR] \"%.80s\" is not a valid %s identifier", text, kind))
			r.exit = wrong
			continue
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// expandArrays replaces arrays by their live jobs, with --array.
func (r *commandRun) expandArrays(ctx context.Context, ids []int64) (list []int64, err error) {
	if !r.has("array") {
		return ids, nil
	}
	c, err := r.client()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		var page oar.Page[oar.Item]
		query := url.Values{"array": {fmt.Sprint(id)}, "limit": {maxJobs}}
		if err := c.Get(ctx, "/oarapi/jobs", query, &page); err != nil {
			return nil, err
		}
		before := len(list)
		for _, item := range page.Items {
			if oar.State(item.State).Active() {
				list = append(list, item.ID)
			}
		}
		if len(list) == before {
			r.print("There is no job for this array job (%d).\n", id)
		}
	}
	return list, nil
}

// orderJobs sends the same order to each job, and keeps the exit code of the last failure. foreign returns
// the output and error output for jobs that do not exist or belong to other users.
func (r *commandRun) orderJobs(ctx context.Context, ids []int64, method, path string, foreign func(int64) (printed, told string), tell func(*oar.Done)) error {
	c, err := r.client()
	if err != nil {
		return err
	}
	for _, id := range ids {
		var d oar.Done
		err := c.Do(ctx, method, jobPath(id)+path, nil, &d)
		switch {
		case errors.Is(err, cluster.ErrNotFound), errors.Is(err, cluster.ErrForbidden):
			printed, told := foreign(id)
			r.print("%s", printed)
			r.printError(told)
			r.exit = 1
			continue
		case err != nil:
			return err
		}
		tell(&d)
		if d.Errors != "" {
			r.printError(d.Errors)
		}
		if d.Exit != 0 {
			r.exit = d.Exit
		}
	}
	return nil
}

// del is oardel.
func del(ctx context.Context, r *commandRun) error {
	ids, err := r.jobArguments(ctx, 4)
	if err != nil {
		return err
	}
	if ids, err = r.expandArrays(ctx, ids); err != nil {
		return err
	}
	if r.has("force-terminate-finishing-job") || r.has("besteffort") {
		return refuseForce(ctx, r, ids)
	}
	foreign := func(doing, what string) func(int64) (string, string) {
		return func(id int64) (string, string) {
			return fmt.Sprintf(doing, id), fmt.Sprintf("Cannot %s %d ; You are not the right user.", what, id)
		}
	}
	printed := func(d *oar.Done) { r.print("%s", d.Output) }
	if r.has("checkpoint") && r.has("signal") {
		return usageError(1, "-c and -s exclude each other")
	}
	if r.has("checkpoint") {
		return r.orderJobs(ctx, ids, "POST", "/checkpoints/new", foreign("Checkpointing the job %d ...ERROR.\n", "checkpoint"), printed)
	}
	if signal, given := r.given.Value("signal"); given {
		doing := "Signaling the job %d with " + strings.ReplaceAll(oar.Printable(signal), "%", "%%") + " signal.\nERROR.\n"
		return r.orderJobs(ctx, ids, "POST", "/signals/"+url.PathEscape(signal), foreign(doing, "signal"), printed)
	}
	var registered []string
	err = r.orderJobs(ctx, ids, "DELETE", "", foreign("Deleting the job = %d ...ERROR.\n", "frag"), func(d *oar.Done) {
		line, _, _ := strings.Cut(d.Output, "\n")
		r.print("%s\n", line)
		if d.Exit == 0 {
			registered = append(registered, fmt.Sprint(d.ID))
		}
	})
	if len(registered) > 0 {
		r.print("The job(s) [ %s ] will be deleted in the near future.\n", strings.Join(registered, " "))
	}
	return err
}

// refuseForce refuses options for administrators that vjob does not offer.
func refuseForce(ctx context.Context, r *commandRun, ids []int64) error {
	c, err := r.client()
	if err != nil {
		return err
	}
	who, err := r.whoami(ctx)
	if err != nil {
		return err
	}
	option := "-b"
	if !r.has("besteffort") {
		option = "--force-terminate-finishing-job"
	}
	if who.Role != "admin" {
		return exitError(8, "You must be oar or root to use the %s option", option)
	}
	for _, id := range ids {
		var j oar.Detail
		if err := c.Get(ctx, jobPath(id), nil, &j); err != nil {
			return exitError(1, "Cannot frag %d ; there is no such job.", id)
		}
		switch {
		case r.has("besteffort") && j.State != string(oar.StateRunning):
			return exitError(9, "The job %d is not Running: its state is %s", id, j.State)
		case r.has("besteffort"):
			return exitError(9, "The terms of job %d never change: submit it again with -t besteffort", id)
		case j.State != string(oar.StateFinishing):
			return exitError(10, "The job %d is not Finishing: its state is %s", id, j.State)
		}
	}
	return exitError(11, "Finishing jobs cannot be forced to end: vjobd retries until their VMs are gone")
}

// hold is oarhold.
func hold(ctx context.Context, r *commandRun) error {
	path := "/holds/new"
	if r.has("running") {
		path = "/rholds/new"
	}
	return r.holdOrResume(ctx, path, "hold")
}

// resume is oarresume.
func resume(ctx context.Context, r *commandRun) error {
	return r.holdOrResume(ctx, "/resumptions/new", "resume")
}

func (r *commandRun) holdOrResume(ctx context.Context, path, what string) error {
	ids, err := r.jobArguments(ctx, 2)
	if err != nil {
		return err
	}
	if ids, err = r.expandArrays(ctx, ids); err != nil {
		return err
	}
	return r.orderJobs(ctx, ids, "POST", path,
		func(id int64) (string, string) {
			return "", fmt.Sprintf(`/!\ Cannot %s %d: this job does not exist.`, what, id)
		},
		func(d *oar.Done) { r.print("%s", d.Output) })
}
