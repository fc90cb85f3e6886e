package script

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"vjob/repack"
	"vjob/repack/rule"
)

// Posting is one call of a rule, with its names looked up.
type Posting struct {
	Kind       rule.Kind
	Values     map[string]any // for rule.Args
	Continuous bool
	Penalty    int64 // 0: a mandatory or a preferred rule
	Preferred  bool  // it is dropped if it cannot be kept; see [PreferredPenalty]
	idle       bool  // it concerns no VM
	pos        Pos
	src        *source
}

// Place is where the call stands; both count from 1.
func (p *Posting) Place() (line, column int) { return p.src.place(p.pos.Off) }

// Diagnostic returns a diagnostic at the call, with the text of the caller.
func (p *Posting) Diagnostic(text string) Diagnostic {
	rep := newReport(p.src)
	rep.add(p.pos, text)
	return rep.list[0]
}

// Rule makes the rule for an instance.
func (p Posting) Rule(in *repack.Instance) (repack.Rule, error) {
	return p.Kind.New(rule.Args{Instance: in, Continuous: p.Continuous, Values: p.Values})
}

// NamesVMs reports whether the call concerns certain VMs, and not whatever VMs are on some
// nodes.
func (p *Posting) NamesVMs() bool {
	return slices.ContainsFunc(p.Kind.Params, func(param rule.Param) bool {
		return param.Type == rule.VM || param.Type == rule.VMs || param.Type == rule.VMSets
	})
}

// Without returns the call without some VMs. It reports false if no VM is left that the rule
// could concern.
func (p Posting) Without(absent func(vm int) bool) (Posting, bool) {
	p.Values = maps.Clone(p.Values)
	for _, param := range p.Kind.Params {
		switch v := p.Values[param.Name].(type) {
		case int:
			if param.Type == rule.VM && absent(v) {
				return p, false
			}
		case []int:
			if param.Type == rule.VMs && slices.ContainsFunc(v, absent) {
				p.Values[param.Name] = slices.DeleteFunc(slices.Clone(v), absent)
			}
		case [][]int:
			if param.Type == rule.VMSets {
				p.Values[param.Name] = pruned(v, absent)
			}
		}
		if empty(p.Values[param.Name]) {
			return p, false
		}
	}
	return p, true
}

// pruned is the sets without some members, and without those that had no others.
func pruned(sets [][]int, without func(int) bool) (rest [][]int) {
	for _, s := range sets {
		if s = slices.DeleteFunc(slices.Clone(s), without); len(s) > 0 {
			rest = append(rest, s)
		}
	}
	return rest
}

func empty(v any) bool {
	switch v := v.(type) {
	case []int:
		return len(v) == 0
	case [][]int:
		return len(v) == 0
	}
	return false
}

// Signature says how a rule is called: "capacity(nodes, max)". What may be left out
// stands in brackets.
func Signature(k rule.Kind) string {
	words := make([]string, len(k.Params))
	for i, p := range k.Params {
		words[i] = p.Name
		if p.Optional {
			words[i] = "[" + p.Name + "]"
		}
	}
	return k.Name + "(" + strings.Join(words, ", ") + ")"
}

// notes explain a rule below a diagnostic.
func notes(k rule.Kind) []string {
	list := []string{Signature(k) + ": " + k.Doc}
	for _, p := range k.Params {
		line := "  " + p.Name + ": " + p.Type.String()
		if p.Optional {
			line += ", may be left out"
		}
		list = append(list, line)
	}
	return list
}

// explain reports an error in the call of a rule, with what the rule takes.
func (p *progress) explain(k rule.Kind, at Pos, format string, args ...any) {
	if !p.again(at) {
		p.rep.add(at, fmt.Sprintf(format, args...), notes(k)...)
	}
}

// call notes a call for later, if nothing is wrong with it.
func (e *evaluator) call(c *Call) {
	if !e.step(c.Pos, statement) {
		return
	}
	i := slices.IndexFunc(e.kinds, func(k rule.Kind) bool { return k.Name == c.Rule })
	if i < 0 {
		e.noRule(c)
		return
	}
	k := e.kinds[i]
	p := Posting{Kind: k, Values: map[string]any{}, pos: c.Pos, src: e.rep.src}
	ok := e.mode(c, &p)
	ok = e.penalty(c, &p) && ok
	ok = e.args(c, &p) && ok
	if !ok || e.stopped || e.dry > 0 || p.idle {
		return
	}
	if len(e.calls) == MaxRules {
		e.stop(c.Pos, fmt.Sprintf("a script states at most %d rules", MaxRules))
		return
	}
	e.calls = append(e.calls, p)
}

// noRule tells of an unknown rule, and of what else is wrong with its arguments.
func (e *evaluator) noRule(c *Call) {
	for _, a := range c.Args {
		e.expr(a.Value, anything)
	}
	if e.again(c.RulePos) {
		return
	}
	names := make([]string, len(e.kinds))
	for i := range e.kinds {
		names[i] = e.kinds[i].Name
	}
	e.rep.add(c.RulePos, fmt.Sprintf("there is no rule %s%s", Name(c.Rule), hint(c.Rule, names)), "the rules are "+strings.Join(names, ", "))
}

func (e *evaluator) mode(c *Call, p *Posting) bool {
	switch k := p.Kind; {
	case c.Mode == Continuous && k.Modes&rule.Continuous == 0:
		e.explain(k, c.ModePos, "%s holds at the end only: it cannot be continuous", k.Name)
		return false
	case c.Mode == Discrete && k.Modes&rule.Discrete == 0:
		e.explain(k, c.ModePos, "%s holds at every instant: it cannot be discrete", k.Name)
		return false
	}
	p.Continuous = c.Mode == Continuous || p.Kind.Modes&rule.Discrete == 0
	return true
}

func (e *evaluator) penalty(c *Call, p *Posting) bool {
	p.Preferred = c.Strength == Preferred
	if c.Penalty == nil {
		return true
	}
	if c.Strength != Unstated {
		e.fail(c.StrengthPos, "a rule with soft(…) is neither mandatory nor preferred: its penalty says what a breach costs")
		return false
	}
	v := e.expr(c.Penalty, anything)
	if v.depth == unknown {
		return false
	}
	n, err := whole(v)
	switch {
	case err == nil && n.(int64) == 0:
		e.fail(c.Penalty.At(), "a breach of a soft rule costs at least 1; a rule without soft(…) is never broken")
		return false
	case err != nil || n.(int64) > MaxPenalty:
		e.fail(c.Penalty.At(), "the penalty of a breach is a number from 1 to %d, not %s", MaxPenalty, v)
		return false
	}
	p.Penalty = n.(int64)
	return true
}

// args puts the arguments in their places.
func (e *evaluator) args(c *Call, p *Posting) (ok bool) {
	k := p.Kind
	ok = true
	bad := func(at Pos, format string, args ...any) {
		e.explain(k, at, format, args...)
		ok = false
	}
	given, named := map[string]bool{}, false
	for i, a := range c.Args {
		at := i
		if a.Name != "" {
			named = true
			at = slices.IndexFunc(k.Params, func(p rule.Param) bool { return p.Name == a.Name })
		}
		switch {
		case a.Name == "" && named:
			bad(a.Pos, "arguments without a name stand before those with one")
		case at < 0:
			bad(a.Pos, "%s does not take %s%s", k.Name, Name(a.Name), hint(a.Name, paramNames(k)))
		case at >= len(k.Params):
			bad(a.Pos, "%s takes %s, and this is argument %d%s", k.Name, counted(len(k.Params)), i+1, together(k))
		case given[k.Params[at].Name]:
			bad(a.Pos, "%s is given twice", k.Params[at].Name)
		default:
			given[k.Params[at].Name] = true
			ok = e.arg(a, k.Params[at], p) && ok
			continue
		}
		e.expr(a.Value, anything)
	}
	for _, p := range k.Params {
		if !given[p.Name] && !p.Optional && ok {
			bad(c.RulePos, "%s needs %s: %s", k.Name, p.Name, p.Type)
		}
	}
	return ok
}

func paramNames(k rule.Kind) []string {
	list := make([]string, len(k.Params))
	for i, p := range k.Params {
		list[i] = p.Name
	}
	return list
}

func counted(n int) string {
	if n == 1 {
		return "one argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// together hints at forgotten braces.
func together(k rule.Kind) string {
	if len(k.Params) == 1 && (k.Params[0].Type == rule.VMs || k.Params[0].Type == rule.Nodes) {
		return "; several names make a set in braces: {a, b}"
	}
	return ""
}
