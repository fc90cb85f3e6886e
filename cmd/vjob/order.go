package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
)

// order is a command that asks the same of each vjob it is given. It goes on
// after an error and returns them all.
func (a *app) order(use, short, done string, ask func(*client.Client, context.Context, int64) (wire.VJob, error)) *cobra.Command {
	return &cobra.Command{
		Use:   use + " VJOB...",
		Short: short,
		Args:  arguments(-1, "numbers or names of vjobs"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
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
				if !a.json() {
					_, _ = fmt.Fprintf(a.out, "vjob %d: %s; it is %s now\n", job.ID, done, clean(job.State))
				}
			}
			if a.json() {
				errs = append(errs, printJSON(a.out, wire.VJobList{VJobs: jobs, Total: len(jobs)}, true))
			}
			return errors.Join(errs...)
		},
	}
}
