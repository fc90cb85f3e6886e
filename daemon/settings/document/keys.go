package document

import (
	"reflect"
	"slices"
	"strings"

	"vjob/internal/suggest"
)

// fieldsOf maps the json names of a struct's fields, embedded ones included, to their index.
func fieldsOf(t reflect.Type) map[string][]int {
	fields := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "" || name == "-" {
			continue
		}
		fields[name] = f.Index
	}
	return fields
}

// wantKey returns the nearest known key, if any, and all known keys.
func wantKey(key string, names []string) string {
	slices.Sort(names)
	all := "one of " + strings.Join(names, ", ")
	if near := suggest.Nearest(key, names); near != "" {
		return "probably " + near + "; " + all
	}
	return all
}
