// Command vjob-oar runs OAR's commands by the names of its links: oarsub, oarstat and so on. Without
// links, `vjob-oar oarsub …` is the same as `oarsub …`. It is separate from vjob because it starts in
// half the time, and scripts call these commands by the thousand.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vjob/api/client"
	"vjob/cmd/program"
	"vjob/cmd/vjob-oar/command"
)

func main() {
	program.RefuseElevated("vjob-oar")
	os.Exit(run(context.Background(), os.Args))
}

// run runs a command line and returns its exit code.
func run(ctx context.Context, line []string) int {
	called := line[0]
	name, ok := strings.CutPrefix(filepath.Base(called), "oar")
	line = line[1:]
	if !ok {
		if len(line) == 0 {
			_, _ = fmt.Fprintf(os.Stderr, "vjob-oar: want a link such as oarsub, or one of OAR's commands: %s\n", strings.Join(command.Names(), ", "))
			return 1
		}
		name, line = strings.TrimPrefix(line[0], "oar"), line[1:]
	}
	t := program.Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv}
	return command.Run(ctx, name, line, command.Environment{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Now: time.Now, Version: program.Version(),
		Client: connect, Attach: t.Work, Exec: t.Exec, Size: t.Size,
		Companion: func(name string) (string, error) { return program.Companion(called, name) },
		Pause:     program.Sleep, Interrupted: program.Interrupted,
	})
}

// connect returns a client of the server that the environment or the local socket names.
func connect() (*client.Client, error) {
	s, err := client.Discover("", os.Getenv)
	if err != nil {
		return nil, err
	}
	s.Agent = "vjob-oar/" + program.Version()
	return client.New(s)
}
