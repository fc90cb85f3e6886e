// Package architecture_test checks the structure that docs/ARCHITECTURE.md describes: which
// package may import which, what pure packages must not use, and which names are too vague.
// It parses the source files of all build tags and runs none of them.
package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "vjob"
)

// source is one Go file.
type source struct {
	path string // from the root, with slashes
	test bool
	file *ast.File
	set  *token.FileSet
}

// dir is the package's path within the module.
func (s *source) dir() string { return path.Dir(s.path) }

// at is the place of a node, for messages.
func (s *source) at(n ast.Node) string {
	return s.path + ":" + strconv.Itoa(s.set.Position(n.Pos()).Line)
}

// imports lists the import paths of the file.
func (s *source) imports(t *testing.T) []string {
	t.Helper()
	list := make([]string, 0, len(s.file.Imports))
	for _, spec := range s.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: %v", s.at(spec), err)
		}
		list = append(list, p)
	}
	return list
}

// local returns the name by which the file calls a package, "" when it does not
// import it.
func (s *source) local(importPath string) string {
	for _, spec := range s.file.Imports {
		if p, _ := strconv.Unquote(spec.Path.Value); p != importPath {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		base := path.Base(importPath)
		if len(base) > 1 && base[0] == 'v' && base[1] >= '0' && base[1] <= '9' {
			base = path.Base(path.Dir(importPath))
		}
		return base
	}
	return ""
}

// ours turns an import path into a package of this module.
func ours(importPath string) (pkg string, ok bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// sources parses every Go file of the module.
func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != root && (name == "testdata" || name == "bin" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(set, p, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		list = append(list, source{filepath.ToSlash(rel), strings.HasSuffix(name, "_test.go"), file, set})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("no Go files found")
	}
	return list
}
