package main

import (
	"github.com/spf13/cobra"

	"vjob/api/client"
)

func (a *app) releaseCommand() *cobra.Command {
	return a.order("release", "let a held vjob start again", "released", (*client.Client).Release, (*client.Client).ReleaseArray)
}
