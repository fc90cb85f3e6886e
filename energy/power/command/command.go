// Package command switches nodes by running programs that the administrator names:
// for devices that no other driver knows, such as switched power strips.
//
// Programs are run as they are written, word by word, and never by a shell.
package command

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"vjob/energy/power"
)

// Driver runs a program, with its arguments, for each verb.
type Driver struct {
	TurnOn, TurnOff []string
	// Ask prints "on" or "off" as its first word. Empty: nobody can tell.
	Ask []string
}

var _ power.Driver = (*Driver)(nil)

// On runs the program that switches the node on.
func (d *Driver) On(ctx context.Context) error {
	_, err := Run(ctx, d.TurnOn)
	return err
}

// Off runs the program that switches the node off.
func (d *Driver) Off(ctx context.Context) error {
	_, err := Run(ctx, d.TurnOff)
	return err
}

// State runs the program that tells the state.
func (d *Driver) State(ctx context.Context) (power.State, error) {
	if len(d.Ask) == 0 {
		return power.Unknown, nil
	}
	out, err := Run(ctx, d.Ask)
	if err != nil {
		return power.Unknown, err
	}
	word, _, _ := strings.Cut(strings.TrimSpace(out)+" ", " ")
	switch strings.ToLower(word) {
	case "on":
		return power.On, nil
	case "off":
		return power.Off, nil
	case "unknown":
		return power.Unknown, nil
	}
	return power.Unknown, fmt.Errorf("%s printed %s where on, off or unknown was wanted", d.Ask[0], quoted(out))
}

// Expand replaces each {node} in the words of a command.
func Expand(argv []string, node string) []string {
	list := make([]string, len(argv))
	for i, word := range argv {
		list[i] = strings.ReplaceAll(word, "{node}", node)
	}
	return list
}

// The output of a program that is kept, and how long it may hold its output open after
// it was killed.
const (
	outputKept = 64 << 10
	killWait   = time.Second
)

// Run runs a program and returns what it printed. When the context ends it is killed,
// and whatever it has started with it. The error says what it printed, and not its
// arguments: a careless administrator may have a password among them.
func Run(ctx context.Context, argv []string) (string, error) {
	if len(argv) == 0 {
		return "", errors.New("no program is named for that")
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out, complaint limited
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = killWait
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s did not end in the time for a reply (power.limits.reply): %w", argv[0], context.Cause(ctx))
	case err == nil:
		return out.String(), nil
	}
	text := complaint.String()
	if strings.TrimSpace(text) == "" {
		text = out.String()
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return "", fmt.Errorf("run %s: %w", argv[0], err)
	}
	return "", fmt.Errorf("%s ended with %s: %s: %w", argv[0], exit.ProcessState, quoted(text), power.ErrRefused)
}

// quoted is the beginning of what a program has printed, on one line.
func quoted(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return fmt.Sprintf("%q", text)
}

// limited keeps the beginning of what is written to it.
type limited struct{ kept []byte }

// Write never fails, so that a program that prints much goes on.
func (l *limited) Write(p []byte) (int, error) {
	l.kept = append(l.kept, p[:min(outputKept-len(l.kept), len(p))]...)
	return len(p), nil
}

func (l *limited) String() string { return string(l.kept) }
