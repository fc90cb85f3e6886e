// Package admin has the commands about the cluster: nodes, queues, power and prices, accounts,
// events.
package admin

import (
	"github.com/spf13/cobra"

	"vjob/cmd/vjob/cli"
)

// Commands are the commands about the cluster.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{
		nodesCommand(a), queuesCommand(a), quotasCommand(a), sharesCommand(a), rulesCommand(a),
		budgetCommand(a), priceCommand(a), plansCommand(a), recommendationsCommand(a), approveCommand(a), rejectCommand(a), eventsCommand(a), alarmsCommand(a), imagesCommand(a),
		accountsCommand(a), tokenCommand(a), auditCommand(a), adminCommand(a), whoamiCommand(a), restoreCommand(a),
	}
}
