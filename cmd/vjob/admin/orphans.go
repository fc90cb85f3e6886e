package admin

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func orphansCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "orphans",
		Short: "list the saved VMs that no vjob is saved in, and why they are kept (administrators)",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			list, err := c.Orphans(cmd.Context())
			if err != nil {
				return err
			}
			return a.Show(list, func() *display.Table { return orphanTable(list.Orphans) })
		},
	}
}

func orphanTable(orphans []wire.Orphan) *display.Table {
	t := &display.Table{Heads: display.Heads("IMAGE OWNER >SIZE NODE WRITTEN UNTIL RESTORE WHY")}
	for _, o := range orphans {
		until, restore := "deleted by hand", "-"
		if o.Until != nil {
			until = display.Moment(o.Until)
		}
		if o.Restorable {
			restore = fmt.Sprintf("vjob restore %d", o.VJob)
		}
		if !o.Complete {
			restore = "incomplete"
		}
		t.Row(o.Image, display.Dash(o.Owner), display.MiB(o.Bytes>>20), o.Node, display.Moment(o.Written), until, restore, o.Why)
	}
	return t
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
				if !a.JSON() {
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
		Use:   "restore VJOB",
		Short: "go back to images of a vjob that are kept since it was lost; it will be suspended and held (administrators)",
		Args:  cli.Arguments(1, "the number or the name of a vjob"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			id, err := cli.ResolveVJob(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			job, err := c.Restore(cmd.Context(), id, generation)
			if err != nil {
				return err
			}
			if a.JSON() {
				return cli.PrintJSON(a.Out, job, true)
			}
			_, err = fmt.Fprintf(a.Out, "vjob %d is restored once its images have been verified; then let it go on: vjob release %d\n", id, id)
			return err
		},
	}
	cmd.Flags().IntVar(&generation, "generation", 0, "of the images; 0 is the newest of which all are there")
	return cmd
}
