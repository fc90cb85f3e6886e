package guestshell

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// variable is a variable of a shell.
type variable struct {
	value    string
	exported bool
}

// function is a function of a script.
type function struct{ body *syntax.Stmt }

// sink is where output goes.
type sink struct {
	kind sinkKind
	text *strings.Builder // of a command substitution
}

type sinkKind uint8

const (
	toConsole sinkKind = iota
	toErrors
	toNothing
	toText
)

// shell is one shell: the first, a subshell, or sh -c.
type shell struct {
	run       *run
	name      string   // $0
	args      []string // $1 and following
	vars      map[string]variable
	functions map[string]*function
	status    int // $?
	previous  int // $? before the present command
	// substituted is the status of the last command substitution of the present command.
	substituted int
	out, err    sink

	errexit, nounset, trace bool
	tested                  int // conditions that contain the present command: set -e does not count there
	loops                   int // that contain the present command
}

// flow is how the execution continues after a statement.
type flow struct {
	kind  flowKind
	loops int // that [breaks] and [continues] still leave
}

type flowKind uint8

const (
	proceeds  flowKind = iota
	exits              // from the shell
	returns            // from a function
	breaks             // out of a loop
	continues          // with the next pass of a loop
)

// fork returns a subshell, with copies of all that it can change.
func (sh *shell) fork() *shell {
	for name, v := range sh.vars {
		sh.run.spend((len(name) + len(v.value)) / 8)
	}
	sh.run.spend(len(sh.vars) + len(sh.functions))
	child := *sh
	child.vars, child.functions, child.args = maps.Clone(sh.vars), maps.Clone(sh.functions), slices.Clone(sh.args)
	return &child
}

// write prints to a sink.
func (sh *shell) write(to *sink, text string) {
	sh.run.spend(len(text))
	switch {
	case sh.run.over:
	case to.kind == toConsole:
		sh.run.print(&sh.run.pending, text)
	case to.kind == toErrors:
		sh.run.print(&sh.run.errors, text)
	case to.kind == toText:
		if to.text.Len()+len(text) > maxWord {
			sh.run.exceed("%d KiB in a word", maxWord>>10)
			return
		}
		to.text.WriteString(text)
	}
}

// get returns the value of a variable.
func (sh *shell) get(name string) (string, bool) {
	v, ok := sh.vars[name]
	return v.value, ok
}

// set sets a variable.
func (sh *shell) set(name, value string) {
	if len(value) > maxWord {
		sh.run.exceed("%d KiB in a variable", maxWord>>10)
		return
	}
	sh.vars[name] = variable{value, sh.vars[name].exported}
}

// export passes a variable on to commands.
func (sh *shell) export(name string) {
	sh.vars[name] = variable{sh.vars[name].value, true}
}

// text runs a script in this shell. exits and errors of syntax only set the status.
func (sh *shell) text(text string) flow {
	sh.run.spend(len(text))
	if !sh.run.enter() {
		return flow{kind: exits}
	}
	defer sh.run.leave()
	if len(text) > maxScript {
		sh.run.exceed("%d KiB of script", maxScript>>10)
		return flow{kind: exits}
	}
	if nests(text) {
		sh.run.exceed("%d levels of nesting", maxNesting)
		return flow{kind: exits}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		sh.run.note("the shell stops at %s, with %d", shortened(err.Error()), exitUsage)
		sh.complain("sh: %s", shortened(err.Error()))
		sh.status = exitUsage
		return flow{kind: exits}
	}
	return sh.list(file.Stmts)
}

// nests reports whether a text may nest so deeply that parsing it needs much memory: the parser is recursive.
// Brackets are counted wherever they stand, also in quotes, so the limit is a multiple of that for execution.
func nests(text string) bool {
	open := 0
	for _, c := range []byte(text) {
		switch c {
		case '(', '[', '{':
			if open++; open > 4*maxNesting {
				return true
			}
		case ')', ']', '}':
			open = max(0, open-1)
		}
	}
	return false
}

// list runs statements one after another.
func (sh *shell) list(list []*syntax.Stmt) flow {
	for _, s := range list {
		if f := sh.statement(s); f.kind != proceeds {
			return f
		}
	}
	return flow{}
}

// statement runs one statement.
func (sh *shell) statement(s *syntax.Stmt) flow {
	if !sh.run.enter() {
		sh.run.leave()
		return flow{kind: exits}
	}
	defer sh.run.leave()
	if s.Background || s.Coprocess {
		sh.refuse("a command in the background (&)")
		return sh.checked()
	}
	if s.Cmd == nil && len(s.Redirs) == 0 {
		return flow{}
	}
	out, err := sh.out, sh.err
	if !sh.redirect(s.Redirs) {
		sh.out, sh.err = out, err
		return sh.checked()
	}
	if s.Negated {
		sh.tested++
	}
	f := sh.command(s.Cmd)
	if s.Negated {
		sh.tested--
		if f.kind == proceeds {
			sh.status = boolStatus(sh.status != 0)
		}
	}
	if !isBareExec(s.Cmd) {
		sh.out, sh.err = out, err
	}
	if sh.run.over {
		return flow{kind: exits}
	}
	return f
}

// isBareExec reports whether a command is `exec` without a program, which keeps its redirections.
func isBareExec(c syntax.Command) bool {
	call, ok := c.(*syntax.CallExpr)
	return ok && len(call.Args) == 1 && call.Args[0].Lit() == "exec"
}

func boolStatus(ok bool) int {
	if ok {
		return 0
	}
	return 1
}

// checked ends the shell after a failed command, if set -e asks for that.
func (sh *shell) checked() flow {
	if sh.run.over || sh.errexit && sh.status != 0 && sh.tested == 0 {
		return flow{kind: exits}
	}
	return flow{}
}

// redirect applies redirections. It reports whether all are supported.
func (sh *shell) redirect(list []*syntax.Redirect) bool {
	for _, r := range list {
		number := ""
		if r.N != nil {
			number = r.N.Value
		}
		word, ok := sh.single(r.Word)
		if !ok {
			return false
		}
		if !sh.redirectOne(r.Op, number, word) {
			sh.refuse("redirection " + number + r.Op.String() + word)
			return false
		}
	}
	return true
}

// redirectOne applies one redirection; false if it is not supported.
func (sh *shell) redirectOne(op syntax.RedirOperator, number, word string) bool {
	target := &sh.out
	switch {
	case number == "2":
		target = &sh.err
	case number != "" && number != "1" && number != "0":
		return false
	}
	switch op {
	case syntax.RdrIn:
		return word == "/dev/null" && (number == "" || number == "0")
	case syntax.RdrOut, syntax.AppOut, syntax.ClbOut:
		if number == "0" {
			return false
		}
		switch word {
		case "/dev/null":
			*target = sink{kind: toNothing}
		case "/dev/stdout":
			*target = sh.out
		case "/dev/stderr":
			*target = sh.err
		default:
			return false
		}
	case syntax.DplOut:
		switch {
		case number == "0":
			return false
		case word == "1":
			*target = sh.out
		case word == "2":
			*target = sh.err
		default:
			return false
		}
	case syntax.RdrAll, syntax.AppAll:
		if word != "/dev/null" {
			return false
		}
		sh.out, sh.err = sink{kind: toNothing}, sink{kind: toNothing}
	default:
		return false
	}
	return true
}
