package architecture_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"vjob/tests/golden"
)

// lookup returns the row of a package.
func lookup(pkg string) (row, bool) {
	i := slices.IndexFunc(table, func(r row) bool { return r.pkg == pkg })
	if i < 0 {
		return row{}, false
	}
	return table[i], true
}

func (r row) allows(pkg string) bool {
	return slices.Contains(r.may, pkg) || slices.Equal(r.may, everything)
}

func TestImportsFollowTheTable(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		r, ok := lookup(s.dir())
		if !ok {
			continue // told once per package below
		}
		for _, p := range s.imports(t) {
			if pkg, ok := ours(p); ok && !r.allows(pkg) {
				t.Errorf("%s imports %s; %s may import %s. Declare an interface where it is used and let cmd or daemon join the two, "+
					"or, if the arrow points down and has a reason, change the table in tests/architecture/table_test.go",
					s.path, pkg, r.pkg, r.list())
			}
		}
	}
}

func TestEachPackageHasARow(t *testing.T) {
	have := map[string]bool{}
	for _, s := range sources(t) {
		if !s.test {
			have[s.dir()] = true
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(have)) {
		if _, ok := lookup(pkg); !ok {
			t.Errorf("package %s has no row: add one to tests/architecture/table_test.go with the packages below that it may import "+
				"and what it refuses to know, then run: go test ./tests/architecture -update", pkg)
		}
	}
	for _, r := range table {
		if !have[r.pkg] {
			t.Errorf("the row of %s has no package: remove it from tests/architecture/table_test.go", r.pkg)
		}
	}
}

// Arrows point down: a row imports only what stands above it in the table, so no
// row can be written that lets two packages see each other.
func TestTableHasNoUpwardArrow(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range table {
		if seen[r.pkg] {
			t.Errorf("%s has two rows", r.pkg)
		}
		for _, pkg := range r.may {
			if pkg != everything[0] && !seen[pkg] {
				t.Errorf("%s may import %s, whose row does not come before it", r.pkg, pkg)
			}
		}
		seen[r.pkg] = true
	}
}

// An arrow that nobody follows any more is an invitation to follow it again.
func TestEachArrowIsUsed(t *testing.T) {
	used := map[[2]string]bool{}
	for _, s := range sources(t) {
		for _, p := range s.imports(t) {
			if pkg, ok := ours(p); ok && !s.test {
				used[[2]string{s.dir(), pkg}] = true
			}
		}
	}
	for _, r := range table {
		for _, pkg := range r.may {
			if pkg != everything[0] && !used[[2]string{r.pkg, pkg}] {
				t.Errorf("%s may import %s and does not: take it out of tests/architecture/table_test.go, then run: go test ./tests/architecture -update", r.pkg, pkg)
			}
		}
	}
}

const (
	begin = "<!-- import table: written by go test ./tests/architecture -update -->\n"
	end   = "<!-- end of import table -->\n"
)

func TestDocumentShowsTheTable(t *testing.T) {
	golden.Passage(t, root+"/docs/ARCHITECTURE.md", begin, end, render())
}

func render() string {
	var b strings.Builder
	b.WriteString("| package | may import of ours | refuses to know |\n| --- | --- | --- |\n")
	for _, r := range table {
		name := "`" + r.pkg + "`"
		if slices.Contains(pure, r.pkg) {
			name += " ◆"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, r.list(), r.unwise)
	}
	return b.String()
}

func (r row) list() string {
	switch {
	case len(r.may) == 0:
		return "nothing"
	case slices.Equal(r.may, everything):
		return "everything: it wires"
	}
	return strings.Join(r.may, ", ")
}
