package main

import (
	"github.com/spf13/cobra"

	"vjob/api/client"
)

func (a *app) deleteCommand() *cobra.Command {
	return a.order("delete", "end vjobs; their VMs and images are removed", "will end", (*client.Client).Delete, (*client.Client).DeleteArray)
}
