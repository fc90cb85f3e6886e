package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/report"
	"vjob/oar/script"
)

// commandRun is a running command.
type commandRun struct {
	Environment
	command   command
	line      []string // the command line
	given     script.Options
	arguments []string
	exit      int // exit code without an error
	server    *client.Client
}

func (r *commandRun) has(name string) bool {
	_, given := r.given.Value(name)
	return given
}

func (r *commandRun) value(name string) string {
	v, _ := r.given.Value(name)
	return v
}

func (r *commandRun) print(format string, args ...any) { _, _ = fmt.Fprintf(r.Out, format, args...) }

// maxLine is the maximal length in bytes of a line on standard error, which may quote input.
const maxLine = 2000

// printError prints lines on standard error.
func (r *commandRun) printError(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		_, _ = fmt.Fprintln(r.Err, cluster.Shortened(oar.Printable(line), maxLine))
	}
}

// client returns the client of the daemon.
func (r *commandRun) client() (c *client.Client, err error) {
	if r.server == nil {
		r.server, err = r.Client()
	}
	return r.server, err
}

// whoami returns the caller as the daemon identifies it.
func (r *commandRun) whoami(ctx context.Context) (who wire.Identity, err error) {
	c, err := r.client()
	if err == nil {
		err = c.Get(ctx, "/v1/whoami", nil, &who)
	}
	return who, err
}

// commandError ends a command with an exit code and a text for standard error.
type commandError struct {
	code  int
	text  string
	usage bool // print the usage, too
}

// Error returns the text.
func (e *commandError) Error() string { return e.text }

func exitError(code int, format string, args ...any) error {
	return &commandError{code: code, text: fmt.Sprintf(format, args...)}
}

// usageError ends a command with its usage.
func usageError(code int, text string) error {
	return &commandError{code: code, text: text, usage: true}
}

// fail prints an error and returns its exit code.
func (r *commandRun) fail(err error) int {
	if own, ok := errors.AsType[*commandError](err); ok {
		if own.usage {
			r.usage()
		}
		if own.text != "" {
			r.printError(own.text)
		}
		return own.code
	}
	if answer, ok := errors.AsType[*client.Error](err); ok {
		var f oar.Failure
		if json.Unmarshal(answer.Body, &f) == nil && f.Code != 0 {
			r.print("%s", f.Output)
			r.printError(f.Message)
			return f.Exit
		}
	}
	if code, ok := oar.ExitOf(err); ok {
		r.printError(err.Error())
		return int(code)
	}
	r.printError("# Error: " + err.Error())
	return 1
}

// usage prints the help of the command.
func (r *commandRun) usage() {
	c := &r.command
	r.print("Usage: oar%s [options] %s\n", c.name, c.arguments)
	r.print("%s%s\n\nOptions:\n", strings.ToUpper(c.summary[:1]), c.summary[1:])
	for _, o := range c.known() {
		if o.Meaning == "" {
			continue
		}
		left := "    "
		if o.Letter != "" {
			left = "-" + o.Letter + ", "
		}
		r.print("  %s--%-22s %s\n", left, o.Name, o.Meaning)
	}
}

// optionsOnly refuses arguments other than options.
func (r *commandRun) optionsOnly() error {
	if len(r.arguments) == 0 {
		return nil
	}
	return usageError(1, fmt.Sprintf("%q is not read: this command takes options only", r.arguments[0]))
}

// number parses the number of a job.
func number(text string) (id int64, ok bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0
}

// printStructured prints JSON in the format of -J, -Y or -D. It reports whether one of these options was
// given.
func (r *commandRun) printStructured(data []byte) (bool, error) {
	switch {
	case r.has("json"):
		_, err := r.Out.Write(data)
		return true, err
	case r.has("yaml"):
		text, err := report.YAML(data)
		r.print("%s", text)
		return true, err
	case r.has("dumper"):
		text, err := report.Perl(data)
		r.print("%s", text)
		return true, err
	case r.has("xml"):
		return true, exitError(1, "XML is not offered: use -J for JSON or -Y for YAML")
	}
	return false, nil
}

// formats are the options for structured output.
var formats = []script.OptionSpec{
	{Name: "json", Letter: "J", Meaning: "print JSON"},
	{Name: "yaml", Letter: "Y", Meaning: "print YAML"},
	{Name: "dumper", Letter: "D", Meaning: "print a value of Perl"},
	{Name: "xml", Letter: "X"},
}

func withFormats(options ...script.OptionSpec) []script.OptionSpec {
	return append(options, formats...)
}
