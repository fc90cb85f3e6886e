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
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Now      func() time.Time
	Version  string
	// Client returns a client of the daemon.
	Client func() (*client.Client, error)
	// Attach connects the user's terminal with the first VM of a job until the job ends, is moved or
	// suspended. It returns [console.ErrLeft] if the user leaves.
	Attach func(ctx context.Context, c *client.Client, job int64) error
	// Exec runs another program on the user's terminal and returns its exit code.
	Exec func(ctx context.Context, words []string) (code int, err error)
	// Companion returns the path of another command, such as oarsh.
	Companion func(name string) (path string, err error)
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
	foreign   bool // another program reads the options
	run       func(context.Context, *commandRun) error
}

// commands returns all commands.
func commands() []command {
	return []command{
		{name: "sub", summary: "submit a job", arguments: "COMMAND", options: subOptions, run: sub},
		{name: "stat", summary: "show jobs", options: statOptions, run: stat},
		{name: "del", summary: "end jobs", arguments: "ID…", options: delOptions, run: del},
		{name: "hold", summary: "hold waiting jobs, or suspend running ones", arguments: "ID…", options: holdOptions, run: hold},
		{name: "resume", summary: "release held jobs, resume suspended ones", arguments: "ID…", options: resumeOptions, run: resume},
		{name: "connect", summary: "work in the first VM of a job that runs, as oarsub -C", arguments: "[ID]", run: connectArgument},
		{name: "sh", summary: "run ssh to a VM of the job of OAR_JOB_ID", arguments: "[USER@]HOST [COMMAND]", foreign: true, run: shell},
		{name: "cp", summary: "run scp to and from VMs of the job of OAR_JOB_ID", arguments: "[HOST:]FILE… [HOST:]TARGET", foreign: true, run: copyFiles},
		{name: "print", summary: "print the resources of a job", arguments: "PROPERTY", options: printOptions, run: printResources},
		{name: "walltime", summary: "show or change the walltime of a job", arguments: "ID [[+-]H[:M[:S]]]", options: walltimeOptions, run: walltime},
		{name: "nodes", summary: "show the nodes", arguments: "[NODE…]", options: nodesOptions, run: nodes},
		{name: "nodesetting", summary: "enable nodes, or move all VMs away", options: nodesettingOptions, run: nodesetting},
		{name: "property", summary: "show the properties of nodes", options: propertyOptions, run: listProperties},
		{name: "queue", summary: "show the queues", options: queueOptions, run: queue},
		{name: "notify", summary: "show the queues, as OAR 2.5 does", options: notifyOptions, run: notify},
		{name: "removeresource", summary: "not offered: the settings of vjobd have the nodes", arguments: "ID", run: removeresource},
		{name: "accounting", summary: "nothing to do: usage is counted at once", options: accountingOptions, run: accounting},
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
	if !c.foreign {
		if r.given, r.arguments, err = script.ParseLine(c.known(), line); err != nil {
			return r.fail(err)
		}
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
