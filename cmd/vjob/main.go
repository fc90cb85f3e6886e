// Command vjob is the command line of vjob: it submits, follows and steers vjobs
// through the REST API of vjobd, replays workloads in virtual time, and makes and
// checks plans from files.
//
// The packages below have the commands, a file for each.
package main

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"vjob/cmd/program"
	"vjob/cmd/vjob/admin"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/completion"
	"vjob/cmd/vjob/energy"
	"vjob/cmd/vjob/oar"
	"vjob/cmd/vjob/plan"
	"vjob/cmd/vjob/pools"
	"vjob/cmd/vjob/replay"
	"vjob/cmd/vjob/report"
	"vjob/cmd/vjob/vjobs"
	"vjob/cmd/vjob/watch"
)

func main() {
	program.RefuseElevated("vjob")
	ctx, stop := program.Context()
	code := run(ctx, cli.Standard(), os.Args[1:])
	stop()
	os.Exit(code)
}

// run carries out one command line and returns its exit code.
func run(ctx context.Context, s cli.Streams, args []string) int {
	a := &cli.App{Streams: s}
	root := tree(a, args)                     //nolint:contextcheck // cobra hands the context to commands and completions
	root.SetArgs(append([]string{}, args...)) // never nil, for which cobra would take the program's own
	err := root.ExecuteContext(ctx)
	if err != nil {
		a.Complain(err)
	}
	return cli.ExitCode(err)
}

// tree is the root command with all others, their groups, and the completions that the arguments ask for.
func tree(a *cli.App, args []string) *cobra.Command {
	root := a.Root(commands(a)...)
	arrange(root)
	illustrate(root)
	completion.Register(a, root, args)
	return root
}

// commands are all commands of vjob; each package below has those about its noun.
func commands(a *cli.App) []*cobra.Command {
	single := []*cobra.Command{watch.Command(a), energy.Command(a), replay.Command(a), report.Command(a), oar.Command(a), pools.Command(a), pools.BalanceCommand(a), pools.DayCommand(a), versionCommand(a)}
	return slices.Concat(vjobs.Commands(a), admin.Commands(a), plan.Commands(a), single)
}
