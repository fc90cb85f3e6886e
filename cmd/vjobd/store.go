package main

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"vjob/daemon"
)

// storeCommand marks the image store, whether or not the daemon runs.
func (c *command) storeCommand() *cobra.Command {
	var adopt bool
	init := &cobra.Command{
		Use:   "init-store",
		Short: "make and mark the folders of the image store",
		Long: `Makes a folder for each node in libvirt.image_dir and marks it with the id of this installation,
in a file .vjob-store. A folder without the marker is not read: its file system is not mounted,
or another one is. Mount the store first, also where an older vjob has used it. May be repeated,
for instance after nodes were added to the settings.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := c.settings()
			if err != nil {
				return err
			}
			folders, err := daemon.InitStore(cmd.Context(), &s, adopt)
			if err != nil {
				return fmt.Errorf("init-store: %w", err)
			}
			table := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
			_, err = fmt.Fprintln(table, "NODE\tFOLDER\tIMAGES\tMARKER")
			for _, f := range folders {
				_, failed := fmt.Fprintf(table, "%s\t%s\t%d\t%s\n", f.Node, f.Path, f.Images, f.Result)
				err = errors.Join(err, failed)
			}
			return errors.Join(err, table.Flush())
		},
	}
	init.Flags().BoolVar(&adopt, "adopt", false, "take over folders that belong to another installation; that one must not run any more")
	return init
}
