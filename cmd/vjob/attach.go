package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/cluster"
	"vjob/oar/command"
)

// leaveKey is Ctrl-], which leaves a line as it leaves virsh and telnet.
const leaveKey = 0x1d

func (a *app) consoleCommand() *cobra.Command {
	var rank int
	cmd := &cobra.Command{
		Use:   "console VJOB",
		Short: "type in a VM of a vjob of yours that runs",
		Long: `Connects the terminal with the second serial line of a VM (/dev/ttyS1 of its guest), bytes
both ways. Ctrl-] leaves, and the VM goes on. Something must listen there: a getty of the
image, or the shell of oarsub -I.`,
		Args: arguments(1, "the number or the name of a vjob"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			id, err := resolve(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			if err := a.attach(cmd.Context(), c, id, rank); !errors.Is(err, command.ErrLeft) {
				return err
			}
			return nil
		},
	}
	cmd.Flags().IntVarP(&rank, "rank", "r", 0, "which VM of the vjob, from 0")
	return cmd
}

// attach connects the terminal with a VM until its line is over, or somebody leaves:
// [command.ErrLeft]. The terminal is as before in any case.
func (a *app) attach(ctx context.Context, c *client.Client, job int64, rank int) error {
	line, err := c.Attach(ctx, job, rank)
	if err != nil {
		return err
	}
	defer func() { _ = line.Close() }()
	_, _ = fmt.Fprintf(a.err, "# Attached to %s: Ctrl-] leaves.\n", cluster.GuestName(cluster.VMID{VJob: cluster.VJobID(job), Rank: rank}))
	restore, err := a.raw()
	if err != nil {
		return err
	}
	defer restore()
	over := make(chan struct{})
	go func() { // it ends when the line is closed
		_, _ = io.Copy(a.out, line) // a line that breaks is over
		close(over)
	}()
	keys := a.keys()
	for {
		select {
		case <-over:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case typed, more := <-keys:
			before, _, left := strings.Cut(string(typed), string(rune(leaveKey)))
			if _, err := io.WriteString(line, before); err != nil {
				return nil // the line is over
			}
			if left {
				return command.ErrLeft
			}
			if !more {
				keys = nil // no more input: only what is shown counts
			}
		}
	}
}

// keys is what is typed, piece by piece, until the input ends. One goroutine reads it for
// the whole life of the program: a read cannot be given up.
func (a *app) keys() <-chan []byte {
	if a.typed == nil {
		a.typed = make(chan []byte)
		go func() {
			defer close(a.typed)
			for {
				piece := make([]byte, 1024)
				n, err := a.in.Read(piece)
				if n > 0 {
					a.typed <- piece[:n]
				}
				if err != nil {
					return
				}
			}
		}()
	}
	return a.typed
}

// raw lets each key through as it is typed, if the input is a terminal; restore makes
// that as it was.
func (a *app) raw() (restore func(), err error) {
	file, ok := a.in.(*os.File)
	if !ok || !term.IsTerminal(file.Fd()) {
		return func() {}, nil
	}
	before, err := term.MakeRaw(file.Fd())
	if err != nil {
		return nil, fmt.Errorf("prepare the terminal: %w", err)
	}
	return func() {
		_ = term.Restore(file.Fd(), before) // a terminal that is gone needs nothing
		_, _ = fmt.Fprint(a.err, "\r\n")
	}, nil
}

// connectVariable is the environment variable with the words of a program that connects
// to a VM in place of its line, such as "ssh {user}@{guest}".
const connectVariable = "VJOB_CONNECT"

// work lets somebody work in the first VM of a job of OAR: by the program of their choice,
// on its line, or where drivers have no lines by showing its console.
func (a *app) work(ctx context.Context, c *client.Client, job int64) error {
	if words := strings.Fields(a.getenv(connectVariable)); len(words) > 0 {
		return a.connect(ctx, c, job, words)
	}
	err := a.attach(ctx, c, job, 0)
	if errors.Is(err, cluster.ErrUnavailable) {
		a.tell("# " + err.Error() + "\n# What it prints is shown; nothing can be typed.")
		return followLogs(ctx, c, job, 0, 0, &cleanWriter{to: a.out})
	}
	return err
}

// connect runs a program that connects to the first VM; when it ends somebody has left.
func (a *app) connect(ctx context.Context, c *client.Client, job int64, words []string) error {
	detail, err := c.VJob(ctx, job)
	if err != nil {
		return err
	}
	node, name := "", ""
	if len(detail.VMs) > 0 {
		node = detail.VMs[0].Node
	}
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	fill := strings.NewReplacer(
		"{guest}", cluster.GuestName(cluster.VMID{VJob: cluster.VJobID(job)}), "{node}", node, "{user}", name, "{job}", strconv.FormatInt(job, 10),
	)
	for i, w := range words {
		words[i] = fill.Replace(w)
	}
	run := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // the user's own choice, on the user's machine
	run.Stdin, run.Stdout, run.Stderr = a.in, a.out, a.err
	var exit *exec.ExitError
	if err := run.Run(); err != nil && !errors.As(err, &exit) { // what they did last there is no failure of ours
		return fmt.Errorf("%s=%q: %w", connectVariable, a.getenv(connectVariable), err)
	}
	return command.ErrLeft
}
