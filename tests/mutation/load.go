package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// pkg is a parsed and checked package without its tests.
type pkg struct {
	path, dir string
	set       *token.FileSet
	files     []*ast.File
	names     []string // of files, within dir
	sources   [][]byte
	types     *types.Package
	info      *types.Info
	exports   map[string]string // export data of what it imports, by import path
}

type listed struct {
	ImportPath, Dir, Export string
	GoFiles, CgoFiles       []string
	DepOnly                 bool
}

// load reads the package that pattern names, as it is built with the tags.
func load(pattern, tags string) (*pkg, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,CgoFiles,DepOnly", "-tags="+tags, pattern) //nolint:noctx // ends with this program
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &pkg{set: token.NewFileSet(), exports: map[string]string{}}
	for d := json.NewDecoder(out); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list %s: %w", pattern, err)
		}
		p.exports[l.ImportPath] = l.Export
		if l.DepOnly {
			continue
		}
		if len(l.CgoFiles) > 0 {
			return nil, fmt.Errorf("package %s: it has cgo files, which cannot be mutated", l.ImportPath)
		}
		p.path, p.dir, p.names = l.ImportPath, l.Dir, l.GoFiles
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("go list %s: %w", pattern, err)
	}
	for _, name := range p.names {
		src, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil {
			return nil, err
		}
		p.sources = append(p.sources, src)
	}
	var failed []types.Error
	p.files, p.info, failed, err = p.check(p.sources)
	if err == nil && len(failed) > 0 {
		err = failed[0]
	}
	return p, err
}

// check parses and checks sources in place of those of the package.
func (p *pkg) check(sources [][]byte) (files []*ast.File, info *types.Info, failed []types.Error, err error) {
	for i, src := range sources {
		f, err := parser.ParseFile(p.set, p.names[i], src, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, nil, err
		}
		files = append(files, f)
	}
	imported := importer.ForCompiler(p.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(p.exports[path]) })
	info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: imported, Error: func(err error) {
		if e, ok := errors.AsType[types.Error](err); ok {
			failed = append(failed, e)
		}
	}}
	p.types, _ = config.Check(p.path, p.set, files, info) // what fails is in failed
	return files, info, failed, nil
}
