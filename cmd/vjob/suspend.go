package main

import (
	"github.com/spf13/cobra"

	"vjob/api/client"
)

func (a *app) suspendCommand() *cobra.Command {
	return a.order("suspend", "suspend a running vjob, and hold it until it is resumed", "will be suspended", (*client.Client).Suspend, (*client.Client).SuspendArray)
}
