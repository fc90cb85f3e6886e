package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/term"

	"vjob/api/client"
	"vjob/cluster"
)

// ErrLeft is returned when the user leaves an open console.
var ErrLeft = errors.New("left")

// leaveKey is Ctrl-], which leaves the console, as in virsh and telnet.
const leaveKey = 0x1d

// Terminal is the terminal of a user. It is not safe for concurrent use.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	typed    chan []byte // see keys
}

// Work connects the user with the first VM of a vjob: by the program of [CommandVariable], else by
// its serial console.
func (t *Terminal) Work(ctx context.Context, c *client.Client, job int64) error {
	if command := t.Getenv(CommandVariable); strings.TrimSpace(command) != "" {
		return t.connect(ctx, c, job, command)
	}
	return t.Attach(ctx, c, job, 0)
}

// Attach connects the terminal with a VM until its console closes, or the user leaves:
// [ErrLeft]. It always restores the state of the terminal.
func (t *Terminal) Attach(ctx context.Context, c *client.Client, job int64, rank int) error {
	line, err := c.Attach(ctx, job, rank)
	if err != nil {
		return err
	}
	defer func() { _ = line.Close() }()
	_, _ = fmt.Fprintf(t.Err, "# Attached to %s: Ctrl-] leaves.\n", cluster.GuestName(cluster.VMID{VJob: cluster.VJobID(job), Rank: rank}))
	restore, err := t.raw()
	if err != nil {
		return err
	}
	defer restore()
	over := make(chan struct{})
	go func() { // ends when the line is closed
		_, _ = io.Copy(t.Out, line) // a broken line counts as closed
		close(over)
	}()
	keys := t.keys()
	for {
		select {
		case <-over:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case typed, more := <-keys:
			before, _, left := strings.Cut(string(typed), string(rune(leaveKey)))
			if _, err := io.WriteString(line, before); err != nil {
				return nil // the line is closed
			}
			if left {
				return ErrLeft
			}
			if !more {
				keys = nil // no more input: go on with the output
			}
		}
	}
}

// keys returns the input, piece by piece, until it ends. One goroutine reads it for
// the whole life of the program, since a read cannot be cancelled.
func (t *Terminal) keys() <-chan []byte {
	if t.typed == nil {
		t.typed = make(chan []byte)
		go func() {
			defer close(t.typed)
			for {
				piece := make([]byte, 1024)
				n, err := t.In.Read(piece)
				if n > 0 {
					t.typed <- piece[:n]
				}
				if err != nil {
					return
				}
			}
		}()
	}
	return t.typed
}

// Size returns the size of the terminal, or 0, 0 if the size is unknown or the input is not a terminal.
func (t *Terminal) Size() (rows, columns int) {
	file, ok := t.In.(*os.File)
	if !ok || !term.IsTerminal(file.Fd()) {
		return 0, 0
	}
	columns, rows, err := term.GetSize(file.Fd())
	if err != nil || rows < 0 || columns < 0 {
		return 0, 0
	}
	return rows, columns
}

// raw sets the terminal to raw mode, if the input is a terminal; restore undoes that.
func (t *Terminal) raw() (restore func(), err error) {
	file, ok := t.In.(*os.File)
	if !ok || !term.IsTerminal(file.Fd()) {
		return func() {}, nil
	}
	before, err := term.MakeRaw(file.Fd())
	if err != nil {
		return nil, fmt.Errorf("prepare the terminal: %w", err)
	}
	return func() {
		_ = term.Restore(file.Fd(), before) // the terminal may be gone
		_, _ = fmt.Fprint(t.Err, "\r\n")
	}, nil
}

// connect runs a program that connects to the first VM. It returns [ErrLeft] when the program ends.
func (t *Terminal) connect(ctx context.Context, c *client.Client, job int64, command string) error {
	detail, err := c.VJob(ctx, job)
	if err != nil {
		return err
	}
	g := Guest{Name: cluster.GuestName(cluster.VMID{VJob: cluster.VJobID(job)}), Job: strconv.FormatInt(job, 10)}
	if len(detail.VMs) > 0 {
		g.Node = detail.VMs[0].Node
	}
	if _, err := t.Exec(ctx, g.Fill(command)); err != nil { // the exit code is that of the user's last command
		return fmt.Errorf("%s=%q: %w", CommandVariable, command, err)
	}
	return ErrLeft
}
