package settings_test

import (
	"encoding"
	"reflect"
	"slices"
	"strings"
)

// leaves lists the keys of a type of settings: * stands for the names in maps.
func leaves(t reflect.Type, path string) (list []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
			return []string{path}
		}
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return []string{path}
	}
	switch t.Kind() { //nolint:exhaustive // the others are leaves
	case reflect.Map:
		return leaves(t.Elem(), path+".*")
	case reflect.Struct:
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case name == "-" || !f.IsExported():
			case f.Anonymous && name == "":
				list = append(list, leaves(f.Type, path)...)
			default:
				list = append(list, leaves(f.Type, strings.TrimPrefix(path+"."+name, "."))...)
			}
		}
		slices.Sort(list)
		return list
	}
	return []string{path}
}
