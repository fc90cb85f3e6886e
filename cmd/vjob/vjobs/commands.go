// Package vjobs has the commands about vjobs: submit, list, show, suspend, delete and so on.
package vjobs

import (
	"github.com/spf13/cobra"

	"vjob/cmd/vjob/cli"
)

// Commands are the commands about vjobs.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{
		submitCommand(a), resubmitCommand(a), listCommand(a), ganttCommand(a), showCommand(a), deleteCommand(a),
		walltimeCommand(a), movesCommand(a), holdCommand(a), releaseCommand(a), suspendCommand(a), resumeCommand(a), requeueCommand(a),
		waitCommand(a), logsCommand(a), consoleCommand(a),
	}
}
