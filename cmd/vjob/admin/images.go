package admin

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func imagesCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "images",
		Short: "list the images that VMs can be made of",
	}
	cli.ListCommand(a, cmd, imageColumns, func(ctx context.Context, c *client.Client) (any, []wire.Image, error) {
		list, err := c.Images(ctx)
		return list, list.Images, err
	})
	cmd.AddCommand(orphansCommand(a), discardCommand(a))
	return cmd
}

// imageColumns are the columns of images.
var imageColumns = []display.Field[wire.Image]{
	{Head: "IMAGE", Cell: func(i *wire.Image) any { return i.ID }},
	{Head: "KIND", Cell: func(i *wire.Image) any { return i.Kind }},
	{Head: "DEFAULT", Cell: func(i *wire.Image) any { return i.Default }},
	{Head: "USERS", Level: display.Wide, Cell: func(i *wire.Image) any { return strings.Join(i.Users, ",") }},
	{Head: "GROUPS", Level: display.Wide, Cell: func(i *wire.Image) any { return strings.Join(i.Groups, ",") }},
	{Head: "DESCRIPTION", Cell: func(i *wire.Image) any { return i.Description }},
}
