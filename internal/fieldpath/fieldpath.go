// Package fieldpath names the fields of JSON and YAML documents as messages do: "vms[2].env.PATH".
package fieldpath

import (
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Of returns a place in a value of the type t as messages name it: "vms[2].env.PATH"; "" is the whole value.
// Without a type, numbers are taken for places in a list.
func Of(at jsontext.Pointer, t reflect.Type) string {
	path := ""
	for name := range at.Tokens() {
		for t != nil && t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch {
		case t == nil && name != "" && strings.Trim(name, "0123456789") == "":
			path += "[" + name + "]"
			continue
		case t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
			path, t = path+"["+name+"]", t.Elem()
			continue
		case t != nil && t.Kind() == reflect.Map:
			t = t.Elem()
		case t != nil && t.Kind() == reflect.Struct:
			t = Fields(t)[name].Type // nil for an unknown field
		}
		path = Join(path, name)
	}
	return path
}

// Join returns the path of a field, with a long or unprintable name quoted and shortened.
func Join(path, name string) string {
	if len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		name = strconv.Quote(string([]rune(name)[:min(64, utf8.RuneCountInString(name))]))
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// Fields returns the fields of a struct by their names in JSON, embedded ones included.
func Fields(t reflect.Type) map[string]reflect.StructField {
	known := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "" && name != "-" {
			known[name] = f
		}
	}
	return known
}
