// Package command is OAR's commands: oarsub, oarstat, oardel and their family, each
// with its options, output and exit codes. They read the command line and the files
// that it names, ask the daemon under /oarapi, and print what it answers.
//
// It refuses to know what a request means: the daemon says it.
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

// World is the outside of a command, so that tests can take its place.
type World struct {
	Out, Err io.Writer
	Getenv   func(string) string
	Now      func() time.Time
	Version  string
	// Client speaks to the daemon.
	Client func() (*client.Client, error)
	// Attach lets somebody work in the first VM of a job until that has ended, is moved or
	// suspended, or they leave: then it returns [console.ErrLeft].
	Attach func(ctx context.Context, c *client.Client, job int64) error
	// Size is that of the user's terminal; 0, 0: there is none.
	Size func() (rows, columns int)
	// Pause waits, or returns false when the context ends first.
	Pause func(ctx context.Context, d time.Duration) bool
	// Interrupted is a context that ends when the user breaks off. A job of somebody who
	// waits for it must be ended then; every other command may be killed at any time.
	Interrupted func(context.Context) (context.Context, context.CancelFunc)
}

// command is one of the family.
type command struct {
	name      string // without oar in front
	summary   string
	arguments string // for the help
	options   []script.OptionSpec
	run       func(context.Context, *run) error
}

// commands are all of the family.
func commands() []command {
	return []command{
		{"sub", "submit a job", "COMMAND", subOptions, sub},
		{"stat", "show jobs", "", statOptions, stat},
		{"del", "end jobs", "ID…", delOptions, del},
		{"hold", "keep jobs that wait from being started, or suspend them", "ID…", holdOptions, hold},
		{"resume", "let held or suspended jobs go on", "ID…", resumeOptions, resume},
		{"nodes", "show the nodes", "[NODE…]", nodesOptions, nodes},
		{"nodesetting", "let nodes take VMs, or move all off them", "", nodesettingOptions, nodesetting},
		{"property", "show the properties of nodes", "", propertyOptions, property},
		{"queue", "show the queues", "", queueOptions, queue},
		{"notify", "show the queues, as OAR 2.5 does", "", notifyOptions, notify},
		{"removeresource", "not offered: nodes stand in the settings of vjobd", "ID", nil, removeresource},
		{"walltime", "not offered: vjob walltime gives a job another walltime", "ID [[+-]H[:M[:S]]]", walltimeOptions, walltime},
		{"accounting", "nothing to do: what was used is counted at once", "", accountingOptions, accounting},
	}
}

// Names are the commands, without oar in front.
func Names() (names []string) {
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

// Summary says in a line what a command is for; ok is false if there is none.
func Summary(name string) (text string, ok bool) {
	c, ok := find(name)
	return c.summary, ok
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

// Run carries out a command, named without oar in front, and returns its exit code.
func Run(ctx context.Context, name string, line []string, w World) int {
	c, ok := find(name)
	if !ok {
		_, _ = fmt.Fprintf(w.Err, "oar%s: there is no such command: want one of %s\n", name, strings.Join(Names(), ", "))
		return 1
	}
	r := &run{World: w, command: c}
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

// known are the options of a command. A letter of its own wins over a common one:
// oarnodesetting -h is a host.
func (c *command) known() []script.OptionSpec {
	return append(slices.Clip(c.options), common...)
}
