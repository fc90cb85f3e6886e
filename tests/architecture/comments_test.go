package architecture_test

import (
	"go/ast"
	"regexp"
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
