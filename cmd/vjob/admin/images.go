package admin

import (
	"github.com/spf13/cobra"

	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func imagesCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "images",
		Short: "list the images that VMs can be made of",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			list, err := c.Images(cmd.Context())
			if err != nil {
				return err
			}
			return a.Show(list, func() *display.Table {
				t := &display.Table{Heads: display.Heads("IMAGE KIND DEFAULT DESCRIPTION")}
				for _, i := range list.Images {
					usual := "-"
					if i.Default {
						usual = "yes"
					}
					t.Row(i.ID, i.Kind, usual, i.Description)
				}
				return t
			})
		},
	}
	cmd.AddCommand(orphansCommand(a), discardCommand(a))
	return cmd
}
