package architecture_test

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// alarmRow matches a row of the table of alarms: the text in backticks, with … for what varies.
var alarmRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// TestAlarmsAreDocumented compares the table of docs/reference/alarms.md with the texts of alarms in
// the code: each text has a row, and each row a text.
func TestAlarmsAreDocumented(t *testing.T) {
	page, err := os.ReadFile(path.Join(root, "docs/reference/alarms.md"))
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(page), "\n## ") // the tables below are of other things
	rows := map[string]bool{}                         // whether a text matches
	for _, m := range alarmRow.FindAllStringSubmatch(table, -1) {
		rows[m[1]] = false
	}
	texts := alarmTexts(t)
	for text, at := range texts {
		found := false
		for row := range rows {
			if matchesRow(text, row) {
				rows[row], found = true, true
			}
		}
		if !found {
			t.Errorf("%s: docs/reference/alarms.md has no row for %q", at, text)
		}
	}
	for row, used := range rows {
		if !used {
			t.Errorf("docs/reference/alarms.md: no alarm of the code contains %q", row)
		}
	}
	if len(texts) < 15 {
		t.Errorf("only %d alarms were found", len(texts))
	}
}

// matchesRow reports whether a text has the pieces of a row, in order.
func matchesRow(text, row string) bool {
	for piece := range strings.SplitSeq(row, "…") {
		_, after, found := strings.Cut(text, strings.TrimSpace(piece))
		if !found {
			return false
		}
		text = after
	}
	return true
}

// raisers are the functions that raise an alarm with a text that is one of their arguments.
var raisers = map[string]bool{"alarm": true, "holdFor": true}

// alarmTexts returns the texts of alarms, as formats, with the place of each.
func alarmTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	all := sources(t)
	for i := range all {
		s := &all[i]
		if s.test || strings.HasPrefix(s.path, "tests/") {
			continue
		}
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			a := alarmsOf{source: s, all: all, function: f, texts: texts}
			ast.Inspect(f, a.visit)
		}
	}
	return texts
}

// alarmsOf collects the texts of the alarms that a function raises.
type alarmsOf struct {
	*source
	all      []source
	function *ast.FuncDecl
	texts    map[string]string
}

func (a *alarmsOf) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		switch name := lastName(n.Fun); {
		case raisers[name]:
			a.add(n.Args[len(n.Args)-1])
		case name == "append" && lastName(n.Args[0]) == "alarms":
			a.add(n.Args[1])
		}
	case *ast.CompositeLit:
		a.event(n)
	case *ast.BlockStmt:
		a.marked(n.List)
	case *ast.CaseClause:
		a.marked(n.Body)
	}
	return true
}

// event adds the text of a journal.Event of kind EventAlarm.
func (a *alarmsOf) event(lit *ast.CompositeLit) {
	var text ast.Expr
	alarm := false
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			switch lastName(kv.Key) {
			case "Kind":
				alarm = lastName(kv.Value) == "EventAlarm"
			case "Text":
				text = kv.Value
			}
		}
	}
	if alarm && text != nil {
		a.add(text)
	}
}

// marked adds the texts of the calls beside an assignment to a field Alarm: the text is the last
// string among their arguments.
func (a *alarmsOf) marked(list []ast.Stmt) {
	isAlarm := false
	for _, stmt := range list {
		if as, ok := stmt.(*ast.AssignStmt); ok {
			isAlarm = isAlarm || lastName(as.Lhs[0]) == "Alarm"
		}
	}
	for _, stmt := range list {
		if e, ok := stmt.(*ast.ExprStmt); ok && isAlarm {
			for _, arg := range e.X.(*ast.CallExpr).Args {
				if lit, ok := arg.(*ast.BasicLit); ok {
					a.add(lit)
				}
			}
		}
	}
}

// add adds the texts that an expression may have. A parameter has none here: it is an argument of
// one of the raisers elsewhere.
func (a *alarmsOf) add(e ast.Expr) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && text != "" && e.Kind == token.STRING {
			a.texts[text] = a.at(e)
		}
	case *ast.BinaryExpr:
		left := e.X
		for b, ok := left.(*ast.BinaryExpr); ok; b, ok = left.(*ast.BinaryExpr) {
			left = b.X
		}
		a.add(left)
	case *ast.Ident, *ast.SelectorExpr:
		a.assigned(lastName(e))
	case *ast.CallExpr:
		switch name := lastName(e.Fun); name {
		case "Sprintf":
			if format, ok := e.Args[0].(*ast.BasicLit); ok && format.Value == `"vjob %s: %s"` {
				a.add(e.Args[2])
			} else {
				a.add(e.Args[0])
			}
		default:
			a.returned(name)
		}
	}
}

// assigned adds what the function assigns to a variable or a field.
func (a *alarmsOf) assigned(name string) {
	ast.Inspect(a.function, func(n ast.Node) bool {
		if as, ok := n.(*ast.AssignStmt); ok && len(as.Lhs) == len(as.Rhs) && as.Tok != token.ADD_ASSIGN {
			for i, left := range as.Lhs {
				if lastName(left) == name && lastName(as.Rhs[i]) != name {
					a.add(as.Rhs[i])
				}
			}
		}
		return true
	})
}

// returned adds what a function of the same package returns.
func (a *alarmsOf) returned(name string) {
	for i := range a.all {
		s := &a.all[i]
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || s.dir() != a.dir() || f.Name.Name != name || f == a.function {
				continue
			}
			inner := alarmsOf{source: s, all: a.all, function: f, texts: a.texts}
			ast.Inspect(f, func(n ast.Node) bool {
				if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
					inner.add(r.Results[0])
				}
				return true
			})
		}
	}
}

// lastName returns the name of an identifier, or the last one of a selector.
func lastName(e ast.Node) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
