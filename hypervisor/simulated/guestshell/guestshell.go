// Package guestshell interprets the command or the script of a simulated guest: it turns a payload into a
// [cluster.Program], the text that the guest prints and the time that it computes.
//
// It understands a small part of the language of POSIX shells (The Open Group, "Shell & Utilities", 2018, §2).
// It starts no process, reads no file and no clock, and draws no random numbers, so equal payloads have equal
// programs. Bounds limit what a payload can cost; work that exceeds one ends there with exit code 126.
package guestshell

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
)

// Bounds of the work of one guest.
const (
	maxCommands = 10_000   // commands and passes of loops
	maxOutput   = 16 << 10 // bytes printed
	maxWord     = 4 << 10  // bytes of one variable or word
	maxNesting  = 64       // statements, words and expressions in each other
	maxSteps    = 1000     // of the program
	maxScript   = 16 << 10 // bytes of a script
	maxWork     = 1 << 20  // bytes of words that are expanded, parsed or printed
)

// Forever is how long `sleep infinity` lasts: ten years, the longest walltime.
const Forever = 10 * 365 * 24 * time.Hour

// Exit statuses of a shell (POSIX §2.8.2).
const (
	exitUsage    = 2
	exitBound    = 126
	exitNotFound = 127
)

// Work is what a guest does.
type Work struct {
	Program *cluster.Program
	// Faults are what the guest does not understand and the bound that it exceeds, in the order in which it
	// meets them: "./run.sh is not found and ends with 127".
	Faults []string
}

// Interpret returns the work of the guest with this host name and CPU; nil if the payload has neither a command
// nor a script. It does not change the payload.
func Interpret(p *cluster.Payload, cpu cluster.MilliCPU, host string) *Work {
	if len(p.Command) == 0 && p.Script == "" {
		return nil
	}
	r := &run{cpu: cpu, host: host, program: &cluster.Program{Independent: true}}
	sh := newShell(r, p.Env)
	if p.ErrorsApart {
		sh.err.kind = toErrors
	}
	if len(p.Command) > 0 {
		sh.call(p.Command)
	} else {
		sh.script(p.Script)
	}
	r.flush()
	r.program.Exit = sh.status
	switch {
	case r.poweredOff:
		r.program.Exit = cluster.ExitUntold
	case r.bound != "":
		r.program.Exit = exitBound
	}
	return &Work{Program: r.program, Faults: r.faults}
}

// run is the state that all shells of a guest share.
type run struct {
	cpu     cluster.MilliCPU
	host    string
	program *cluster.Program

	pending  []byte        // printed since the last step
	errors   []byte        // written to standard error since then, if that is kept apart
	time     time.Duration // of all steps
	faults   []string
	commands int
	printed  int // bytes
	work     int // bytes
	nesting  int

	over       bool   // nothing more happens
	poweredOff bool   // by the work itself
	bound      string // the bound that was exceeded
}

// exceed ends the work at a bound.
func (r *run) exceed(format string, args ...any) {
	if r.over {
		return
	}
	r.over, r.bound = true, fmt.Sprintf(format, args...)
	r.faults = append(r.faults, fmt.Sprintf("it needs more than %s and ends with %d", r.bound, exitBound))
	r.pending = fmt.Appendf(r.pending, "sh: a simulated guest has at most %s\n", r.bound)
}

// spend counts work, in bytes of words.
func (r *run) spend(bytes int) {
	if r.work += bytes; r.work > maxWork {
		r.exceed("%d KiB of words in all", maxWork>>10)
	}
}

// count counts one command or one pass of a loop. It reports whether the work continues.
func (r *run) count() bool {
	if r.commands++; r.commands > maxCommands {
		r.exceed("10,000 commands")
	}
	r.spend(1)
	return !r.over
}

// enter begins a nested statement, word or expression. It reports whether the work continues; each call needs a
// [run.leave].
func (r *run) enter() bool {
	if r.nesting++; r.nesting > maxNesting {
		r.exceed("%d levels of nesting", maxNesting)
	}
	return !r.over
}

func (r *run) leave() { r.nesting-- }

// print appends to what a stream prints: pending or errors.
func (r *run) print(stream *[]byte, text string) {
	if r.over {
		return
	}
	if r.printed += len(text); r.printed > maxOutput {
		text = text[:max(0, len(text)-(r.printed-maxOutput))]
		*stream = append(*stream, text...)
		if len(*stream) > 0 && (*stream)[len(*stream)-1] != '\n' {
			*stream = append(*stream, '\n')
		}
		r.exceed("%d KiB of output", maxOutput>>10)
		return
	}
	*stream = append(*stream, text...)
}

// silent reports whether nothing was printed since the last step.
func (r *run) silent() bool { return len(r.pending)+len(r.errors) == 0 }

// compute lets time pass: the guest needs all its processors for so long.
func (r *run) compute(d time.Duration) {
	if r.over {
		return
	}
	d = min(d, Forever-r.time)
	r.time += d
	if last := len(r.program.Steps) - 1; last >= 0 && r.silent() {
		r.program.Steps[last].Duration += d
	} else {
		r.step(d)
	}
	if r.time >= Forever {
		r.over = true
	}
}

// step adds a step that begins with what was printed since the last one.
func (r *run) step(d time.Duration) {
	if len(r.program.Steps) >= maxSteps {
		r.exceed("%d pauses between outputs", maxSteps)
		return
	}
	r.program.Steps = append(r.program.Steps, cluster.Step{
		CPU: r.cpu, Duration: d, Output: valid(r.pending), Errors: valid(r.errors),
	})
	r.pending, r.errors = r.pending[:0], r.errors[:0]
}

func valid(text []byte) string { return strings.ToValidUTF8(string(text), "\uFFFD") }

// flush adds what was printed last.
func (r *run) flush() {
	if r.silent() {
		return
	}
	if len(r.program.Steps) < maxSteps {
		r.step(0)
		return
	}
	last := &r.program.Steps[maxSteps-1]
	last.Output, last.Errors = last.Output+valid(r.pending), last.Errors+valid(r.errors)
}

// maxFaults is how many faults a work lists.
const maxFaults = 5

// note lists a fault.
func (r *run) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(r.faults) < maxFaults && !slices.Contains(r.faults, text) {
		r.faults = append(r.faults, text)
	}
}

// newShell returns the first shell of a guest.
func newShell(r *run, env map[string]string) *shell {
	sh := &shell{
		run: r, name: "sh", vars: map[string]variable{}, functions: map[string]*function{},
		out: sink{kind: toConsole}, err: sink{kind: toConsole},
	}
	for name, value := range map[string]string{"PATH": "/usr/bin:/bin", "HOME": "/root", "PWD": "/", "HOSTNAME": r.host} {
		sh.vars[name] = variable{value, true}
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		sh.vars[name] = variable{env[name], true}
	}
	return sh
}

// script runs a script, if its first line names a shell.
func (sh *shell) script(text string) {
	first, _, _ := strings.Cut(text, "\n")
	line, ok := strings.CutPrefix(strings.TrimRight(first, "\r"), "#!")
	if !ok {
		sh.text(text)
		return
	}
	words := strings.Fields(line)
	for len(words) > 1 && (path.Base(words[0]) == "env" || words[0] == "-S") {
		words = words[1:]
	}
	if len(words) == 0 || !isShell(path.Base(words[0])) {
		sh.lacks(strings.Join(words, " "), "interpreter")
		return
	}
	for _, option := range words[1:] {
		sh.options(option)
	}
	sh.text(text)
}

// isShell reports whether a program is a shell of which the language is understood.
func isShell(name string) bool { return slices.Contains([]string{"sh", "bash", "dash", "ash"}, name) }

// Hint says how a guest gets work that it understands.
const Hint = "give it work with --steps 2m@1, or sleep 60"

// hint ends messages about what is not understood.
const hint = "; " + Hint

// lacks says that the guest has no such command or interpreter.
func (sh *shell) lacks(name, kind string) {
	name = shortened(name)
	sh.run.note("%s is not found and ends with %d", name, exitNotFound)
	sh.complain("sh: %s: a simulated guest has no such %s"+hint, name, kind)
	sh.status = exitNotFound
}

// refuse says that the guest does not understand a construct.
func (sh *shell) refuse(what string) {
	what = shortened(what)
	sh.run.note("%s: not supported, ends with %d", what, exitNotFound)
	sh.complain("sh: %s: not supported by a simulated guest"+hint, what)
	sh.status = exitNotFound
}

// complain prints a line as an error.
func (sh *shell) complain(format string, args ...any) {
	sh.write(&sh.err, fmt.Sprintf(format, args...)+"\n")
}

// shortened returns the beginning of a long text, on one line.
func shortened(text string) string {
	const most = 80
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text[:min(len(text), 4*most)], "")), " ")
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return text
}
