package vjobs

import (
	"context"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
)

// asking is a call about one vjob, or about the vjobs of one array.
type asking func(c *client.Client, ctx context.Context, id int64) (wire.VJob, error)

// order is a command that gives an order to vjobs and arrays.
func order(a *cli.App, use, short, done string, ask, askAll asking) *cobra.Command {
	call := func(ask asking) func(context.Context, *client.Client, int64) (wire.VJob, error) {
		return func(ctx context.Context, c *client.Client, id int64) (wire.VJob, error) { return ask(c, ctx, id) }
	}
	o := &cli.Orders{Verb: use, Done: done, Each: call(ask), All: call(askAll)}
	cmd := &cobra.Command{
		Use:   use + " VJOB...",
		Short: short,
		Example: "  vjob " + use + " 12 sim-run 'sweep[3-7]'\n" +
			"  vjob " + use + " --label campaign=7 --yes",
		RunE: func(cmd *cobra.Command, args []string) error { return o.Run(cmd, args) },
	}
	o.Register(a, cmd)
	return cmd
}
