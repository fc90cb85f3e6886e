package api_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"vjob/tests/golden"
)

// The packages with types of the API.
var describedPackages = []string{"wire", "oarapi", "../oar", "../cluster"}

var (
	goReference = regexp.MustCompile(`\[([A-Z]\w*(?:\.\w+)?|\w+\.[A-Z]\w*)\]`)
	spaces      = regexp.MustCompile(`\s+`)
)

// TestDescriptionsAreTheComments compares descriptions.txt with the comments of the types of the API.
func TestDescriptionsAreTheComments(t *testing.T) {
	var lines []string
	for _, folder := range describedPackages {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no files (%v)", folder, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, describedTypes(file)...)
		}
	}
	slices.Sort(lines)
	golden.Same(t, "descriptions.txt", strings.Join(lines, "\n")+"\n")
}

// describedTypes has a line for each struct with JSON, and for each of its fields.
func describedTypes(file *ast.File) (lines []string) {
	for _, decl := range file.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			s, ok := spec.(*ast.TypeSpec)
			if !ok || !s.Name.IsExported() {
				continue
			}
			body, ok := s.Type.(*ast.StructType)
			if !ok {
				continue
			}
			name := file.Name.Name + "." + s.Name.Name
			fields := describedFields(name, body)
			if len(fields) > 0 {
				doc := g.Doc
				if s.Doc != nil {
					doc = s.Doc
				}
				lines = append(append(lines, name+"\t"+plain(doc)), fields...)
			}
		}
	}
	return lines
}

func describedFields(of string, body *ast.StructType) (lines []string) {
	for _, f := range body.Fields.List {
		if f.Tag == nil || !strings.Contains(f.Tag.Value, `json:"`) {
			continue
		}
		text := plain(f.Doc)
		if text == "" {
			text = plain(f.Comment)
		}
		for _, name := range f.Names {
			if text != "" {
				lines = append(lines, fmt.Sprintf("%s.%s\t%s", of, name.Name, text))
			}
		}
	}
	return lines
}

// plain is a comment on one line, without the marks of Go.
func plain(doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	return strings.TrimSpace(spaces.ReplaceAllString(goReference.ReplaceAllString(doc.Text(), "$1"), " "))
}

// TestEveryFieldIsDescribed checks that each type, each field and each parameter of the document has a description, and
// that whole numbers and numbers have a format.
func TestEveryFieldIsDescribed(t *testing.T) {
	doc := document(t, withOAR(t))
	for name, schema := range doc.Components.Schemas {
		if schema.Value.Description == "" {
			t.Errorf("%s has no description: comment its type", name)
		}
		checkFields(t, name, schema.Value)
	}
	for _, o := range operations(doc) {
		for _, p := range o.Parameters {
			if p.Value.Description == "" {
				t.Errorf("%s: the parameter %s has no description", o.OperationID, p.Value.Name)
			}
		}
	}
}

// checkFields checks the fields of a schema and of those in it that are no components.
func checkFields(t *testing.T, of string, schema *openapi3.Schema) {
	t.Helper()
	for field, property := range schema.Properties {
		name := of + "." + field
		v := property.Value
		if v.Description == "" {
			t.Errorf("%s has no description: comment its field", name)
		}
		if (v.Type.Is("integer") || v.Type.Is("number")) && v.Format == "" {
			t.Errorf("%s has no format", name)
		}
		if property.Ref == "" {
			checkFields(t, name, v)
		}
		if v.Items != nil && v.Items.Ref == "" {
			checkFields(t, name+"[]", v.Items.Value)
		}
	}
}
