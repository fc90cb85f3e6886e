// Package rulelist reads placement rules that are written as a plain list, in YAML
// or JSON, into the same files as scripts:
//
//   - {rule: spread, vms: "VM[1..5]", continuous: true}
//   - {rule: capacity, nodes: [N1, N2], max: 100, penalty: 5}
//
// Each text is an expression of package script. Lists are sets, lists of lists are
// lists of sets. There are no variables but the predefined ones, and no loops.
package rulelist

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"vjob/repack/script"
)

// maxDepth is how deep brackets and lists may stand in each other: more than a rule
// can need. The parser takes time that grows with the square of the depth.
const maxDepth = 20

// Read reads rules in either notation: what begins with a dash or a bracket is a
// list, and no script does.
func Read(name, text string) (*script.File, []script.Diagnostic) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if line[0] == '-' || line[0] == '[' {
			return Parse(name, text)
		}
		break
	}
	return script.Parse(name, text)
}

// Parse reads a list. The file has the rules that could be read, even where there
// are diagnostics; it is compiled, and formatted, like that of a script.
func Parse(name, text string) (*script.File, []script.Diagnostic) {
	b, ok := script.NewBuilder(name, text)
	r := reader{b}
	if ok {
		r.document(text)
	}
	return b.Done()
}

type reader struct{ *script.Builder }

func (r *reader) document(text string) {
	if off, deep := tooDeep(text); deep {
		r.Bad(script.Pos{Off: off, End: off + 1}, "brackets and lists stand in each other more than %d deep", maxDepth)
		return
	}
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		r.syntax(err)
		return
	}
	var body ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.NullType:
		case body != nil:
			r.Bad(r.at(doc.Body), "want one document, and this is a second one")
			return
		default:
			body = doc.Body
		}
	}
	if body == nil {
		return
	}
	seq, ok := body.(*ast.SequenceNode)
	if !ok {
		r.Bad(r.at(body), "want a list of rules: - {rule: spread, vms: [VM1, VM2]}")
		return
	}
	for i, item := range seq.Values {
		if r.Full() {
			return
		}
		if i == script.MaxRules {
			r.Bad(r.at(item), "a list has at most %d rules", script.MaxRules)
			return
		}
		r.rule(item)
	}
}

func (r *reader) syntax(err error) {
	at, text := script.Pos{}, err.Error()
	if y, ok := errors.AsType[yaml.Error](err); ok {
		text = y.GetMessage()
		at = r.token(y.GetToken())
	}
	if strings.HasSuffix(text, "must be specified") {
		text += "; within {…} and […] a text with brackets has quotes: \"VM[1..5]\""
	}
	r.Bad(at, "this is no YAML or JSON: %s", text)
}

// at is the place of a node.
func (r *reader) at(n ast.Node) script.Pos {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0]
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		n = m.Key
	}
	return r.token(n.GetToken())
}

func (r *reader) token(t *token.Token) script.Pos {
	if t == nil || t.Position == nil {
		return script.Pos{}
	}
	off := r.Offset(t.Position.Line, t.Position.Column)
	return script.Pos{Off: off, End: off + max(1, len(strings.TrimSpace(t.Origin)))}
}

// rule reads one item.
func (r *reader) rule(item ast.Node) {
	var entries []*ast.MappingValueNode
	switch n := item.(type) {
	case *ast.MappingNode:
		entries = n.Values
	case *ast.MappingValueNode:
		entries = []*ast.MappingValueNode{n}
	default:
		r.Bad(r.at(item), "want a rule with its arguments: {rule: spread, vms: [VM1, VM2]}")
		return
	}
	c := &script.Call{Pos: r.at(item)}
	seen := map[string]bool{}
	for _, e := range entries {
		key := e.Key.GetToken().Value
		if seen[key] || key == "" || e.Key.IsMergeKey() {
			r.Bad(r.at(e), "want each key once and written out: %q", key)
			return
		}
		seen[key] = true
		r.entry(c, key, e)
	}
	if !seen["rule"] {
		r.Bad(c.Pos, "want the key rule with the name of the rule")
		return
	}
	r.Add(c)
}

// entry reads one key of a rule. All but rule, continuous, preferred and penalty are its
// arguments.
func (r *reader) entry(c *script.Call, key string, e *ast.MappingValueNode) {
	at := r.at(e.Value)
	switch key {
	case "rule":
		name, ok := scalar(e.Value)
		if !ok {
			r.Bad(at, "want the name of a rule")
		}
		c.Rule, c.RulePos = name, at
	case "continuous":
		b, ok := e.Value.(*ast.BoolNode)
		if !ok {
			r.Bad(at, "want true or false")
			return
		}
		c.Mode, c.ModePos = script.Discrete, at
		if b.Value {
			c.Mode = script.Continuous
		}
	case "preferred":
		b, ok := e.Value.(*ast.BoolNode)
		if !ok {
			r.Bad(at, "want true or false")
			return
		}
		c.Strength, c.StrengthPos = script.Mandatory, at
		if b.Value {
			c.Strength = script.Preferred
		}
	case "penalty":
		c.Penalty = r.expr(e.Value)
	default:
		c.Args = append(c.Args, script.Arg{Pos: r.at(e), Name: key, Value: r.expr(e.Value)})
	}
}

// expr reads a value: a text is an expression, a list is a set of such.
func (r *reader) expr(n ast.Node) script.Expr {
	at := r.at(n)
	if text, ok := scalar(n); ok {
		return r.Expr(text, at.Off)
	}
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		r.Bad(at, "want a text, a number or a list")
		return &script.Bad{Pos: at}
	}
	set := &script.Braces{Pos: at}
	for _, item := range seq.Values {
		set.List = append(set.List, r.expr(item))
	}
	return set
}

// scalar is what was written for a single value, without quotes.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// tooDeep finds where brackets, or lists and keys on one line, stand in each other
// deeper than a list of rules can mean. Brackets in texts count too.
func tooDeep(text string) (off int, deep bool) {
	open, marks := 0, 0
	for i, c := range []byte(text) {
		switch c {
		case '[', '{':
			open++
		case ']', '}':
			open = max(0, open-1)
		case '-', '?', ':':
			if i+1 < len(text) && strings.IndexByte(" \t\n", text[i+1]) >= 0 && open == 0 {
				marks++
			}
		case '\n':
			marks = 0
		}
		if open > maxDepth || marks > maxDepth {
			return i, true
		}
	}
	return 0, false
}
