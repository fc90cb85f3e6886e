package guestshell

import (
	"errors"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// Errors of arithmetic.
var (
	errOperator = errors.New("not supported by a simulated guest")
	errZero     = errors.New("division by 0")
	errName     = errors.New("assignment to something other than a variable")
)

// arithmetic evaluates an expression on 64-bit integers (POSIX §2.6.4). It returns false after an error, which it
// has told.
func (sh *shell) arithmetic(x syntax.ArithmExpr) (int64, bool) {
	n, err := sh.evaluate(x)
	if err != nil && !sh.run.over {
		if !errors.Is(err, errTold) {
			sh.complain("sh: arithmetic: %s", shortened(err.Error()))
			sh.status = exitUsage
		}
		return 0, false
	}
	return n, !sh.run.over
}

// errTold is an error of a word in an expression, which has been printed.
var errTold = errors.New("told")

func (sh *shell) evaluate(x syntax.ArithmExpr) (int64, error) {
	sh.run.spend(1)
	if !sh.run.enter() {
		sh.run.leave()
		return 0, errTold
	}
	defer sh.run.leave()
	switch x := x.(type) {
	case *syntax.Word:
		text, ok := sh.single(x)
		if !ok {
			return 0, errTold
		}
		return sh.number(text)
	case *syntax.ParenArithm:
		return sh.evaluate(x.X)
	case *syntax.UnaryArithm:
		return sh.unary(x)
	case *syntax.BinaryArithm:
		return sh.binary(x)
	}
	return 0, errOperator
}

// number returns the value of a number or of a variable.
func (sh *shell) number(text string) (int64, error) {
	if syntax.ValidName(text) {
		value, set := sh.get(text)
		if !set && sh.nounset {
			return 0, errors.New(text + ": parameter not set")
		}
		text = value
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		return 0, errors.New(text + ": not an integer")
	}
	return n, nil
}

func (sh *shell) unary(x *syntax.UnaryArithm) (int64, error) {
	n, err := sh.evaluate(x.X)
	if err != nil {
		return 0, err
	}
	switch x.Op {
	case syntax.Not:
		return integer(n == 0), nil
	case syntax.BitNegation:
		return ^n, nil
	case syntax.Plus:
		return n, nil
	case syntax.Minus:
		return -n, nil
	case syntax.Inc, syntax.Dec:
		change := int64(1)
		if x.Op == syntax.Dec {
			change = -1
		}
		if err := sh.store(x.X, n+change); err != nil {
			return 0, err
		}
		if x.Post {
			return n, nil
		}
		return n + change, nil
	}
	return 0, errOperator
}

// store assigns to a variable.
func (sh *shell) store(x syntax.ArithmExpr, n int64) error {
	w, ok := x.(*syntax.Word)
	if !ok || !syntax.ValidName(w.Lit()) {
		return errName
	}
	sh.set(w.Lit(), strconv.FormatInt(n, 10))
	return nil
}

// assignments are the operators that combine a variable with a value and store the result.
var assignments = map[syntax.BinAritOperator]syntax.BinAritOperator{
	syntax.AddAssgn: syntax.Add, syntax.SubAssgn: syntax.Sub, syntax.MulAssgn: syntax.Mul, syntax.QuoAssgn: syntax.Quo,
	syntax.RemAssgn: syntax.Rem, syntax.AndAssgn: syntax.And, syntax.OrAssgn: syntax.Or, syntax.XorAssgn: syntax.Xor,
	syntax.ShlAssgn: syntax.Shl, syntax.ShrAssgn: syntax.Shr,
}

func (sh *shell) binary(x *syntax.BinaryArithm) (int64, error) {
	if x.Op == syntax.Assgn {
		n, err := sh.evaluate(x.Y)
		if err != nil {
			return 0, err
		}
		return n, sh.store(x.X, n)
	}
	a, err := sh.evaluate(x.X)
	if err != nil {
		return 0, err
	}
	switch {
	case x.Op == syntax.AndArit && a == 0:
		return 0, nil
	case x.Op == syntax.OrArit && a != 0:
		return 1, nil
	case x.Op == syntax.TernQuest:
		branches, ok := x.Y.(*syntax.BinaryArithm)
		if !ok || branches.Op != syntax.TernColon {
			return 0, errOperator
		}
		if a != 0 {
			return sh.evaluate(branches.X)
		}
		return sh.evaluate(branches.Y)
	}
	b, err := sh.evaluate(x.Y)
	if err != nil {
		return 0, err
	}
	if op, ok := assignments[x.Op]; ok {
		n, err := combine(op, a, b)
		if err != nil {
			return 0, err
		}
		return n, sh.store(x.X, n)
	}
	return combine(x.Op, a, b)
}

// operators are those that always have a result, which wraps around.
var operators = map[syntax.BinAritOperator]func(a, b int64) int64{
	syntax.Add: func(a, b int64) int64 { return a + b },
	syntax.Sub: func(a, b int64) int64 { return a - b },
	syntax.Mul: func(a, b int64) int64 { return a * b },
	syntax.And: func(a, b int64) int64 { return a & b },
	syntax.Or:  func(a, b int64) int64 { return a | b },
	syntax.Xor: func(a, b int64) int64 { return a ^ b },
	syntax.Shl: func(a, b int64) int64 { return a << (uint64(b) & 63) },
	syntax.Shr: func(a, b int64) int64 { return a >> (uint64(b) & 63) },
	syntax.Eql: func(a, b int64) int64 { return integer(a == b) },
	syntax.Neq: func(a, b int64) int64 { return integer(a != b) },
	syntax.Lss: func(a, b int64) int64 { return integer(a < b) },
	syntax.Leq: func(a, b int64) int64 { return integer(a <= b) },
	syntax.Gtr: func(a, b int64) int64 { return integer(a > b) },
	syntax.Geq: func(a, b int64) int64 { return integer(a >= b) },

	syntax.AndArit: func(a, b int64) int64 { return integer(a != 0 && b != 0) },
	syntax.OrArit:  func(a, b int64) int64 { return integer(a != 0 || b != 0) },
	syntax.Comma:   func(_, b int64) int64 { return b },
}

// combine applies an operator.
func combine(op syntax.BinAritOperator, a, b int64) (int64, error) {
	if do, ok := operators[op]; ok {
		return do(a, b), nil
	}
	divides := op == syntax.Quo || op == syntax.Rem
	switch {
	case divides && b == 0:
		return 0, errZero
	case op == syntax.Quo: // the least integer divided by -1 is itself (Go specification, "Integer operators")
		return a / b, nil
	case op == syntax.Rem:
		return a % b, nil
	case op == syntax.Pow:
		return power(a, b)
	}
	return 0, errOperator
}

// power is a to the power of b, by squaring.
func power(a, b int64) (int64, error) {
	if b < 0 {
		return 0, errors.New("exponent less than 0")
	}
	result := int64(1)
	for ; b > 0; b >>= 1 {
		if b&1 == 1 {
			result *= a
		}
		a *= a
	}
	return result, nil
}

func integer(ok bool) int64 {
	if ok {
		return 1
	}
	return 0
}
