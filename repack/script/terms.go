package script

import (
	"fmt"
	"strings"
)

// expr is the value of an expression. Names that are of a VM and of a node are
// those of what is wanted.
func (e *evaluator) expr(x Expr, want things) value {
	if e.stopped {
		return value{}
	}
	switch x := x.(type) {
	case *Word:
		return value{depth: text1, word: x}
	case *Var:
		return e.lookup(x.Name, x.Pos)
	case *Pattern:
		words := e.words(x)
		if words == nil {
			return value{}
		}
		return e.members(words, want, x.Pos)
	case *Family:
		return e.gathered(x, want)
	case *Braces:
		return e.braces(x, want)
	case *Cast:
		want := vms
		if x.Nodes {
			want = nodes
		}
		return e.cast(e.resolved(e.expr(x.X, want), want), want, x)
	case *Labelled:
		return e.labelled(x)
	case *Binary:
		if x.Op == '/' {
			return e.divided(x, want)
		}
		return e.combined(x, want)
	}
	return value{} // *Bad
}

// resolved looks a text up.
func (e *evaluator) resolved(v value, want things) value {
	if v.depth != text1 {
		return v
	}
	text := v.word.Text
	vm, isVM := e.names.VM(text)
	node, isNode := e.names.Node(text)
	switch {
	case isVM && isNode && want == anything:
		e.fail(v.word.Pos, "%s is the name of a VM and of a node; say which by vms(%s) or nodes(%s)", Name(text), Name(text), Name(text))
		return value{}
	case isVM && (want != nodes || !isNode):
		return value{depth: member, of: vms, set: []int{vm}}
	case isNode:
		return value{depth: member, of: nodes, set: []int{node}}
	}
	if e.again(v.word.Pos) {
		return value{}
	}
	lists := [][]string{e.names.VMs(), e.names.Nodes()}
	switch want {
	case vms:
		lists = lists[:1]
	case nodes:
		lists = lists[1:]
	case anything:
	}
	more := hint(text, lists...)
	if x, y, ok := strings.Cut(text, "-"); ok && e.knows(x) && e.knows(y) {
		more = fmt.Sprintf("; a difference is written with spaces: %s - %s", x, y)
	}
	e.fail(v.word.Pos, "there is no %s %s%s", want.one(), Name(text), more)
	return value{}
}

// members makes a set of texts and members.
func (e *evaluator) members(parts []value, want things, at Pos) value {
	if !e.step(at, len(parts)) {
		return value{}
	}
	out, first, bad := value{depth: set1}, value{}, false
	in := make(map[int]bool, len(parts))
	for _, said := range parts {
		v := e.resolved(said, want)
		switch {
		case v.depth == unknown:
			bad = true
			continue
		case out.of == anything:
			first, out.of = said, v.of
		case out.of != v.of:
			e.fail(at, "a set is of VMs or of nodes, and here %s is a %s and %s is a %s", first, out.of.one(), said, v.of.one())
			return value{}
		}
		if m := v.set[0]; !in[m] {
			in[m] = true
			out.set = append(out.set, m)
		} else {
			e.rep.warn(at, fmt.Sprintf("%s is in the set twice", said))
		}
	}
	if bad {
		return value{}
	}
	return out
}

// lists makes a list of sets.
func (e *evaluator) lists(parts []value, at Pos) value {
	out, seen := value{depth: list}, map[string]bool{}
	for _, v := range parts {
		switch {
		case v.of != anything && out.of != anything && v.of != out.of:
			e.fail(at, "a list has sets of VMs or sets of nodes, and this has both")
			return value{}
		case v.of != anything:
			out.of = v.of
		}
		if !e.step(at, len(v.set)+1) {
			return value{}
		}
		key := content(v.set)
		if seen[key] {
			e.rep.warn(at, fmt.Sprintf("%s is in the list twice", v))
			continue
		}
		seen[key] = true
		out.sets = append(out.sets, v.set)
	}
	return out
}

// parts are the members in braces: names, those of ranges, and sets. What cannot be
// a member makes it bad.
func (e *evaluator) parts(x *Braces, want things) (parts []value, bad bool) {
	for _, m := range x.List {
		if p, ok := m.(*Pattern); ok {
			words := e.words(p)
			parts, bad = append(parts, words...), bad || words == nil
		} else {
			v := e.expr(m, want)
			parts, bad = append(parts, v), bad || v.depth == unknown
			if v.depth == list {
				e.fail(m.At(), "this is %s, and a list cannot hold another; join lists by +", v)
				bad = true
			}
		}
		if len(parts) > MaxSet {
			e.fail(x.Pos, "a set has at most %d members, and this has more", MaxSet)
			return nil, true
		}
	}
	return parts, bad || e.stopped
}

// braces is a set of what it names, or a list of the sets that it holds. Names and
// ranges of names count as members.
func (e *evaluator) braces(x *Braces, want things) value {
	parts, bad := e.parts(x, want)
	if bad {
		for _, v := range parts {
			e.resolved(v, want) // for the errors in it
		}
		return value{}
	}
	sets := setsIn(parts)
	switch {
	case sets == 0:
		return e.members(parts, want, x.Pos)
	case sets < len(parts):
		e.fail(x.Pos, "this has names and sets side by side; join sets by + into one, or put names of their own into {…}")
		return value{}
	}
	return e.lists(parts, x.Pos)
}

// setsIn counts the sets.
func setsIn(parts []value) (n int) {
	for _, v := range parts {
		if v.depth == set1 {
			n++
		}
	}
	return n
}

// gathered is a family as one value.
func (e *evaluator) gathered(x *Family, want things) value {
	parts := e.family(x)
	if len(x.Items) == 1 && !x.Items[0].Range && len(parts) == 1 {
		return parts[0]
	}
	for _, v := range parts {
		if v.depth == list {
			e.fail(x.Pos, "one of $%s… is %s, and a list cannot hold another", x.Name, v)
			return value{}
		}
	}
	sets := setsIn(parts)
	switch {
	case len(parts) == 0:
		return value{}
	case sets == 0:
		return e.members(parts, want, x.Pos)
	case sets < len(parts):
		e.fail(x.Pos, "some of $%s… are sets and others are single", x.Name)
		return value{}
	}
	return e.lists(parts, x.Pos)
}

func (e *evaluator) cast(v value, want things, x *Cast) value {
	if v.depth != unknown && v.of != want && v.of != anything {
		e.fail(x.Pos, "want %s here, and this is %s", want, v)
		return value{}
	}
	if v.depth != unknown {
		v.of = want
	}
	return v
}

// combined is x + y, x - y or x & y.
func (e *evaluator) combined(b *Binary, want things) value {
	x, y := e.resolved(e.expr(b.X, want), want), e.resolved(e.expr(b.Y, want), want)
	if x.depth == unknown || y.depth == unknown {
		return value{}
	}
	x.depth, y.depth = max(x.depth, set1), max(y.depth, set1)
	switch {
	case x.depth != y.depth:
		e.fail(b.Pos, "%c joins two sets or two lists of sets; left is %s, right is %s", b.Op, x, y)
		return value{}
	case x.of != y.of && x.of != anything && y.of != anything:
		e.fail(b.Pos, "%c joins VMs or nodes; left is %s, right is %s", b.Op, x, y)
		return value{}
	}
	work := x.size() + y.size()
	if x.depth == list {
		work *= 4 // sets are compared by what they have
	}
	if !e.step(b.Pos, work) {
		return value{}
	}
	out := value{depth: x.depth, of: max(x.of, y.of)}
	if out.depth == list {
		out.sets = combine(b.Op, x.sets, y.sets, content)
	} else {
		out.set = combine(b.Op, x.set, y.set, itself)
	}
	if n := max(len(out.set), len(out.sets)); n > MaxSet {
		e.fail(b.Pos, "a set has at most %d members, and this would have %d", MaxSet, n)
		return value{}
	}
	return out
}

// size is how many members it has in all.
func (v value) size() int {
	n := len(v.set) + len(v.sets)
	for _, s := range v.sets {
		n += len(s)
	}
	return n
}

// knows reports whether a text is the name of a VM or a node.
func (e *evaluator) knows(text string) bool {
	_, vm := e.names.VM(text)
	_, node := e.names.Node(text)
	return vm || node
}
