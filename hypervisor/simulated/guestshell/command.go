package guestshell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// command runs a simple or compound command (POSIX §2.9).
func (sh *shell) command(c syntax.Command) flow {
	switch c := c.(type) {
	case nil: // only redirections
		sh.status = 0
		return flow{}
	case *syntax.CallExpr:
		return sh.simple(c)
	case *syntax.Block:
		return sh.list(c.Stmts)
	case *syntax.Subshell:
		sh.subshell(c.Stmts)
		return sh.checked()
	case *syntax.IfClause:
		return sh.ifClause(c)
	case *syntax.WhileClause:
		return sh.loop(func() (bool, flow) {
			f := sh.condition(c.Cond)
			return f.kind == proceeds && (sh.status == 0) != c.Until, f
		}, c.Do)
	case *syntax.ForClause:
		return sh.forClause(c)
	case *syntax.CaseClause:
		return sh.caseClause(c)
	case *syntax.BinaryCmd:
		return sh.andOr(c)
	case *syntax.FuncDecl:
		return sh.declare(c)
	case *syntax.DeclClause:
		return sh.declaration(c)
	case *syntax.ArithmCmd:
		n, ok := sh.arithmetic(c.X)
		if ok {
			sh.status = boolStatus(n != 0)
		}
		return sh.checked()
	case *syntax.TestClause:
		sh.refuse("[[")
	case *syntax.TimeClause:
		sh.refuse("time")
	default:
		sh.refuse("this kind of command")
	}
	return sh.checked()
}

// subshell runs statements in a subshell.
func (sh *shell) subshell(list []*syntax.Stmt) {
	child := sh.fork()
	child.loops = 0
	child.list(list)
	sh.status = child.status
}

// condition runs the statements of a condition.
func (sh *shell) condition(list []*syntax.Stmt) flow {
	sh.tested++
	defer func() { sh.tested-- }()
	return sh.list(list)
}

func (sh *shell) ifClause(c *syntax.IfClause) flow {
	for ; c != nil; c = c.Else {
		if len(c.Cond) == 0 { // else
			return sh.list(c.Then)
		}
		if f := sh.condition(c.Cond); f.kind != proceeds {
			return f
		}
		if sh.status == 0 {
			return sh.list(c.Then)
		}
	}
	sh.status = 0
	return flow{}
}

// loop runs statements while there is a next pass.
func (sh *shell) loop(next func() (more bool, f flow), body []*syntax.Stmt) flow {
	sh.loops++
	defer func() { sh.loops-- }()
	last := 0
	for sh.run.count() {
		more, f := next()
		if f.kind == proceeds && more {
			f = sh.list(body)
			last = sh.status
		}
		switch {
		case f.kind == breaks, f.kind == continues && f.loops > 1:
			if f.loops > 1 {
				return flow{f.kind, f.loops - 1}
			}
			return flow{}
		case f.kind == continues:
		case f.kind != proceeds:
			return f
		case !more:
			sh.status = last
			return flow{}
		}
	}
	return flow{kind: exits}
}

func (sh *shell) forClause(c *syntax.ForClause) flow {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		if c.Select {
			break
		}
		items := sh.args
		if l.InPos.IsValid() {
			var ok bool
			if items, ok = sh.fields(l.Items); !ok {
				return flow{kind: exits}
			}
		}
		return sh.loop(func() (bool, flow) {
			if len(items) == 0 {
				return false, flow{}
			}
			sh.set(l.Name.Value, items[0])
			items = items[1:]
			return true, flow{}
		}, c.Do)
	case *syntax.CStyleLoop:
		first := true
		return sh.loop(func() (bool, flow) {
			step := l.Post
			if first {
				step, first = l.Init, false
			}
			if step != nil {
				if _, ok := sh.arithmetic(step); !ok {
					return false, flow{kind: exits}
				}
			}
			if l.Cond == nil {
				return true, flow{}
			}
			n, ok := sh.arithmetic(l.Cond)
			if !ok {
				return false, flow{kind: exits}
			}
			return n != 0, flow{}
		}, c.Do)
	}
	sh.refuse("select")
	return sh.checked()
}

func (sh *shell) caseClause(c *syntax.CaseClause) flow {
	word, ok := sh.single(c.Word)
	if !ok {
		return flow{kind: exits}
	}
	for _, item := range c.Items {
		if item.Op != syntax.Break {
			sh.refuse("case with " + item.Op.String())
			return sh.checked()
		}
		for _, p := range item.Patterns {
			pattern, ok := sh.pattern(p)
			if !ok {
				return flow{kind: exits}
			}
			sh.run.spend(1 + len(pattern)*len(word)/16)
			if sh.run.over {
				return flow{kind: exits}
			}
			if matches(pattern, word) {
				if len(item.Stmts) == 0 {
					sh.status = 0
				}
				return sh.list(item.Stmts)
			}
		}
	}
	sh.status = 0
	return flow{}
}

// andOr runs a list of commands with && and ||, which associate to the left.
func (sh *shell) andOr(c *syntax.BinaryCmd) flow {
	if !isAndOr(c) {
		sh.refuse("a pipe (|)")
		return sh.checked()
	}
	chain, first := []*syntax.BinaryCmd{c}, c.X
	for !first.Negated && len(first.Redirs) == 0 && isAndOr(first.Cmd) {
		c = first.Cmd.(*syntax.BinaryCmd)
		chain, first = append(chain, c), c.X
	}
	sh.tested++
	f := sh.statement(first)
	sh.tested--
	for i := len(chain) - 1; i >= 0 && f.kind == proceeds; i-- {
		if (sh.status == 0) != (chain[i].Op == syntax.AndStmt) {
			continue
		}
		if i > 0 {
			sh.tested++
		}
		f = sh.statement(chain[i].Y)
		if i > 0 {
			sh.tested--
		}
	}
	return f
}

// isAndOr reports whether a command is a list with && or ||.
func isAndOr(c syntax.Command) bool {
	b, ok := c.(*syntax.BinaryCmd)
	return ok && (b.Op == syntax.AndStmt || b.Op == syntax.OrStmt)
}

// declare defines a function.
func (sh *shell) declare(c *syntax.FuncDecl) flow {
	sh.functions[c.Name.Value] = &function{c.Body}
	sh.status = 0
	return flow{}
}

// declaration runs export, readonly, local and declare; only export has an effect beyond an assignment.
func (sh *shell) declaration(c *syntax.DeclClause) flow {
	for _, a := range c.Args {
		switch {
		case a.Name == nil:
			sh.refuse(c.Variant.Value + " with options")
			return sh.checked()
		case !a.Naked && !sh.assign(a):
			return flow{kind: exits}
		}
		if c.Variant.Value == "export" {
			sh.export(a.Name.Value)
		}
	}
	sh.status = 0
	return flow{}
}

// assign carries out an assignment.
func (sh *shell) assign(a *syntax.Assign) bool {
	sh.run.spend(4)
	if a.Index != nil || a.Array != nil {
		sh.refuse("array " + a.Name.Value)
		return false
	}
	value := ""
	if a.Value != nil {
		var ok bool
		if value, ok = sh.single(a.Value); !ok {
			return false
		}
	}
	if a.Append {
		before, _ := sh.get(a.Name.Value)
		value = before + value
	}
	sh.set(a.Name.Value, value)
	return !sh.run.over
}

// simple runs a simple command: assignments, then a function or a command.
func (sh *shell) simple(c *syntax.CallExpr) flow {
	if !sh.run.count() {
		return flow{kind: exits}
	}
	sh.substituted = 0
	words, ok := sh.fields(c.Args)
	if !ok {
		return flow{kind: exits}
	}
	type saved struct {
		name  string
		value variable
		known bool
	}
	var undo []saved
	for _, a := range c.Assigns {
		if a.Name == nil {
			continue
		}
		v, known := sh.vars[a.Name.Value]
		if !sh.assign(a) {
			return flow{kind: exits}
		}
		if len(words) > 0 { // for this command only
			undo = append(undo, saved{a.Name.Value, v, known})
			sh.export(a.Name.Value)
		}
	}
	if len(words) == 0 {
		sh.status = sh.substituted
		return sh.checked()
	}
	if sh.trace {
		sh.complain("+ %s", strings.Join(words, " "))
	}
	f := sh.call(words)
	for _, u := range slices.Backward(undo) {
		if u.known {
			sh.vars[u.name] = u.value
		} else {
			delete(sh.vars, u.name)
		}
	}
	if f.kind != proceeds {
		return f
	}
	return sh.checked()
}

// call runs a function or a command with its arguments.
func (sh *shell) call(words []string) flow {
	if f := sh.functions[words[0]]; f != nil {
		return sh.callFunction(f, words[1:])
	}
	name := words[0]
	for _, folder := range []string{"/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"} {
		if rest, ok := strings.CutPrefix(name, folder); ok {
			name = rest
			break
		}
	}
	builtin, ok := lookUp(name)
	if !ok {
		sh.lacks(words[0], "command")
		return flow{}
	}
	sh.previous, sh.status = sh.status, 0
	return builtin(sh, words[1:])
}

func (sh *shell) callFunction(fn *function, args []string) flow {
	before, loops := sh.args, sh.loops
	sh.args, sh.loops = args, 0
	f := sh.statement(fn.body)
	sh.args, sh.loops = before, loops
	if f.kind == returns {
		return flow{}
	}
	return f
}
