package vjobs

import (
	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/cmd/vjob/cli"
)

func deleteCommand(a *cli.App) *cobra.Command {
	return order(a, "delete", "end vjobs; their VMs and images are removed", "will end", (*client.Client).Delete, (*client.Client).DeleteArray)
}
