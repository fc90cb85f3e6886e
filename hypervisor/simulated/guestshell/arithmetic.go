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

// combine applies an operator. Results wrap around.
func combine(op syntax.BinAritOperator, a, b int64) (int64, error) {
	switch op {
	case syntax.Add:
		return a + b, nil
	case syntax.Sub:
		return a - b, nil
	case syntax.Mul:
		return a * b, nil
	case syntax.Quo, syntax.Rem:
		if b == 0 {
			return 0, errZero
		}
		if b == -1 { // the least integer has no counterpart
			return map[syntax.BinAritOperator]int64{syntax.Quo: -a}[op], nil
		}
		if op == syntax.Quo {
			return a / b, nil
		}
		return a % b, nil
	case syntax.Pow:
		return power(a, b)
	case syntax.And:
		return a & b, nil
	case syntax.Or:
		return a | b, nil
	case syntax.Xor:
		return a ^ b, nil
	case syntax.Shl:
		return a << (uint64(b) & 63), nil
	case syntax.Shr:
		return a >> (uint64(b) & 63), nil
	case syntax.Comma:
		return b, nil
	case syntax.AndArit:
		return integer(a != 0 && b != 0), nil
	case syntax.OrArit:
		return integer(a != 0 || b != 0), nil
	}
	return compare(op, a, b)
}

func compare(op syntax.BinAritOperator, a, b int64) (int64, error) {
	switch op {
	case syntax.Eql:
		return integer(a == b), nil
	case syntax.Neq:
		return integer(a != b), nil
	case syntax.Lss:
		return integer(a < b), nil
	case syntax.Leq:
		return integer(a <= b), nil
	case syntax.Gtr:
		return integer(a > b), nil
	case syntax.Geq:
		return integer(a >= b), nil
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
