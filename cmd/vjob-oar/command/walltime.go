package command

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/script"
)

var walltimeOptions = []script.OptionSpec{
	{Name: "force", Letter: "f", Meaning: "at once, as without it"},
	{Name: "whole", Letter: "w", Meaning: "wholly or not at all, as without it"},
	{Name: "delay-next-jobs", Letter: "d", Meaning: "even if jobs that wait start later; of administrators"},
	{Name: "timeout", Letter: "t", Argument: script.NumberArgument, Meaning: "no effect: a change never waits"},
}

// The exit codes of oarwalltime.
const (
	exitWalltimeBad       = 1
	exitWalltimeUnknown   = 2 // of a query
	exitWalltimeForbidden = 3
	exitWalltimeNotFound  = 4 // of a change; also a bad command line
)

// walltimeForm matches a walltime or a change of one.
var walltimeForm = regexp.MustCompile(`^[+-]?\d+(:\d+){0,2}$`)

// walltime is oarwalltime: it shows the walltime of a job, or changes that of a running one.
func walltime(ctx context.Context, r *commandRun) error {
	words := r.arguments
	changes := r.has("force") || r.has("whole") || r.has("delay-next-jobs") || r.has("timeout")
	if len(words) == 0 || len(words) > 2 || len(words) == 1 && changes {
		return usageError(exitWalltimeNotFound, "Syntax error.")
	}
	id, ok := number(words[0])
	if !ok {
		return usageError(exitWalltimeNotFound, fmt.Sprintf("Syntax error: %q is not a valid job identifier.", words[0]))
	}
	if len(words) == 2 && !walltimeForm.MatchString(words[1]) {
		return usageError(exitWalltimeNotFound, fmt.Sprintf("Syntax error: %q is no walltime: want [+-]H[:M[:S]].", words[1]))
	}
	c, err := r.client()
	if err != nil {
		return err
	}
	var j oar.Detail
	err = c.Get(ctx, jobPath(id), nil, &j)
	switch {
	case errors.Is(err, cluster.ErrNotFound) && len(words) == 1:
		return exitError(exitWalltimeUnknown, "UNKNOWN JOB")
	case errors.Is(err, cluster.ErrNotFound):
		return exitError(exitWalltimeNotFound, "Not found: could not find job %d.", id)
	case err != nil:
		return err
	case len(words) == 1:
		return r.showWalltime(ctx, &j)
	}
	return r.changeWalltime(ctx, &j, words[1])
}

// showWalltime prints the walltime and what changed of it.
func (r *commandRun) showWalltime(ctx context.Context, j *oar.Detail) error {
	change, err := r.grantedWalltime(ctx, j)
	if err != nil {
		return err
	}
	granted := signedWalltime(change)
	switch {
	case j.Started == 0:
		r.print("Walltime change status for job %d (job is not running yet):\n  N/A\n", j.ID)
		return nil
	case !oar.State(j.State).Active():
		r.print("Walltime change status for job %d (job is not running):\n", j.ID)
		r.print("  Walltime: %11s\n  Granted: %12s\n  Unsatisfied: %8s\n", secondsText(j.Walltime), granted, "0:0:0")
		return nil
	}
	who, err := r.whoami(ctx)
	if err != nil {
		return err
	}
	possible := "0:0:0"
	if who.Role == "admin" {
		possible = "UNLIMITED"
	}
	r.print("Walltime change status for job %d (job is running):\n", j.ID)
	r.print("  Current walltime: %11s\n  Possible increase: %10s\n  Already granted: %12s\n  Pending/unsatisfied: %8s\n", secondsText(j.Walltime), possible, granted, "0:0:0")
	return nil
}

// changeWalltime gives a running job another walltime, at once.
func (r *commandRun) changeWalltime(ctx context.Context, j *oar.Detail, text string) error {
	who, err := r.whoami(ctx)
	if err != nil {
		return err
	}
	wanted, _, err := oar.ParseWalltime(strings.TrimLeft(text, "+-"))
	if err != nil {
		return exitError(exitWalltimeBad, "Bad request: %v.", err)
	}
	seconds := int64(wanted / time.Second)
	switch text[0] {
	case '+':
		seconds += j.Walltime
	case '-':
		seconds = max(j.Walltime-seconds, 1) // 0 is unlimited; what has run so long ends
	}
	forbidden := func(format string, args ...any) error {
		return exitError(exitWalltimeForbidden, "Forbidden: "+format+".", args...)
	}
	longer := seconds > j.Walltime
	switch {
	case j.State != string(oar.StateRunning):
		return forbidden("job %d is not running", j.ID)
	case j.Walltime == 0:
		return forbidden("job %d has no walltime to change", j.ID)
	case seconds == j.Walltime:
		return exitError(exitWalltimeBad, "Bad request: walltime change is null.")
	case !longer && oar.HasJobType(j.Types, "container"):
		return forbidden("reducing the walltime of a container job is not allowed")
	case longer && r.has("delay-next-jobs") && who.Role != "admin":
		return forbidden("walltime change for this job is not allowed to delay other jobs")
	case longer && who.Role != "admin":
		return forbidden("request cannot be accepted because the walltime cannot increase by more than 0:0:0: only administrators give a job that runs more time")
	}
	before, err := r.grantedWalltime(ctx, j)
	if err != nil {
		return err
	}
	c, err := r.client()
	if err != nil {
		return err
	}
	_, err = c.SetWalltime(ctx, j.ID, max(seconds, 1))
	switch {
	case errors.Is(err, cluster.ErrConflict), errors.Is(err, cluster.ErrForbidden):
		return forbidden("%s", strings.TrimSuffix(err.Error(), ": conflict"))
	case errors.Is(err, cluster.ErrNotFound):
		return forbidden("job %d does not belong to you", j.ID)
	case err != nil:
		return exitError(exitWalltimeBad, "Bad request: %v.", err)
	}
	if longer && !r.has("delay-next-jobs") {
		r.printError("# Warning: jobs that wait may start later, as with --delay-next-jobs.")
	}
	done := "accepted"
	if before != 0 {
		done = "updated"
	}
	r.print("Accepted: walltime change request %s for job %d, it will be handled shortly.\n", done, j.ID)
	return nil
}

// grantedWalltime returns by how many seconds the walltime of a job has changed since its submission.
func (r *commandRun) grantedWalltime(ctx context.Context, j *oar.Detail) (int64, error) {
	c, err := r.client()
	if err != nil {
		return 0, err
	}
	job, err := c.VJob(ctx, j.ID)
	if record, _ := oar.RecordOf(job.Labels); record.Walltime != 0 {
		return j.Walltime - record.Walltime, err
	}
	return 0, err // unknown of moldable jobs, which never change
}

func secondsText(seconds int64) string {
	return oar.FormatWalltime(time.Duration(seconds) * time.Second)
}

// signedWalltime formats a change of a walltime: +1:0:0, -0:30:0 or 0:0:0.
func signedWalltime(seconds int64) string {
	switch {
	case seconds > 0:
		return "+" + secondsText(seconds)
	case seconds < 0:
		return "-" + secondsText(-seconds)
	}
	return "0:0:0"
}
