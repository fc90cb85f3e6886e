// Command vjobd is the daemon of vjob. Without a settings file it runs a simulated
// cluster. Package daemon is all of it but the flags.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"vjob/cluster"
	"vjob/cmd/program"
	"vjob/daemon"
	"vjob/daemon/output/writer"
	"vjob/daemon/settings"
)

// The exit codes.
const (
	exitOK    = 0
	exitError = 1 // the daemon could not start, or had to end
	exitInput = 2 // wrong usage or wrong settings
)

func main() {
	writer.Main() // a process that writes output files is this program
	program.RefuseElevated("vjobd")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Stdout, os.Stderr, os.Getenv, os.Args[1:])
	stop()
	os.Exit(code)
}

// run carries out one command line and returns its exit code.
func run(ctx context.Context, out, errs io.Writer, getenv func(string) string, args []string) int {
	c := &command{out: out, err: errs, getenv: getenv}
	root := c.root() //nolint:contextcheck // cobra hands the context to the commands
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, cluster.ErrInvalid):
		_, _ = fmt.Fprintf(errs, "vjobd: %v\n", err)
		return exitInput
	default:
		_, _ = fmt.Fprintf(errs, "vjobd: %v\n", err)
		return exitError
	}
}

// command is the flags and streams that all subcommands share.
type command struct {
	out, err io.Writer
	getenv   func(string) string
	file     string
	state    string
	socket   string
	check    bool
	print    bool
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "vjobd",
		Short: "the daemon of vjob: queues vjobs and switches them on and off on a cluster of VM hosts",
		Long: `Runs in the foreground until SIGTERM or SIGINT. Without --settings it is a simulated cluster
on a unix socket, for which nothing has to be set up.

Exit codes: 0 stopped as asked, 1 an error, 2 wrong usage or wrong settings.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("argument %q: want none; see %s --help: %w", args[0], cmd.CommandPath(), cluster.ErrInvalid)
			}
			return nil
		},
		RunE: c.serve,
	}
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help: %w", err, cmd.CommandPath(), cluster.ErrInvalid)
	})
	flags := root.PersistentFlags()
	flags.StringVarP(&c.file, "settings", "c", "", "settings `FILE`; vjobd settings prints what can stand there")
	flags.StringVar(&c.state, "state", "", "state `DIRECTORY`, instead of the settings'")
	flags.StringVar(&c.socket, "socket", "", "unix socket `PATH`, instead of the settings'")
	root.Flags().BoolVar(&c.check, "check-settings", false, "check the settings and end")
	root.Flags().BoolVar(&c.print, "print-settings", false, "print the settings that would be used and end")
	root.AddCommand(c.settingsCommand(), c.tokenCommand(), c.storeCommand())
	return root
}

// settings reads the file, with the flags over it.
func (c *command) settings() (settings.Settings, error) {
	s, err := settings.Read(c.file, c.getenv)
	if err != nil {
		return s, err
	}
	if c.state != "" {
		s.State = c.state
	}
	if c.socket != "" {
		s.Listen.Socket = c.socket
	}
	return s, daemon.Check(&s)
}

func (c *command) serve(cmd *cobra.Command, _ []string) error {
	s, err := c.settings()
	if err != nil {
		return err
	}
	switch {
	case c.print:
		text, err := s.YAML()
		if err != nil {
			return err
		}
		_, err = c.out.Write(text)
		return err
	case c.check:
		_, err := fmt.Fprintf(c.out, "the settings are right: %s, driver %s, policy %s\n", cluster.Count(len(s.ClusterNodes()), "node"), s.Driver, s.Policy.Name)
		return err
	}
	source, stop := c.source()
	defer stop()
	return daemon.Run(cmd.Context(), s, source, daemon.NewLogger(c.err, s.Log))
}

// source returns where the settings are read again at a reload, and at every SIGHUP. Without a settings file there is
// nothing to read, and SIGHUP ends the daemon as other programs.
func (c *command) source() (s *daemon.Source, stop func()) {
	if c.file == "" {
		return nil, func() {}
	}
	name := c.file
	if path, err := filepath.Abs(name); err == nil {
		name = path
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	return &daemon.Source{Name: name, Read: c.settings, Signals: hangups}, func() { signal.Stop(hangups) }
}

func (c *command) settingsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "settings",
		Short: "print the default settings, with a comment on every key",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(c.out, settings.Reference)
			return err
		},
	}
}
