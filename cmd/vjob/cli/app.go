// Package cli has what the commands of vjob share: the streams of the process, global flags and the
// parsing of flags, exit codes, queries to the daemon, files, and output as table or JSON.
package cli

import (
	"io"
	"os"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/cmd/program"
)

// Streams are the environment of a command, which tests can replace.
type Streams struct {
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(string) string
	Now    func() time.Time
	// Width returns the width of the terminal of Out, or 0 if Out is not a terminal.
	Width func() int
	// Height returns the height of that terminal; nil or 0: unlimited.
	Height func() int
	// Interactive reports whether the user can be asked: In and Err are terminals. Nil: never.
	Interactive func() bool
}

// Standard returns the streams of the process.
func Standard() Streams {
	size := func() (width, height int) {
		width, height, err := term.GetSize(os.Stdout.Fd())
		if err != nil {
			return 0, 0
		}
		return width, height
	}
	return Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Now: time.Now,
		Width:       func() int { width, _ := size(); return width },
		Height:      func() int { _, height := size(); return height },
		Interactive: func() bool { return term.IsTerminal(os.Stdin.Fd()) && term.IsTerminal(os.Stderr.Fd()) },
	}
}

// App is what all commands share: the streams and the global flags.
type App struct {
	Streams
	server   string
	format   outputFormat
	streamed bool // a value of a stream was printed
}

// Root is `vjob` with its commands.
func (a *App) Root(commands ...*cobra.Command) *cobra.Command {
	var output string
	a.format = outputFormat{name: FormatTable}
	root := &cobra.Command{
		Use:           "vjob",
		Short:         "submit, follow and steer vjobs: groups of VMs that run together",
		Long:          rootHelp,
		Version:       program.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          NoArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) (err error) {
			a.format, err = parseFormat(output)
			return err
		},
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &UsageError{Cmd: cmd, Err: err} })
	flags := root.PersistentFlags()
	flags.StringVar(&a.server, "server", "", "`ADDRESS` of vjobd: unix:///path, http://host:port or https://host:port (default: VJOB_SERVER, or the local socket)")
	flags.StringVarP(&output, "format", "o", FormatTable, "output `FORMAT`: table or wide for people; json, yaml, csv or template='{{…}}' (of Go, on the fields of json) for programs")
	flags.StringVar(&output, "output", FormatTable, "another name of --format `FORMAT`; vjob submit --output names files")
	_ = flags.MarkHidden("output")
	root.AddCommand(commands...)
	return root
}

const rootHelp = `vjob submits, follows and steers vjobs: groups of VMs that run together on a cluster.

Exit codes:
  0  success
  1  an error of the daemon, of the network or of this program; vjob check: the plan is wrong
  2  wrong usage or wrong input; the message names the field
  3  not found; vjob plan: no plan
  4  refused: it contradicts the present state
  5  not allowed, or not authenticated
  6  the timeout of --timeout is over
  7  an order to several vjobs: some follow, others do not

vjob wait and submit --wait exit with the exit status of the work, if that failed.`

// Client speaks to the server that the flag, the environment or the local socket
// names.
func (a *App) Client() (*client.Client, error) { return a.client(0) }

// ImpatientClient is a client that tries each request once.
func (a *App) ImpatientClient() (*client.Client, error) { return a.client(-1) }

func (a *App) client(retries int) (*client.Client, error) {
	s, err := client.Discover(a.server, a.Getenv)
	if err != nil {
		return nil, err
	}
	s.Retries = retries
	s.Agent = "vjob/" + program.Version()
	return client.New(s)
}

// Colours reports whether to use colours: on a terminal, unless NO_COLOR is set.
func (a *App) Colours() bool {
	return a.Width() > 0 && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
}
