package driver

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

// Command runs a program, with its arguments, for each verb. It serves devices without a driver of their own, such as
// switched power strips. Programs run without a shell: each word is one argument.
type Command struct {
	TurnOn, TurnOff []string
	// Ask prints "on" or "off" as its first word. If empty, the state is unknown.
	Ask []string
}

var _ power.Driver = (*Command)(nil)

// On runs the program that switches the node on.
func (d *Command) On(ctx context.Context) error {
	_, err := RunCommand(ctx, d.TurnOn)
	return err
}

// Off runs the program that switches the node off.
func (d *Command) Off(ctx context.Context) error {
	_, err := RunCommand(ctx, d.TurnOff)
	return err
}

// State runs the program that reports the state.
func (d *Command) State(ctx context.Context) (power.State, error) {
	if len(d.Ask) == 0 {
		return power.Unknown, nil
	}
	out, err := RunCommand(ctx, d.Ask)
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
	return power.Unknown, fmt.Errorf("%s printed %s, want on, off or unknown", d.Ask[0], quoted(out))
}

// ExpandNode replaces each {node} in the words of a command.
func ExpandNode(argv []string, node string) []string {
	list := make([]string, len(argv))
	for i, word := range argv {
		list[i] = strings.ReplaceAll(word, "{node}", node)
	}
	return list
}

// The limit of output that is kept, and how long a killed program may hold its output open.
const (
	outputKept = 64 << 10
	killWait   = time.Second
)

// RunCommand runs a program and returns its output. When the context ends, the program and its
// children are killed. Errors quote its output but never its arguments, which may contain a
// password.
func RunCommand(ctx context.Context, argv []string) (string, error) {
	if len(argv) == 0 {
		return "", errors.New("no program is configured for this request")
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
