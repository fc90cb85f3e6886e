package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// names are the names of the values of an enumeration, for printing, parsing and the error that lists the valid names. A
// value without a name has "".
type names[T ~uint8] []string

// OneOf is what an error wants that lists the valid names: "one of a, b, c".
func OneOf[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, name := range list {
		texts[i] = string(name)
	}
	return "one of " + strings.Join(texts, ", ")
}

func (n names[T]) text(v T) string {
	if int(v) < len(n) && n[v] != "" {
		return n[v]
	}
	return fmt.Sprintf("?%d", v)
}

func (n names[T]) parse(field, s string) (T, error) {
	if i := slices.Index(n, s); i >= 0 && s != "" {
		return T(i), nil
	}
	all := slices.DeleteFunc(slices.Sorted(slices.Values(n)), func(name string) bool { return name == "" })
	return 0, BadField(field, s, OneOf(all))
}
