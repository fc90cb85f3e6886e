package vjobs

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func resubmitCommand(a *cli.App) *cobra.Command {
	var array bool
	cmd := &cobra.Command{
		Use:   "resubmit VJOB...",
		Short: "submit the same vjobs again, whether they have ended or not",
		Long: `Submits vjobs that are like others of yours, and prints their numbers. Their terms are the same, but for
instants that have passed, which are dropped. Vjobs of an array become an array again, with the same parameters. To
change something before, print it as a file: vjob show --file 12 >again.yaml.`,
		Example: `  vjob resubmit 12
  vjob resubmit sweep               # all vjobs of the array
  vjob resubmit 'sweep[2,5-9]'      # an array of these
  vjob resubmit --array 'sweep[3]'  # all vjobs of the array to which it belongs`,
		Args: cli.Arguments(-1, "vjobs or arrays"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			list, err := cli.Resolve(cmd.Context(), c, args)
			if err != nil {
				return err
			}
			var jobs []wire.VJob
			for _, n := range list {
				job, err := resubmit(cmd.Context(), a, c, n, array)
				if err != nil {
					return err
				}
				jobs = append(jobs, job)
			}
			if a.Structured() && len(jobs) > 1 {
				return a.Print(wire.VJobList{VJobs: jobs, Total: len(jobs)})
			}
			if a.Structured() {
				return a.Print(jobs[0])
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&array, "array", false, "submit its whole array")
	return cmd
}

// resubmit submits again what was named, or all of the array to which it belongs, and prints the number.
func resubmit(ctx context.Context, a *cli.App, c *client.Client, n cli.Named, array bool) (wire.VJob, error) {
	s, err := resubmission(ctx, c, n, array)
	if err != nil {
		return wire.VJob{}, err
	}
	for _, dropped := range dropPast(&s, a.Now()) {
		_, _ = fmt.Fprintf(a.Err, "vjob: %s\n", dropped)
	}
	job, _, err := c.Submit(ctx, s, "")
	if err != nil || a.Structured() {
		return job, err
	}
	_, err = fmt.Fprintln(a.Out, job.ID)
	return job, err
}

// resubmission is what submits again what was named: a vjob, or some vjobs of an array as an array. With array it is
// all of the array to which the vjob belongs.
func resubmission(ctx context.Context, c *client.Client, n cli.Named, array bool) (wire.Submission, error) {
	if !n.Array {
		return c.Submission(ctx, n.ID, array)
	}
	if array {
		n.Indexes = ""
	}
	rows, err := n.VJobs(ctx, c)
	if err != nil {
		return wire.Submission{}, err
	}
	s, err := c.Submission(ctx, rows[0].ID, false)
	s.Array, s.Parameters = len(rows), make([]string, len(rows))
	for i := range rows {
		s.Parameters[i] = rows[i].Parameter
	}
	return s, err
}

// dropPast takes from a submission the instants that have passed, and says which.
func dropPast(s *wire.Submission, now time.Time) (dropped []string) {
	for _, term := range []struct {
		name string
		at   *time.Time
	}{{"deadline", &s.Deadline}, {"not_before", &s.NotBefore}, {"not_after", &s.NotAfter}, {"reservation", &s.Reservation}} {
		if !term.at.IsZero() && !term.at.After(now) {
			dropped = append(dropped, fmt.Sprintf("%s %s has passed: dropped", term.name, display.Moment(term.at)))
			*term.at = time.Time{}
		}
	}
	return dropped
}
