package launch

import (
	"fmt"
	"strings"

	"vjob/cluster"
)

// The lines around what precedes the script of a user for a simulated guest.
const (
	preludeBegin = "# OAR: variables\n"
	preludeEnd   = "# OAR: script\n"
)

// Simulated returns the script of the first VM for a simulated guest, which understands a small part of the language
// of shells. It sets OAR's variables and runs the command, or the script with its own interpreter.
func (j *Job) Simulated() string {
	var b strings.Builder
	b.WriteString(preludeBegin)
	j.variables(&b)
	if j.Directory != "" {
		b.WriteString("cd \"$OAR_WORKDIR\"\n")
	}
	if j.Script == "" {
		fmt.Fprintf(&b, "sh -c %s\" ${VJOB_PARAMETER-}\"\n", cluster.Quote(j.Command))
		return "#!/bin/sh\n" + b.String()
	}
	_, arguments, _ := strings.Cut(strings.TrimSpace(j.Command), " ")
	fmt.Fprintf(&b, "eval \"set -- \"%s\" ${VJOB_PARAMETER-}\"\n%s", cluster.Quote(arguments), preludeEnd)
	first, rest := interpreter(j.Script)
	return first + b.String() + rest
}

// interpreter splits a script after the line that names its interpreter.
func interpreter(script string) (first, rest string) {
	if !strings.HasPrefix(script, "#!") {
		return "", script
	}
	first, rest, _ = strings.Cut(script, "\n")
	return first + "\n", rest
}

// simulatedScript returns the script of a user from what [Job.Simulated] returned; ok is false for a command.
func simulatedScript(text string) (script string, ok bool) {
	first, rest := interpreter(text)
	if !strings.HasPrefix(rest, preludeBegin) {
		return "", false
	}
	_, script, ok = strings.Cut(rest, "\n"+preludeEnd)
	return first + script, ok
}
