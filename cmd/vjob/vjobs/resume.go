package vjobs

import (
	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/cmd/vjob/cli"
)

func resumeCommand(a *cli.App) *cobra.Command {
	return order(a, "resume", "let a suspended vjob go on", "will go on when there is room", (*client.Client).Resume, (*client.Client).ResumeArray)
}
