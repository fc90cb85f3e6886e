package architecture_test

import (
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// firstWord matches the word with which a comment begins.
	firstWord = regexp.MustCompile(`^\w+`)
	// identifier matches words that begin no sentence: those in lower case and those in camel case.
	identifier = regexp.MustCompile(`^([a-z]|[A-Z][a-z0-9]+[A-Z])`)
	// testFunction matches functions with comments that may begin with the name of what they test.
	testFunction = regexp.MustCompile(`^(Test|Fuzz|Benchmark|Example)`)
)

// documented is a declaration with a comment.
type documented struct {
	name string
	at   ast.Node
	text string
}

// TestCommentsBeginWithTheRightName finds doc comments that were left behind by a renaming: they
// begin with the name of another declaration, or with an identifier that is not their own.
func TestCommentsBeginWithTheRightName(t *testing.T) {
	all := sources(t)
	names := map[string]bool{} // package, dot, name
	for _, s := range all {
		for _, d := range documentedIn(s.file) {
			names[s.dir()+"."+d.name] = true
		}
	}
	found := 0
	for _, s := range all {
		for _, d := range documentedIn(s.file) {
			word := firstWord.FindString(d.text)
			if word == "" || testFunction.MatchString(d.name) {
				continue
			}
			found++
			if word != d.name && (identifier.MatchString(word) || names[s.dir()+"."+word]) {
				t.Errorf("%s: the comment of %s begins with %s", s.at(d.at), d.name, word)
			}
		}
	}
	if found < 5000 {
		t.Errorf("only %d comments were found", found)
	}
}

// documentedIn returns the top-level declarations of a file, methods included, with their comments.
// The comment of a group of declarations belongs to none of them.
func documentedIn(file *ast.File) (list []documented) {
	add := func(name *ast.Ident, doc *ast.CommentGroup) {
		list = append(list, documented{name.Name, name, doc.Text()})
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			add(d.Name, d.Doc)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					add(s.Name, own(d, s.Doc))
				case *ast.ValueSpec:
					for i, name := range s.Names {
						doc := own(d, s.Doc)
						if i > 0 {
							doc = nil
						}
						add(name, doc)
					}
				}
			}
		}
	}
	return list
}

// own returns the comment of a specification, or that of its declaration if it is the only one.
func own(d *ast.GenDecl, doc *ast.CommentGroup) *ast.CommentGroup {
	if doc == nil && len(d.Specs) == 1 {
		return d.Doc
	}
	return doc
}

// TestCausesNameTheirFiles checks the comments of the kinds of causes: they name the files that set
// the kind, and no others.
func TestCausesNameTheirFiles(t *testing.T) {
	all := sources(t)
	setIn := map[string]map[string]bool{} // by the name of the kind: files
	for _, s := range all {
		if s.test || strings.HasPrefix(s.path, "tests/") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			name := ""
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				name = causeName(n.Key, n.Value)
			case *ast.AssignStmt:
				name = causeName(n.Lhs[0], n.Rhs[0])
			}
			if name != "" && setIn[name] == nil {
				setIn[name] = map[string]bool{}
			}
			if name != "" {
				setIn[name][s.path] = true
			}
			return true
		})
	}
	found := 0
	for _, s := range all {
		if s.path != "cluster/cause.go" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || lastName(v.Type) != "CauseKind" {
				return true
			}
			name := v.Names[0].Name
			have, want := goFile.FindAllString(v.Comment.Text(), -1), slices.Sorted(maps.Keys(setIn[name]))
			slices.Sort(have)
			if found++; !slices.Equal(have, want) {
				t.Errorf("%s: the comment of %s names the files %v, it is set in %v", s.at(v), name, have, want)
			}
			return true
		})
	}
	if found < 10 {
		t.Errorf("only %d kinds of causes were found", found)
	}
}

// causeName returns the kind of cause that is set by a key and its value, or by an assignment; "" for
// none.
func causeName(key, value ast.Expr) string {
	sel, ok := value.(*ast.SelectorExpr)
	if ok && lastName(key) == "Kind" && lastName(sel.X) == "cluster" && strings.HasPrefix(sel.Sel.Name, "Cause") {
		return sel.Sel.Name
	}
	return ""
}
