package main

import "github.com/spf13/cobra"

func (a *app) imagesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "images",
		Short: "list the images that VMs can be made of",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			list, err := c.Images(cmd.Context())
			if err != nil {
				return err
			}
			return a.show(list, func() *table {
				t := &table{heads: heads("IMAGE KIND DEFAULT DESCRIPTION")}
				for _, i := range list.Images {
					usual := "-"
					if i.Default {
						usual = "yes"
					}
					t.row(i.ID, i.Kind, usual, i.Description)
				}
				return t
			})
		},
	}
}
