package architecture_test

import (
	"go/ast"
	"os"
	"path"
	"regexp"
	"testing"
)

// goName matches the name of a package and of what it exports, in backticks.
var goName = regexp.MustCompile("`([a-z]+)\\.([A-Z]\\w*)`")

// TestGlossaryNamesExist checks that the code has each Go name in docs/GLOSSARY.md.
func TestGlossaryNamesExist(t *testing.T) {
	text, err := os.ReadFile(path.Join(root, "docs/GLOSSARY.md"))
	if err != nil {
		t.Fatal(err)
	}
	exported := map[string]bool{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, decl := range s.file.Decls {
			for _, name := range declared(decl) {
				exported[s.file.Name.Name+"."+name] = true
			}
		}
	}
	found := goName.FindAllStringSubmatch(string(text), -1)
	for _, m := range found {
		if name := m[1] + "." + m[2]; !exported[name] {
			t.Errorf("docs/GLOSSARY.md: %s does not exist", name)
		}
	}
	if len(found) < 30 {
		t.Errorf("docs/GLOSSARY.md: only %d Go names were found", len(found))
	}
}

// declared returns the names of a declaration; methods have none.
func declared(decl ast.Decl) (names []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}
