package main

import (
	"io"
	"os"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/cluster"
	"vjob/cmd/program"
)

// streams are the outside of a command, so that tests can take its place.
type streams struct {
	in     io.Reader
	out    io.Writer
	err    io.Writer
	getenv func(string) string
	now    func() time.Time
	// width is the width of the terminal that out is, 0 when it is none.
	width func() int
}

func standardStreams() streams {
	return streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, now: time.Now, width: func() int {
		width, _, err := term.GetSize(os.Stdout.Fd())
		if err != nil {
			return 0
		}
		return width
	}}
}

// app is what all commands share: the streams and the global flags.
type app struct {
	streams
	server string
	output string
}

// The output formats.
const (
	formatTable = "table"
	formatJSON  = "json"
)

// root is the command without its subcommands' names: `vjob`.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "vjob",
		Short:         "submit, follow and steer vjobs: groups of VMs that run together",
		Long:          rootHelp,
		Version:       program.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if a.output != formatTable && a.output != formatJSON {
				return cluster.BadField("--output", a.output, "json or table")
			}
			return nil
		},
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{cmd: cmd, err: err} })
	flags := root.PersistentFlags()
	flags.StringVar(&a.server, "server", "", "`ADDRESS` of vjobd: unix:///path, http://host:port or https://host:port (default: VJOB_SERVER, or the local socket)")
	flags.StringVarP(&a.output, "output", "o", formatTable, "output `FORMAT`: table for people, json for programs")
	complete(root, "output", formatTable, formatJSON)
	root.AddCommand(
		a.submitCommand(), a.listCommand(), a.ganttCommand(), a.showCommand(), a.deleteCommand(), a.walltimeCommand(), a.holdCommand(), a.releaseCommand(),
		a.suspendCommand(), a.resumeCommand(), a.logsCommand(), a.consoleCommand(), a.nodesCommand(), a.queuesCommand(), a.quotasCommand(), a.sharesCommand(), a.rulesCommand(), a.budgetCommand(), a.priceCommand(), a.plansCommand(), a.eventsCommand(),
		a.imagesCommand(), a.watchCommand(), a.usersCommand(), a.adminCommand(), a.whoamiCommand(), a.replayCommand(),
		a.planCommand(), a.energyCommand(), a.checkCommand(), a.oarCommand(), a.versionCommand(),
	)
	return root
}

const rootHelp = `vjob submits, follows and steers vjobs: groups of VMs that run together on a cluster.

Exit codes:
  0  success
  1  an error of the daemon, of the network or of this program; vjob check: the plan is wrong
  2  wrong usage or wrong input; the message names the field
  3  not found; vjob plan: no plan
  4  refused: it contradicts the present state
  5  not allowed, or not known who you are
  6  --wait or --timeout ended first`

// client speaks to the server that the flag, the environment or the local socket
// names.
func (a *app) client() (*client.Client, error) {
	s, err := client.Discover(a.server, a.getenv)
	if err != nil {
		return nil, err
	}
	s.Agent = "vjob/" + program.Version()
	return client.New(s)
}

// json reports whether output is for programs.
func (a *app) json() bool { return a.output == formatJSON }

// colours reports whether to paint: on a terminal, unless NO_COLOR is set.
func (a *app) colours() bool {
	return a.width() > 0 && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
}

// complete offers fixed values for a flag.
func complete(cmd *cobra.Command, flag string, values ...string) {
	// The error says that there is no such flag, which the tests would show.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}
