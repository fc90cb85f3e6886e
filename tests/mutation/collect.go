package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// collector finds the mutants of one file.
type collector struct {
	*pkg
	file  int
	stack []ast.Node // around the node, outermost first
	edits []*edit
}

// collect finds the mutants of a file of a package.
func collect(p *pkg, file int) []*edit {
	c := &collector{pkg: p, file: file}
	ast.PreorderStack(p.files[file], nil, func(n ast.Node, stack []ast.Node) bool {
		c.stack = stack
		return c.visit(n)
	})
	return c.edits
}

// visit adds the mutants of one node; it reports whether there are others inside.
func (c *collector) visit(n ast.Node) bool {
	if of, ok := c.parent().(*ast.CommClause); ok && of.Comm == n {
		return false // it has to be a plain send or receive
	}
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.FuncDecl:
		return n.Body != nil
	case *ast.FieldList, *ast.Field:
		return false
	case *ast.CallExpr:
		return c.expression(n) && !c.message(n) && c.text(c.file, n.Fun) != "make"
	case ast.Stmt:
		c.statement(n)
		return true
	case ast.Expr:
		return c.expression(n)
	}
	return true
}

// message reports whether a call makes text for people: nothing in it is changed.
func (c *collector) message(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := sel.X.(*ast.Ident)
	if !ok {
		return false
	}
	imported, ok := c.info.Uses[of].(*types.PkgName)
	return ok && (imported.Imported().Path() == "fmt" || imported.Imported().Path() == "errors" && sel.Sel.Name == "New")
}

// statement removes statements of blocks.
func (c *collector) statement(n ast.Stmt) {
	switch c.parent().(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
	default:
		return
	}
	switch n := n.(type) {
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && c.text(c.file, call.Fun) == "panic" {
			return
		}
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE || c.text(c.file, n.Lhs[0]) == "_" {
			return
		}
	case *ast.BranchStmt:
		if n.Tok == token.GOTO || n.Tok == token.FALLTHROUGH {
			return
		}
	case *ast.ReturnStmt:
		if len(n.Results) > 0 {
			return
		}
	case *ast.IncDecStmt, *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt:
	default:
		return
	}
	c.add(n, n, "removed", "if "+theirs+" { ", " }")
}

// expression adds the mutants of an expression; it reports whether to look inside.
func (c *collector) expression(n ast.Expr) bool {
	tv, ok := c.info.Types[n]
	switch {
	case ok && tv.IsType():
		return false
	case !ok || !c.isRead(n):
		return !ok || !tv.IsBuiltin()
	case tv.Value != nil:
		c.constant(n, tv)
		return false
	case isBoolean(tv.Type):
		c.boolean(n)
	case isNumber(tv.Type):
		c.number(n)
		c.valueless(n, tv.Type)
	default:
		c.valueless(n, tv.Type)
	}
	return true
}

// isRead reports whether the value of an expression is used where it stands.
func (c *collector) isRead(n ast.Expr) bool {
	switch p := c.parent().(type) {
	case *ast.AssignStmt:
		return !slices.Contains(p.Lhs, n)
	case *ast.RangeStmt:
		return n == p.X
	case *ast.KeyValueExpr:
		return n == p.Value
	case *ast.CallExpr:
		return n != p.Fun
	case *ast.SelectorExpr, *ast.IncDecStmt, *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt, *ast.BranchStmt, *ast.LabeledStmt:
		return false
	case *ast.UnaryExpr:
		return p.Op != token.AND
	}
	return true
}

// parent is what stands around the node, without parentheses.
func (c *collector) parent() ast.Node {
	for _, n := range slices.Backward(c.stack) {
		if _, ok := n.(*ast.ParenExpr); !ok {
			return n
		}
	}
	return nil
}

// add adds a mutant: the prefix and suffix stand around n, and the names show
// about, in which n stands.
func (c *collector) add(n, about ast.Node, after, prefix, suffix string) {
	if len(c.text(c.file, about)) > widest {
		about = n
	}
	m := &mutant{
		file: c.names[c.file], line: c.set.Position(n.Pos()).Line, function: c.function(),
		before: cut(c.text(c.file, about)), after: cut(after),
	}
	if about != n {
		from, to := c.offset(n.Pos()), c.offset(n.End())
		src := c.sources[c.file]
		text := string(src[c.offset(about.Pos()):from]) + after + string(src[to:c.offset(about.End())])
		m.after = strings.Join(strings.Fields(text), " ")
	}
	with := func(text string) func(int) string {
		return func(id int) string { return strings.ReplaceAll(text, slot, strconv.Itoa(id)) }
	}
	c.edits = append(c.edits, &edit{
		from: c.offset(n.Pos()), to: c.offset(n.End()), prefix: with(prefix), suffix: with(suffix), mutant: m,
	})
}

// widest is the longest text in the name of a mutant.
const widest = 120

func cut(text string) string {
	if r := []rune(text); len(r) > widest {
		return string(r[:widest-1]) + "…"
	}
	return text
}

func (p *pkg) offset(pos token.Pos) int { return p.set.Position(pos).Offset }

// function names what the node is in.
func (c *collector) function() string {
	for _, n := range c.stack {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil {
				return n.Name.Name
			}
			return strings.TrimPrefix(c.text(c.file, n.Recv.List[0].Type), "*") + "." + n.Name.Name
		case *ast.ValueSpec:
			return n.Names[0].Name
		}
	}
	return c.names[c.file]
}

// result is the type of the i-th result of the function around the node.
func (c *collector) result(i int) types.Type {
	for _, around := range slices.Backward(c.stack) {
		var results *ast.FieldList
		switch n := around.(type) {
		case *ast.FuncDecl:
			results = n.Type.Results
		case *ast.FuncLit:
			results = n.Type.Results
		default:
			continue
		}
		for _, field := range results.List {
			if i -= max(1, len(field.Names)); i < 0 {
				return c.info.Types[field.Type].Type
			}
		}
		return nil
	}
	return nil
}

// spelled is a type as the file would write it, or "" when it does not import its package.
func (c *collector) spelled(t types.Type) string {
	known := true
	text := types.TypeString(t, func(p *types.Package) string {
		if p == c.types {
			return ""
		}
		for _, spec := range c.files[c.file].Imports {
			if spec.Path.Value != `"`+p.Path()+`"` {
				continue
			}
			if spec.Name != nil {
				return spec.Name.Name
			}
			return p.Name()
		}
		known = false
		return ""
	})
	if !known {
		return ""
	}
	return text
}
