package guestshell

import (
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"vjob/cluster"
)

// builtin is a command of the guest, with its arguments.
type builtin func(sh *shell, args []string) flow

// lookUp returns a command.
func lookUp(name string) (b builtin, ok bool) {
	switch name {
	case "exit", "return", "break", "continue":
		return func(sh *shell, args []string) flow { return sh.leave(name, args) }, true
	case "eval":
		return func(sh *shell, args []string) flow { return sh.text(strings.Join(args, " ")) }, true
	case "exec":
		return execute, true
	case "env":
		return environment, true
	}
	do, ok := map[string]func(*shell, []string){
		":": succeed, "true": succeed, "wait": succeed, "false": fail,
		"echo": echo, "printf": printf, "seq": seq, "sleep": sleep,
		"test": test, "[": bracket,
		"set": set, "shift": shift, "unset": unset, "cd": changeDirectory, "pwd": printDirectory,
		"hostname": hostname, "nproc": nproc, "sh": nested, "bash": nested, "dash": nested, "ash": nested,
		"poweroff": powerOff, "halt": powerOff, "shutdown": powerOff,
	}[name]
	return func(sh *shell, args []string) flow {
		do(sh, args)
		return flow{}
	}, ok
}

func succeed(*shell, []string) {}

func fail(sh *shell, _ []string) { sh.status = 1 }

// leave runs exit, return, break and continue.
func (sh *shell) leave(name string, args []string) flow {
	jumps := name == "break" || name == "continue"
	n := sh.previous
	if jumps {
		n = 1
	}
	if len(args) > 0 {
		var err error
		if n, err = strconv.Atoi(args[0]); err != nil || jumps && n < 1 {
			sh.complain("sh: %s: %s: not a number", name, shortened(args[0]))
			n, jumps = exitUsage, false
			name = "exit"
		}
	}
	switch {
	case jumps && sh.loops == 0:
		return flow{}
	case name == "break":
		return flow{breaks, min(n, sh.loops)}
	case name == "continue":
		return flow{continues, min(n, sh.loops)}
	}
	sh.status = n & 0xff
	if name == "return" {
		return flow{kind: returns}
	}
	return flow{kind: exits}
}

// execute runs exec: a command in place of the shell. Without a command its redirections stay.
func execute(sh *shell, args []string) flow {
	if len(args) == 0 {
		return flow{}
	}
	sh.functions = map[string]*function{}
	sh.program(args)
	return flow{kind: exits}
}

// program runs a command that another one starts; it needs no shell, but the guest has only one kind of commands.
func (sh *shell) program(words []string) {
	more := sh.run.count()
	if sh.run.enter() && more {
		sh.call(words)
	}
	sh.run.leave()
}

// environment runs env: a command with variables, or a list of them.
func environment(sh *shell, args []string) flow {
	child := sh.fork()
	for len(args) > 0 {
		name, value, ok := strings.Cut(args[0], "=")
		if !ok {
			break
		}
		if !syntax.ValidName(name) {
			sh.complain("env: %s: not a variable", shortened(name))
			sh.status = exitUsage
			return flow{}
		}
		child.set(name, value)
		child.export(name)
		args = args[1:]
	}
	switch {
	case len(args) > 0 && strings.HasPrefix(args[0], "-"):
		sh.refuse("env " + args[0])
		return flow{}
	case len(args) > 0:
		child.functions = map[string]*function{}
		child.program(args)
		sh.status = child.status
		return flow{}
	}
	for _, name := range slices.Sorted(maps.Keys(child.vars)) {
		if v := child.vars[name]; v.exported {
			sh.write(&sh.out, name+"="+v.value+"\n")
		}
	}
	return flow{}
}

// nested runs sh -c TEXT [NAME [ARGUMENT...]].
func nested(sh *shell, args []string) {
	child := sh.fork()
	child.name, child.args, child.loops, child.tested = "sh", nil, 0, 0
	child.errexit, child.nounset, child.trace = false, false, false
	clear(child.functions)
	maps.DeleteFunc(child.vars, func(_ string, v variable) bool { return !v.exported })
	given := false
	for len(args) > 0 && len(args[0]) > 1 && (args[0][0] == '-' || args[0][0] == '+') {
		given = given || strings.Contains(args[0], "c")
		child.options(strings.ReplaceAll(args[0], "c", ""))
		args = args[1:]
	}
	switch {
	case !given && len(args) > 0:
		sh.lacks(args[0], "script")
		return
	case !given:
		return // the input is empty
	case len(args) == 0:
		sh.complain("sh: -c: needs a command")
		sh.status = exitUsage
		return
	}
	if len(args) > 1 {
		child.name, child.args = args[1], args[2:]
	}
	child.status = 0
	child.text(args[0])
	sh.status = child.status
}

// options switches options of the shell, such as -eu. Others than e, u and x have no effect.
func (sh *shell) options(text string) {
	on := strings.HasPrefix(text, "-")
	for _, c := range strings.TrimLeft(text, "-+") {
		switch c {
		case 'e':
			sh.errexit = on
		case 'u':
			sh.nounset = on
		case 'x':
			sh.trace = on
		}
	}
}

// set runs set: options, then positional parameters.
func set(sh *shell, args []string) {
	for len(args) > 0 {
		first := args[0]
		switch {
		case first == "--":
			sh.args = args[1:]
			return
		case (first == "-o" || first == "+o") && len(args) > 1:
			short, ok := map[string]string{"errexit": "e", "nounset": "u", "xtrace": "x"}[args[1]]
			if ok {
				sh.options(first[:1] + short)
			}
			args = args[2:]
		case len(first) > 1 && (first[0] == '-' || first[0] == '+'):
			sh.options(first)
			args = args[1:]
		default:
			sh.args = args
			return
		}
	}
}

func shift(sh *shell, args []string) {
	n := 1
	if len(args) > 0 {
		var err error
		if n, err = strconv.Atoi(args[0]); err != nil || n < 0 {
			n = math.MaxInt
		}
	}
	if n > len(sh.args) {
		sh.complain("sh: shift: fewer arguments")
		sh.status = 1
		return
	}
	sh.args = sh.args[n:]
}

func unset(sh *shell, args []string) {
	for _, name := range args {
		delete(sh.vars, name)
	}
}

// changeDirectory runs cd. A guest has no files, so it only changes what pwd prints.
func changeDirectory(sh *shell, args []string) {
	to, _ := sh.get("HOME")
	if len(args) > 0 {
		to = args[0]
	}
	from, _ := sh.get("PWD")
	if !path.IsAbs(to) {
		to = path.Join(from, to)
	}
	sh.run.spend(len(to))
	sh.set("PWD", path.Clean(to))
}

func printDirectory(sh *shell, _ []string) {
	at, _ := sh.get("PWD")
	sh.write(&sh.out, at+"\n")
}

func hostname(sh *shell, _ []string) { sh.write(&sh.out, sh.run.host+"\n") }

// nproc prints the processors: a part of one counts as one.
func nproc(sh *shell, _ []string) {
	sh.write(&sh.out, strconv.FormatInt(int64((sh.run.cpu+cluster.CPU-1)/cluster.CPU), 10)+"\n")
}

// powerOff shuts the guest down at once, before the work has told its exit status.
func powerOff(sh *shell, _ []string) {
	sh.run.over, sh.run.poweredOff = true, true
}

// sleep lets the time pass that its arguments give together: 90, 1.5, 2m, 1h, 1d or infinity.
func sleep(sh *shell, args []string) {
	total := 0.0
	for _, arg := range args {
		seconds, ok := parseSleep(arg)
		if !ok {
			sh.complain("sleep: invalid time interval '%s'", shortened(arg))
			sh.status = 1
			return
		}
		total += seconds
	}
	if len(args) == 0 {
		sh.complain("sleep: missing operand")
		sh.status = 1
		return
	}
	if total >= Forever.Seconds() {
		sh.run.compute(Forever)
		return
	}
	sh.run.compute(time.Duration(math.Round(total * float64(time.Second))))
}

// parseSleep returns an interval in seconds.
func parseSleep(text string) (seconds float64, ok bool) {
	unit := 1.0
	if n := len(text); n > 0 {
		factor, has := map[byte]float64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400}[text[n-1]]
		if has {
			text, unit = text[:n-1], factor
		}
	}
	if text == "infinity" || text == "inf" {
		return math.Inf(1), true
	}
	if text == "" || strings.Trim(text, "0123456789.eE+-") != "" || text[0] == '-' {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n * unit, (err == nil || math.IsInf(n, 1)) && n >= 0
}
