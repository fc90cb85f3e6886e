package vjobs

import (
	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/cmd/vjob/cli"
)

func requeueCommand(a *cli.App) *cobra.Command {
	return order(a, "requeue", "give up what vjobs have done, and queue them again from scratch", "will be queued again", (*client.Client).Requeue, (*client.Client).RequeueArray)
}
