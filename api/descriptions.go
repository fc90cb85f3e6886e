package api

import (
	_ "embed"
	"path"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"vjob/cluster"
)

// descriptionList has a line for each type of the API and each of its fields: PACKAGE.TYPE.FIELD, a tab, and the comment of
// its declaration. The test writes it: go test ./api -update.
//
//go:embed descriptions.txt
var descriptionList string

// descriptions are the texts of descriptionList by their names.
var descriptions = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	for line := range strings.Lines(descriptionList) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		texts[name] = text
	}
	return texts
})

// typeName is the name of a type in descriptionList.
func typeName(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return path.Base(t.PkgPath()) + "." + name
}

// describeStruct adds the descriptions of a struct and of its fields to its schema.
func describeStruct(t reflect.Type, schema *openapi3.Schema) {
	schema.Description = descriptions()[typeName(t)]
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		property := schema.Properties[name]
		if property == nil {
			continue
		}
		owner := t
		for _, i := range f.Index[:len(f.Index)-1] {
			owner = structOf(owner.Field(i).Type)
		}
		text := descriptions()[typeName(owner)+"."+f.Name]
		if help := f.Tag.Get("help"); help != "" {
			text = ofTerm(help, f.Type)
		}
		if text == "" {
			continue
		}
		if !strings.HasPrefix(property.Ref, "#") { // the generator clears the others
			property.Value.Description = text
			continue
		}
		// What stands beside a reference is ignored.
		reference := &openapi3.SchemaRef{Ref: property.Ref, Value: property.Value}
		schema.Properties[name] = &openapi3.SchemaRef{Value: &openapi3.Schema{
			AllOf: openapi3.SchemaRefs{reference}, Description: text, Nullable: property.Value.Nullable,
		}}
	}
}

func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// ofTerm returns the help about a term of [cluster.Terms] without the notation of the command line.
func ofTerm(help string, t reflect.Type) string {
	if t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[cluster.Seconds]() {
		help, _, _ = strings.Cut(help, ", such as ")
	}
	before, rest, marked := strings.Cut(help, "<")
	placeholder, after, closed := strings.Cut(rest, ">")
	if !marked || !closed {
		return help
	}
	return before + strings.ToLower(placeholder) + after
}
