package vjobs

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

// order is a command that asks the same of each vjob it is given. It goes on
// after an error and returns them all.
func order(a *cli.App, use, short, done string, ask, askAll asking) *cobra.Command {
	array := false
	cmd := &cobra.Command{
		Use:   use + " VJOB...",
		Short: short,
		Args:  cli.Arguments(-1, "numbers or names of vjobs"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			resolve, ask := cli.ResolveVJob, ask
			if array {
				resolve, ask = resolveArray, askAll
			}
			var errs []error
			jobs := []wire.VJob{}
			for _, arg := range args {
				id, err := resolve(cmd.Context(), c, arg)
				if err != nil {
					errs = append(errs, err)
					continue
				}
				job, err := ask(c, cmd.Context(), id)
				if err != nil {
					errs = append(errs, fmt.Errorf("%s %d: %w", use, id, err))
					continue
				}
				jobs = append(jobs, job)
				if !a.JSON() {
					_, _ = fmt.Fprintln(a.Out, asked(&job, done))
				}
			}
			if a.JSON() {
				errs = append(errs, cli.PrintJSON(a.Out, wire.VJobList{VJobs: jobs, Total: len(jobs)}, true))
			}
			return errors.Join(errs...)
		},
	}
	cmd.Flags().BoolVar(&array, "array", false, "all vjobs of the arrays of these numbers or names, to which it applies")
	return cmd
}

// asking is a call about one vjob, or about the vjobs of one array.
type asking func(c *client.Client, ctx context.Context, id int64) (wire.VJob, error)

// asked says what will be done, and how things stand.
func asked(job *wire.VJob, done string) string {
	if job.Members != nil {
		return fmt.Sprintf("array %d: %s; %s now", job.Array, done, members(job.Members))
	}
	return fmt.Sprintf("vjob %d: %s; it is %s now", job.ID, done, display.Clean(job.State))
}
