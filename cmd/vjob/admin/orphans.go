package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func orphansCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "orphans",
		Short: "list the saved VMs that no vjob is saved in, and why they are kept (administrators)",
	}
	return cli.ListCommand(a, cmd, orphanColumns, func(ctx context.Context, c *client.Client) (any, []wire.Orphan, error) {
		list, err := c.Orphans(ctx)
		return list, list.Orphans, err
	})
}

// orphanColumns are the columns of saved VMs that no vjob is saved in.
var orphanColumns = []display.Field[wire.Orphan]{
	{Head: "IMAGE", Cell: func(o *wire.Orphan) any { return o.Image }},
	{Head: "OWNER", Cell: func(o *wire.Orphan) any { return o.Owner }},
	{Head: ">SIZE", Cell: func(o *wire.Orphan) any { return cluster.MiB(o.Bytes >> 20) }},
	{Head: "NODE", Cell: func(o *wire.Orphan) any { return o.Node }},
	{Head: "WRITTEN", Cell: func(o *wire.Orphan) any { return o.Written }},
	{Head: "UNTIL", Cell: func(o *wire.Orphan) any {
		if o.Until == nil {
			return display.Shown{Text: "deleted by hand"}
		}
		return o.Until
	}},
	{Head: "RESTORE", Cell: func(o *wire.Orphan) any {
		switch {
		case !o.Complete:
			return "incomplete"
		case o.Restorable:
			return fmt.Sprintf("vjob restore %d", o.VJob)
		}
		return ""
	}},
	{Head: "WHY", Cell: func(o *wire.Orphan) any { return o.Why }},
}

func discardCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "discard IMAGE...",
		Short: "delete saved VMs that no vjob is saved in (administrators)",
		Args:  cli.Arguments(-1, "names of images, as vjob images orphans lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			var errs []error
			for _, image := range args {
				if err := c.DeleteOrphan(cmd.Context(), image); err != nil {
					errs = append(errs, err)
					continue
				}
				if !a.Structured() {
					_, _ = fmt.Fprintf(a.Out, "image %s will be deleted\n", image)
				}
			}
			return errors.Join(errs...)
		},
	}
}

func restoreCommand(a *cli.App) *cobra.Command {
	generation := 0
	cmd := &cobra.Command{
		Use:   "restore VJOB...",
		Short: "go back to images of vjobs that are kept since they were lost; they will be suspended and held (administrators)",
		Args:  cli.Arguments(-1, "vjobs or arrays"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			ids, err := cli.ResolveEach(cmd.Context(), c, args)
			if err != nil {
				return err
			}
			for _, id := range ids {
				if err := restore(cmd.Context(), a, c, id, generation); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&generation, "generation", 0, "of the images; 0 is the newest of which all are there")
	return cmd
}

// restore has one vjob go back to its images.
func restore(ctx context.Context, a *cli.App, c *client.Client, id int64, generation int) error {
	job, err := c.Restore(ctx, id, generation)
	if err != nil {
		return err
	}
	if a.Structured() {
		return a.Print(job)
	}
	_, err = fmt.Fprintf(a.Out, "vjob %d is restored once its images have been verified; then let it go on: vjob release %d\n", id, id)
	return err
}
