package script

import (
	"strconv"
)

// divided is x / n: sets of n members, the last of what is left; or x / label: a set
// for each value of a label, in the order in which they come.
func (e *evaluator) divided(b *Binary, want things) value {
	x, y := e.resolved(e.expr(b.X, want), want), e.expr(b.Y, anything)
	if x.depth == unknown || y.depth == unknown {
		return value{}
	}
	if x.depth == list {
		e.fail(b.Pos, "/ divides one set, and this is %s", x)
		return value{}
	}
	if y.depth == text1 && !number(y.word.Text) {
		return e.byLabel(x, y.word)
	}
	n := 0
	if y.depth == text1 {
		n, _ = strconv.Atoi(y.word.Text) // too large a number is the largest
	}
	if n < 1 {
		e.fail(b.Y.At(), "/ divides a set into sets of so many members: want a number from 1 on, or the name of a label of nodes, not %s", y)
		return value{}
	}
	out := value{depth: list, of: x.of}
	for rest := x.set; len(rest) > 0; rest = rest[min(n, len(rest)):] {
		out.sets = append(out.sets, rest[:min(n, len(rest))])
	}
	e.step(b.Pos, out.size())
	return out
}

// byLabel groups nodes by the value of a label. Nodes without it are in no group.
func (e *evaluator) byLabel(x value, key *Word) value {
	if x.of == vms {
		e.fail(key.Pos, "/ divides VMs into sets of so many: want a number, not %s; only nodes have labels", Name(key.Text))
		return value{}
	}
	out, at := value{depth: list, of: nodes}, map[string]int{}
	for _, n := range x.set {
		text := e.names.Label(n, key.Text)
		if text == "" {
			continue
		}
		g, known := at[text]
		if !known {
			g = len(out.sets)
			at[text] = g
			out.sets = append(out.sets, nil)
		}
		out.sets[g] = append(out.sets[g], n)
	}
	if len(out.sets) == 0 {
		e.fail(key.Pos, "none of the nodes has a label %s", Name(key.Text))
		return value{}
	}
	e.step(key.Pos, len(x.set))
	return out
}

// labelled is nodes(key=value): the nodes that have the label.
func (e *evaluator) labelled(x *Labelled) value {
	all := e.names.Nodes()
	if !e.step(x.Pos, len(all)) {
		return value{}
	}
	out, other := value{depth: set1, of: nodes}, ""
	for _, text := range all {
		n, ok := e.names.Node(text)
		if !ok {
			continue
		}
		switch v := e.names.Label(n, x.Key); {
		case v == x.Value:
			out.set = append(out.set, n)
		case other == "":
			other = v
		}
	}
	switch {
	case len(out.set) > 0:
		return out
	case other != "":
		e.fail(x.Pos, "no node has the label %s=%s; there is, for one, %s=%s", Name(x.Key), Name(x.Value), Name(x.Key), Name(other))
	default:
		e.fail(x.Pos, "no node has a label %s", Name(x.Key))
	}
	return value{}
}
