package script

import (
	"fmt"
	"maps"
	"slices"

	"vjob/internal/suggest"
	"vjob/repack/rule"
)

// The variables that every script has, and that of a vjob's own script.
const (
	allVMs   = "ALL_VMS"
	allNodes = "ALL_NODES"
	ownVMs   = "VMS"
)

// evaluator runs a file: it looks names up, goes through loops and notes the calls.
type evaluator struct {
	progress
	names Names
	kinds []rule.Kind
	vars  map[string]binding
	inner []string // the variables of the block, in the order in which they came
	given []given
	used  map[Pos]bool // assignments with a value that was read
	dry   int          // loops around that have no items: nothing is noted
	calls []Posting
}

// progress counts the steps of a run, and reports its errors.
type progress struct {
	rep      *report
	maxSteps int
	steps    int
	stopped  bool
}

// statement is how many steps a statement counts.
const statement = 10

// binding is a variable and its value.
type binding struct {
	value
	pos  Pos
	loop bool
}

// given is an assignment, for the warning that its value is never read.
type given struct {
	pos  Pos
	name string
}

func newEvaluator(names Names, kinds []rule.Kind, rep *report) *evaluator {
	return &evaluator{
		progress: progress{rep: rep, maxSteps: names.Steps()},
		names:    names, kinds: kinds, vars: map[string]binding{}, used: map[Pos]bool{},
	}
}

// step counts work, and reports whether it may be done.
func (p *progress) step(at Pos, n int) bool {
	if p.steps += n; p.steps > p.maxSteps && !p.stopped {
		p.stop(at, fmt.Sprintf("the script is too much work: it needs more than %d steps by here", p.maxSteps))
	}
	return !p.stopped
}

// fail reports an error. Errors that come again in a loop are work too.
func (p *progress) fail(at Pos, format string, args ...any) {
	if !p.again(at) {
		p.rep.addf(at, format, args...)
	}
}

// again reports whether there is an error at the place already.
func (p *progress) again(at Pos) bool {
	const repeated = 50 // steps
	if p.rep.full {
		return true
	}
	if !p.rep.seen[at] {
		return false
	}
	p.step(at, repeated)
	return true
}

func (p *progress) stop(at Pos, text string) {
	p.stopped = true
	delete(p.rep.seen, at) // whatever else is wrong there
	p.rep.add(at, text)
}

// block runs statements. The variables that are new in it end with it.
func (e *evaluator) block(b *Block) {
	outer := e.inner
	e.inner = nil
	for _, s := range b.List {
		if e.stopped || e.rep.full {
			break
		}
		switch s := s.(type) {
		case *Assign:
			e.assign(s)
		case *For:
			e.loop(s)
		case *Call:
			e.call(s)
		}
	}
	for _, n := range e.inner {
		delete(e.vars, n)
	}
	e.inner = outer
}

func (e *evaluator) assign(a *Assign) {
	if !e.step(a.Pos, statement) {
		return
	}
	v := e.expr(a.Value, anything)
	old, there := e.vars[a.Name]
	switch {
	case predefined(a.Name):
		e.fail(a.Pos, "$%s is predefined and cannot be assigned", a.Name)
		return
	case old.loop:
		e.fail(a.Pos, "$%s is the variable of the loop and cannot be assigned in it", a.Name)
		return
	case !there:
		e.inner = append(e.inner, a.Name)
	}
	e.bind(a.Name, binding{value: v, pos: a.Pos})
}

func predefined(name string) bool { return name == allVMs || name == allNodes || name == ownVMs }

func (e *evaluator) bind(name string, b binding) {
	e.vars[name] = b
	if _, known := e.used[b.pos]; !known {
		e.used[b.pos] = false
		e.given = append(e.given, given{b.pos, name})
	}
}

// loop runs the body for each item. Without items it still looks for errors in it.
func (e *evaluator) loop(f *For) {
	items := e.items(f.In)
	old, there := e.vars[f.Name]
	switch {
	case predefined(f.Name):
		e.fail(f.Pos, "$%s is predefined: the loop needs another variable", f.Name)
		items = nil
	case there:
		line, _ := e.rep.src.place(old.pos.Off)
		e.fail(f.Pos, "$%s has a value already, from line %d: the loop needs another variable", f.Name, line)
		items = nil
	}
	if len(items) == 0 {
		e.dry++
		e.body(f, value{})
		e.dry--
	}
	for _, v := range items {
		if !e.step(f.Pos, statement) || e.rep.full {
			break
		}
		e.body(f, v)
	}
	if there {
		e.vars[f.Name] = old
	}
}

func (e *evaluator) body(f *For, v value) {
	if predefined(f.Name) {
		return
	}
	e.bind(f.Name, binding{v, f.Pos, true})
	e.block(&f.Body)
	delete(e.vars, f.Name)
}

// items is what a loop goes through. Words stay what they are, so that loops can go
// through numbers and resources too.
func (e *evaluator) items(x Expr) []value {
	switch x := x.(type) {
	case *Pattern:
		return e.words(x)
	case *Family:
		return e.family(x)
	case *Braces:
		all, _ := e.parts(x, anything)
		return all
	}
	v := e.expr(x, anything)
	var all []value
	switch v.depth {
	case set1:
		for _, m := range v.set {
			all = append(all, value{depth: member, of: v.of, set: []int{m}})
		}
	case list:
		for _, s := range v.sets {
			all = append(all, value{depth: set1, of: v.of, set: s})
		}
	case text1, member:
		e.fail(x.At(), "a loop goes through a set or a list, and this is %s; a set of one is {…}", v)
	case unknown:
	}
	e.step(x.At(), len(all))
	return all
}

// lookup is the value of a variable.
func (e *evaluator) lookup(name string, at Pos) value {
	if b, ok := e.vars[name]; ok {
		e.used[b.pos] = true
		return b.value
	}
	switch {
	case name == allVMs:
		return e.everything(e.names.VMs(), vms, at)
	case name == allNodes:
		return e.everything(e.names.Nodes(), nodes, at)
	case name == ownVMs && e.names.Members() != nil:
		return e.everything(e.names.Members(), vms, at)
	case name == ownVMs:
		e.fail(at, "$VMS is known only in the script of a vjob; all VMs are $ALL_VMS")
		return value{}
	}
	if e.again(at) {
		return value{}
	}
	known := append(slices.Sorted(maps.Keys(e.vars)), allVMs, allNodes)
	text := fmt.Sprintf("$%s has no value here", name)
	if n := suggest.Nearest(name, known); n != "" {
		text += "; did you mean $" + n + "?"
	}
	e.rep.add(at, text)
	return value{}
}

// everything is a predefined set.
func (e *evaluator) everything(names []string, of things, at Pos) value {
	if len(names) > MaxSet {
		e.fail(at, "a set has at most %d members, and this would have %d", MaxSet, len(names))
		return value{}
	}
	if !e.step(at, len(names)) {
		return value{}
	}
	v := value{depth: set1, of: of, set: make([]int, 0, len(names))}
	find := e.names.VM
	if of == nodes {
		find = e.names.Node
	}
	for _, n := range names {
		if i, ok := find(n); ok {
			v.set = append(v.set, i)
		}
	}
	return v
}

// unused warns of values that nothing reads.
func (e *evaluator) unused() {
	for _, g := range e.given {
		if !e.used[g.pos] {
			e.rep.warn(g.pos, fmt.Sprintf("$%s is never used", g.name))
		}
	}
}
