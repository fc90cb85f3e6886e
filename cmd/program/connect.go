package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
)

// CommandVariable is the environment variable with the command of a program that connects to a VM
// instead of its serial console, such as "ssh {user}@{guest}".
const CommandVariable = "VJOB_CONNECT"

// Guest is a VM to connect with.
type Guest struct {
	Name string // of its guest
	Node string // may be ""
	Job  string
	User string // "" is the user of the program
}

// Fill fills a command of [CommandVariable] in, and splits it into words.
func (g Guest) Fill(command string) []string {
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	fill := strings.NewReplacer("{guest}", g.Name, "{node}", g.Node, "{user}", cmp.Or(g.User, name), "{job}", g.Job)
	words := strings.Fields(command)
	for i, w := range words {
		words[i] = fill.Replace(w)
	}
	return words
}

// Exec runs a program with the input and output of this one, and returns its exit code. The error says why it
// could not be run.
func (t *Terminal) Exec(ctx context.Context, words []string) (code int, err error) {
	run := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // the user's own choice, on the user's machine
	run.Stdin, run.Stdout, run.Stderr = t.In, t.Out, t.Err
	err = run.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return max(ended.ExitCode(), 1), nil // -1: a signal
	}
	return 0, err
}

// Companion returns the path of another link to this program: beside the one that was called, or in PATH.
func Companion(called, name string) (string, error) {
	if beside := filepath.Join(filepath.Dir(called), name); strings.Contains(called, "/") && executable(beside) {
		return beside, nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is not installed: make install links it to vjob-oar", name)
	}
	return path, nil
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
