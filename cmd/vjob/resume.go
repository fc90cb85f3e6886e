package main

import (
	"github.com/spf13/cobra"

	"vjob/api/client"
)

func (a *app) resumeCommand() *cobra.Command {
	return a.order("resume", "let a suspended vjob go on", "will go on when there is room", (*client.Client).Resume, (*client.Client).ResumeArray)
}
