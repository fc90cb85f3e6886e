package guestshell

import (
	"errors"
	"strconv"
	"strings"
)

// bracket runs [, which is test with a ] at the end.
func bracket(sh *shell, args []string) {
	if len(args) == 0 || args[len(args)-1] != "]" {
		sh.complain("sh: [: missing ]")
		sh.status = exitUsage
		return
	}
	test(sh, args[:len(args)-1])
}

// test runs test with strings, integers and files, of which a guest has none.
func test(sh *shell, args []string) {
	x := condition{sh: sh, left: args}
	if len(args) == 0 {
		sh.status = 1
		return
	}
	ok, err := x.or()
	if err == nil && len(x.left) > 0 {
		err = errors.New("too many arguments")
	}
	if err != nil {
		sh.complain("sh: test: %s", shortened(err.Error()))
		sh.status = exitUsage
		return
	}
	sh.status = boolStatus(ok)
}

// condition is an expression of test, read from the left.
type condition struct {
	sh   *shell
	left []string
}

// next takes a word away if it is the one that is wanted.
func (x *condition) next(word string) bool {
	if len(x.left) == 0 || x.left[0] != word {
		return false
	}
	x.left = x.left[1:]
	return true
}

func (x *condition) or() (bool, error) {
	ok, err := x.and()
	for err == nil && x.next("-o") {
		var more bool
		more, err = x.and()
		ok = ok || more
	}
	return ok, err
}

func (x *condition) and() (bool, error) {
	ok, err := x.not()
	for err == nil && x.next("-a") {
		var more bool
		more, err = x.not()
		ok = ok && more
	}
	return ok, err
}

func (x *condition) not() (bool, error) {
	negated := false
	for len(x.left) > 1 && !isComparison(x.left[1:]) && x.next("!") {
		negated = !negated
	}
	ok, err := x.primary()
	return ok != negated, err
}

// isComparison reports whether words begin with an operator and its right side.
func isComparison(words []string) bool {
	return len(words) > 1 && (words[0] == "=" || words[0] == "==" || words[0] == "!=" || isInteger(words[0]))
}

func isInteger(op string) bool {
	switch op {
	case "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
		return true
	}
	return false
}

func (x *condition) primary() (bool, error) {
	x.sh.run.spend(1)
	switch {
	case len(x.left) == 0:
		return false, errors.New("argument expected")
	case isComparison(x.left[1:]):
		a, op, b := x.left[0], x.left[1], x.left[2]
		x.left = x.left[3:]
		return compareWords(a, op, b)
	case x.left[0] == "(" && len(x.left) > 1:
		return x.group()
	case len(x.left) > 1 && len(x.left[0]) == 2 && x.left[0][0] == '-' && strings.Contains("nzefdrwxshLtbcpSgu", x.left[0][1:]):
		op, arg := x.left[0], x.left[1]
		x.left = x.left[2:]
		switch op {
		case "-n":
			return arg != "", nil
		case "-z":
			return arg == "", nil
		}
		return false, nil // there are no files
	}
	word := x.left[0]
	x.left = x.left[1:]
	return word != "", nil
}

func (x *condition) group() (bool, error) {
	if !x.sh.run.enter() {
		x.sh.run.leave()
		return false, errors.New("nested too deeply")
	}
	defer x.sh.run.leave()
	x.left = x.left[1:]
	ok, err := x.or()
	if err == nil && !x.next(")") {
		err = errors.New("missing )")
	}
	return ok, err
}

func compareWords(a, op, b string) (bool, error) {
	switch op {
	case "=", "==":
		return a == b, nil
	case "!=":
		return a != b, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(a), 10, 64)
	if err != nil {
		return false, errors.New(a + ": integer expected")
	}
	m, err := strconv.ParseInt(strings.TrimSpace(b), 10, 64)
	if err != nil {
		return false, errors.New(b + ": integer expected")
	}
	switch op {
	case "-eq":
		return n == m, nil
	case "-ne":
		return n != m, nil
	case "-lt":
		return n < m, nil
	case "-le":
		return n <= m, nil
	case "-gt":
		return n > m, nil
	}
	return n >= m, nil
}
