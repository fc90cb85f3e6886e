package vjobs

import (
	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/cmd/vjob/cli"
)

func releaseCommand(a *cli.App) *cobra.Command {
	return order(a, "release", "let a held vjob start again", "released", (*client.Client).Release, (*client.Client).ReleaseArray)
}
