package document

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// fieldsOf maps the json names of a struct's fields, embedded ones included, to
// their place.
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

// wantKey says which key was probably meant, and which there are.
func wantKey(key string, fields map[string][]int) string {
	names := slices.Sorted(maps.Keys(fields))
	all := "one of " + strings.Join(names, ", ")
	if near := Nearest(key, names); near != "" {
		return "probably " + near + "; " + all
	}
	return all
}

// Nearest returns the name that is most like word, or "" when none is.
func Nearest(word string, names []string) string {
	best, least := "", len(word)/2+2
	for _, n := range names {
		if d := distance(strings.ToLower(word), n); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance counts the letters to insert, delete or replace between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		left := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := left
			if a[i] != b[j] {
				replace++
			}
			left = row[j+1]
			row[j+1] = min(replace, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
