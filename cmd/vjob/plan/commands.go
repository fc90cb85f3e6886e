// Package plan has the commands about plans: make a plan for an instance file, ask the daemon
// what it would do, and check a plan.
package plan

import (
	"github.com/spf13/cobra"

	"vjob/cmd/vjob/cli"
)

// Commands are the commands about plans.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{
		planCommand(a), checkCommand(a),
	}
}
