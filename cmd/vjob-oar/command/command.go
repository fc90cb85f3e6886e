// Package command implements OAR's commands: oarsub, oarstat, oardel and the others, with OAR's options,
// output and exit codes.
//
// A command parses its options and reads the files that they name, calls the daemon under /oarapi, and
// prints the answer. The daemon interprets requests.
package command

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"vjob/api/client"
	"vjob/oar/script"
)

// Environment is the environment of a command, which tests replace.
type Environment struct {
	Out, Err io.Writer
	Getenv   func(string) string
	Now      func() time.Time
	Version  string
	// Client returns a client of the daemon.
	Client func() (*client.Client, error)
	// Attach connects the user's terminal with the first VM of a job until the job ends, is moved or
	// suspended. It returns [console.ErrLeft] if the user leaves.
	Attach func(ctx context.Context, c *client.Client, job int64) error
	// Size returns the size of the user's terminal, or 0, 0 without a terminal.
	Size func() (rows, columns int)
	// Pause waits. It returns false if the context ends first.
	Pause func(ctx context.Context, d time.Duration) bool
	// Interrupted returns a context that ends on interrupts. Only interactive jobs need it: they must be
	// deleted then.
	Interrupted func(context.Context) (context.Context, context.CancelFunc)
}

// command is one of OAR's commands.
type command struct {
	name      string // without the prefix oar
	summary   string
	arguments string // for the help
	options   []script.OptionSpec
	run       func(context.Context, *commandRun) error
}

// commands returns all commands.
func commands() []command {
	return []command{
		{"sub", "submit a job", "COMMAND", subOptions, sub},
		{"stat", "show jobs", "", statOptions, stat},
		{"del", "end jobs", "ID…", delOptions, del},
		{"hold", "hold waiting jobs, or suspend running ones", "ID…", holdOptions, hold},
		{"resume", "release held jobs, resume suspended ones", "ID…", resumeOptions, resume},
		{"nodes", "show the nodes", "[NODE…]", nodesOptions, nodes},
		{"nodesetting", "enable nodes, or move all VMs away", "", nodesettingOptions, nodesetting},
		{"property", "show the properties of nodes", "", propertyOptions, property},
		{"queue", "show the queues", "", queueOptions, queue},
		{"notify", "show the queues, as OAR 2.5 does", "", notifyOptions, notify},
		{"removeresource", "not offered: the settings of vjobd have the nodes", "ID", nil, removeresource},
		{"walltime", "not offered: use vjob walltime", "ID [[+-]H[:M[:S]]]", walltimeOptions, walltime},
		{"accounting", "nothing to do: usage is counted at once", "", accountingOptions, accounting},
	}
}

// Names returns the names of all commands, without the prefix oar.
func Names() (names []string) {
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

func find(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

// common are the options of all commands.
var common = []script.OptionSpec{
	{Name: "help", Letter: "h", Meaning: "print this"},
	{Name: "version", Letter: "V", Meaning: "print the version"},
}

// Run runs a command, named without the prefix oar, and returns its exit code.
func Run(ctx context.Context, name string, line []string, w Environment) int {
	c, ok := find(name)
	if !ok {
		_, _ = fmt.Fprintf(w.Err, "oar%s: there is no such command: want one of %s\n", name, strings.Join(Names(), ", "))
		return 1
	}
	r := &commandRun{Environment: w, command: c}
	var err error
	if r.given, r.arguments, err = script.ParseLine(c.known(), line); err != nil {
		return r.fail(err)
	}
	switch {
	case r.has("help"):
		r.usage()
		return 0
	case r.has("version"):
		r.print("OAR version: 2.5.10 (vjob %s)\n", w.Version)
		return 0
	}
	r.line = line
	if err := c.run(ctx, r); err != nil {
		return r.fail(err)
	}
	return r.exit
}

// known returns the options of a command. Its own letters take precedence over common ones:
// oarnodesetting -h is a host.
func (c *command) known() []script.OptionSpec {
	return append(slices.Clip(c.options), common...)
}
