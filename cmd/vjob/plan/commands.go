// Package plan has the commands about plans: made for an instance file or, as a question,
// for the cluster as it stands, and judged.
//
// It refuses to know how a plan is found.
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
