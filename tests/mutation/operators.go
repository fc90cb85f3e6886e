package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// boolean replaces conditions by true and false, operands of && by true, those of || by
// false, and moves the bounds of comparisons. What is left out needs no test of its own:
// && in place of ||, and a negated comparison, are noticed wherever these are.
func (c *collector) boolean(n ast.Expr) {
	whenTrue, whenFalse := true, true
	switch p := c.parent().(type) {
	case *ast.BinaryExpr:
		b, same := ast.Unparen(n).(*ast.BinaryExpr)
		same = same && b.Op == p.Op
		whenTrue, whenFalse = p.Op == token.LAND && !same, p.Op == token.LOR && !same
	case *ast.UnaryExpr:
		whenTrue, whenFalse = false, false
	case *ast.ForStmt:
		whenTrue = false // it would never end
	}
	if whenTrue {
		c.add(n, n, "true", "("+ours+" || (", "))")
	}
	if whenFalse {
		c.add(n, n, "false", "("+theirs+" && (", "))")
	}
	b, ok := n.(*ast.BinaryExpr)
	if !ok {
		return
	}
	other, ok := map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}[b.Op]
	if ok {
		changed := c.text(c.file, b.X) + " " + other + " " + c.text(c.file, b.Y)
		c.add(n, n, changed, "("+ours+" && ("+c.source(b.X)+" "+other+" "+c.source(b.Y)+") || "+theirs+" && (", "))")
	}
}

// source is a node as it is written.
func (c *collector) source(n ast.Node) string {
	return string(c.sources[c.file][c.offset(n.Pos()):c.offset(n.End())])
}

// number exchanges + with -, and * with /.
func (c *collector) number(n ast.Expr) {
	b, ok := n.(*ast.BinaryExpr)
	if !ok {
		return
	}
	other, ok := map[token.Token]string{token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*", token.REM: "*"}[b.Op]
	t := c.spelled(c.info.Types[n].Type)
	if !ok || t == "" {
		return
	}
	changed := c.text(c.file, b.X) + " " + other + " " + c.text(c.file, b.Y)
	c.add(n, n, changed, "(func() "+t+" { if "+ours+" { return "+c.source(b.X)+" "+other+" "+c.source(b.Y)+" }; return ", " }())")
}

// valueless replaces by the zero value what is returned, what a field of a literal is set
// to, what a variable begins with, and what is ranged over. Of slices also only the first
// element is ranged over.
func (c *collector) valueless(n ast.Expr, t types.Type) {
	if _, ok := t.(*types.Tuple); ok || isZero(n) || isFunction(t) {
		return
	}
	about, target := ast.Node(n), t
	switch p := c.parent().(type) {
	case *ast.ReturnStmt:
		target = c.result(slices.Index(p.Results, n))
	case *ast.KeyValueExpr:
		literal, ok := c.stack[len(c.stack)-2].(*ast.CompositeLit)
		if !ok {
			return
		}
		fields, ok := c.info.Types[literal].Type.Underlying().(*types.Struct)
		if !ok {
			return
		}
		about, target = p, fieldType(fields, c.text(c.file, p.Key))
	case *ast.AssignStmt:
		if p.Tok != token.DEFINE || len(p.Lhs) != len(p.Rhs) {
			return
		}
		about = p
	case *ast.RangeStmt:
		if isArray(t) {
			return
		}
		if _, ok := t.Underlying().(*types.Slice); ok {
			c.add(n, n, "first of "+c.text(c.file, n), "first__("+slot+", ", ")")
		}
	default:
		return
	}
	if with := c.instance("zero__", t, target); with != "" {
		c.add(n, about, "zero", with+"("+slot+", ", ")")
	}
}

// instance is the name of a generic function that takes and gives a value of the target
// type, "" when the file cannot write that.
func (c *collector) instance(function string, t, target types.Type) string {
	if target == nil {
		return ""
	}
	if name := c.spelled(target); name != "" {
		return function + "[" + name + "]"
	}
	if b, ok := t.(*types.Basic); types.Identical(t, target) && (!ok || b.Info()&types.IsUntyped == 0) {
		return function
	}
	return ""
}

// constant changes constants where a value is used.
func (c *collector) constant(n ast.Expr, tv types.TypeAndValue) {
	t := types.Default(tv.Type)
	basic, ok := t.Underlying().(*types.Basic)
	if !ok {
		return
	}
	_, inCase := c.parent().(*ast.CaseClause)
	switch {
	case basic.Info()&types.IsBoolean != 0:
		if !inCase {
			c.flip(n, constant.BoolVal(tv.Value))
		}
	case basic.Info()&types.IsString != 0:
		c.textConstant(n, t, inCase)
	case c.instance("", t, t) == "", basic.Kind() == types.UntypedNil:
	case inCase:
		c.add(n, n, "no "+c.text(c.file, n), c.instance("plus__", t, t)+"("+slot+", 97, ", ")")
	case basic.Info()&types.IsNumeric != 0:
		c.numberConstant(n, t, tv.Value)
	}
}

func (c *collector) flip(n ast.Expr, value bool) {
	about := c.surroundings(n)
	if value {
		c.add(n, about, "false", "("+theirs+" && ", ")")
	} else {
		c.add(n, about, "true", "("+ours+" || ", ")")
	}
}

// textConstant changes the text of a case, and makes text that is returned empty.
func (c *collector) textConstant(n ast.Expr, t types.Type, inCase bool) {
	switch p := c.parent().(type) {
	case *ast.ReturnStmt:
		target := c.result(slices.Index(p.Results, n))
		if with := c.instance("zero__", t, target); with != "" && c.text(c.file, n) != `""` {
			c.add(n, n, `""`, with+"("+slot+", ", ")")
		}
	default:
		if with := c.instance("text__", t, t); inCase && with != "" {
			c.add(n, n, "no "+c.text(c.file, n), with+"("+slot+", ", ")")
		}
	}
}

// numberConstant moves a number by one, and doubles a duration. In comparisons it leaves
// out what a moved bound is already.
func (c *collector) numberConstant(n ast.Expr, t types.Type, value constant.Value) {
	about := c.surroundings(n)
	if types.TypeString(t, nil) == "time.Duration" && constant.Sign(value) != 0 {
		c.add(n, about, "(2*"+c.text(c.file, n)+")", c.instance("twice__", t, t)+"("+slot+", ", ")")
		return
	}
	steps := []int{+1, -1}
	_, literal := n.(*ast.BasicLit)
	if !literal || constant.Sign(value) == 0 {
		steps = steps[:1]
	}
	switch p := c.parent().(type) {
	case *ast.BinaryExpr:
		up := p.Op == token.LEQ || p.Op == token.GTR
		down := p.Op == token.LSS || p.Op == token.GEQ
		if p.X == n {
			up, down = down, up
		}
		switch {
		case p.Op == token.EQL || p.Op == token.NEQ:
			if !literal {
				return // the condition is replaced as a whole
			}
			steps = []int{+1}
		case up:
			steps = []int{+1}
		case down:
			steps = []int{-1}
		}
	}
	for _, d := range steps {
		c.add(n, about, fmt.Sprintf("(%s%+d)", c.text(c.file, n), d), fmt.Sprintf("%s(%s, %d, ", c.instance("plus__", t, t), slot, d), ")")
	}
}

// surroundings is the expression or simple statement that names a constant.
func (c *collector) surroundings(n ast.Node) ast.Node {
	switch p := c.parent().(type) {
	case *ast.BinaryExpr, *ast.IndexExpr, *ast.SliceExpr, *ast.KeyValueExpr, *ast.AssignStmt, *ast.CallExpr, *ast.ReturnStmt:
		return p
	}
	return n
}

func fieldType(fields *types.Struct, name string) types.Type {
	for f := range fields.Fields() {
		if f.Name() == name {
			return f.Type()
		}
	}
	return nil
}

func isBoolean(t types.Type) bool { return isBasic(t, types.IsBoolean) }
func isNumber(t types.Type) bool  { return isBasic(t, types.IsNumeric) }

func isBasic(t types.Type, info types.BasicInfo) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&info != 0
}

// isZero reports whether an expression is nil, or a literal without elements.
func isZero(n ast.Expr) bool {
	if literal, ok := n.(*ast.CompositeLit); ok {
		return len(literal.Elts) == 0
	}
	id, ok := n.(*ast.Ident)
	return ok && id.Name == "nil"
}

func isFunction(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

func isArray(t types.Type) bool {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	_, ok := t.Underlying().(*types.Array)
	return ok
}
