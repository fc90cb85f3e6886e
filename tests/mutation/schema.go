package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// mutant is one small change of a package.
type mutant struct {
	id       int // from 1, in the order of files and positions
	file     string
	line     int
	function string // "Name", "Type.Name" or the name of a variable of the package
	before   string // what the source says, in one line
	after    string // what the mutant says in its place
	nth      int    // which of those with the same function, before and after, from 1
}

// name identifies a mutant as long as its function does not change.
func (m *mutant) name() string {
	text := fmt.Sprintf("%s: `%s` => `%s`", m.function, m.before, m.after)
	if m.nth > 1 {
		text += fmt.Sprintf(" #%d", m.nth)
	}
	return text
}

// edit surrounds a part of a file with code that does what the mutant says when the
// mutant is the chosen one, and what the source says otherwise. Both may have other
// edits inside: only one mutant is ever chosen.
type edit struct {
	from, to       int // offsets in the source
	prefix, suffix func(id int) string
	mutant         *mutant
	start, end     int // offsets in what was written
}

// slot stands for the number of the mutant in what an edit writes; ours is the condition
// that the mutant is chosen, theirs that it is not.
const (
	slot   = "\x00"
	ours   = "mutant__ == " + slot
	theirs = "mutant__ != " + slot
)

// support is the file that is added to a package; its functions are called by edits.
const support = `package %s

import (
	"os"
	"strconv"
)

var mutant__, _ = strconv.Atoi(os.Getenv("` + variable + `"))

type number__ interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

func zero__[T any](id int, v T) T {
	if mutant__ == id {
		return *new(T)
	}
	return v
}

func plus__[T number__](id int, d int, v T) T {
	if mutant__ == id {
		return v + T(d)
	}
	return v
}

func twice__[T number__](id int, v T) T {
	if mutant__ == id {
		return v + v
	}
	return v
}

func text__[T ~string](id int, v T) T {
	if mutant__ == id {
		return v + "\x00"
	}
	return v
}

func first__[S ~[]E, E any](id int, s S) S {
	if mutant__ == id && len(s) > 1 {
		return s[:1]
	}
	return s
}
`

// variable is the environment variable that chooses a mutant.
const variable = "VJOB_MUTANT"

// schema is a package with all of its mutants in it.
type schema struct {
	pkg   *pkg
	edits [][]*edit // by file
}

// newSchema finds the mutants of a package. Those that do not compile are left out.
func newSchema(p *pkg) (*schema, error) {
	s := &schema{pkg: p}
	for i := range p.files {
		s.edits = append(s.edits, collect(p, i))
	}
	for {
		s.number()
		sources := s.render()
		sources = append(sources, fmt.Appendf(nil, support, p.files[0].Name.Name))
		p.names = append(p.names, supportFile)
		_, _, failed, err := p.check(sources)
		p.names = p.names[:len(p.names)-1]
		switch {
		case err != nil:
			return nil, err
		case len(failed) == 0:
			return s, nil
		}
		if err := s.drop(failed); err != nil {
			return nil, err
		}
	}
}

// supportFile is the name of the added file.
const supportFile = "zz_mutants__.go"

// drop takes out the innermost edit around each place that does not compile.
func (s *schema) drop(failed []types.Error) error {
	bad := map[*edit]bool{}
	for _, f := range failed {
		at := f.Fset.Position(f.Pos)
		i := slices.Index(s.pkg.names, at.Filename)
		if i < 0 {
			return fmt.Errorf("mutated %s: %w", s.pkg.path, f)
		}
		var inner *edit
		for _, e := range s.edits[i] {
			if e.start <= at.Offset && at.Offset <= e.end && (inner == nil || e.end-e.start <= inner.end-inner.start) {
				inner = e
			}
		}
		if inner == nil {
			return fmt.Errorf("mutated %s: %w", s.pkg.path, f)
		}
		bad[inner] = true
	}
	for i := range s.edits {
		s.edits[i] = slices.DeleteFunc(s.edits[i], func(e *edit) bool { return bad[e] })
	}
	return nil
}

// number orders the edits from the outside to the inside and counts the mutants.
func (s *schema) number() {
	id, same := 0, map[string]int{}
	for _, edits := range s.edits {
		slices.SortStableFunc(edits, func(a, b *edit) int { return cmp.Or(a.from-b.from, b.to-a.to) })
		for _, e := range edits {
			id++
			m := e.mutant
			m.id, m.nth = id, 0
			same[m.name()]++
			m.nth = same[m.name()]
		}
	}
}

func (s *schema) mutants() []*mutant {
	var list []*mutant
	for _, edits := range s.edits {
		for _, e := range edits {
			list = append(list, e.mutant)
		}
	}
	return list
}

// render writes the files with their edits.
func (s *schema) render() [][]byte {
	var list [][]byte
	for i, src := range s.pkg.sources {
		var b strings.Builder
		at, open := 0, []*edit{}
		closeUntil := func(to int) {
			for len(open) > 0 && open[len(open)-1].to <= to {
				e := open[len(open)-1]
				open = open[:len(open)-1]
				b.Write(src[at:e.to])
				at = e.to
				b.WriteString(e.suffix(e.mutant.id))
				e.end = b.Len()
			}
		}
		for _, e := range s.edits[i] {
			closeUntil(e.from)
			b.Write(src[at:e.from])
			at, e.start = e.from, b.Len()
			b.WriteString(e.prefix(e.mutant.id))
			open = append(open, e)
		}
		closeUntil(len(src))
		b.Write(src[at:])
		list = append(list, []byte(b.String()))
	}
	return list
}

// text is the source of a node in one line.
func (p *pkg) text(file int, n ast.Node) string {
	src := p.sources[file][p.offset(n.Pos()):p.offset(n.End())]
	return strings.Join(strings.Fields(string(src)), " ")
}
