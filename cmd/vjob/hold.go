package main

import (
	"github.com/spf13/cobra"

	"vjob/api/client"
)

func (a *app) holdCommand() *cobra.Command {
	return a.order("hold", "keep a waiting vjob from being started until it is released", "will be held", (*client.Client).Hold, (*client.Client).HoldArray)
}
