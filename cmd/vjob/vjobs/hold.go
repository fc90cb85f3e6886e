package vjobs

import (
	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/cmd/vjob/cli"
)

func holdCommand(a *cli.App) *cobra.Command {
	return order(a, "hold", "keep a waiting vjob from being started until it is released", "will be held", (*client.Client).Hold, (*client.Client).HoldArray)
}
