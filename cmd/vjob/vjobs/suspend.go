package vjobs

import (
	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/cmd/vjob/cli"
)

func suspendCommand(a *cli.App) *cobra.Command {
	return order(a, "suspend", "suspend a running vjob, and hold it until it is resumed", "will be suspended", (*client.Client).Suspend, (*client.Client).SuspendArray)
}
