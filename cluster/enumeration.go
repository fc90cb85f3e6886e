package cluster

import (
	"fmt"
	"sort"
	"strings"
)

// names maps the values of an enumeration to their names, for printing, parsing and the error
// that lists the valid names.
type names[T ~uint8] map[T]string

// OneOf is what an error wants that lists the valid names: "one of a, b, c".
func OneOf[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, name := range list {
		texts[i] = string(name)
	}
	return "one of " + strings.Join(texts, ", ")
}

func (n names[T]) text(v T) string {
	if s, ok := n[v]; ok {
		return s
	}
	return fmt.Sprintf("?%d", v)
}

func (n names[T]) parse(field, s string) (T, error) {
	for v, name := range n {
		if name == s {
			return v, nil
		}
	}
	all := make([]string, 0, len(n))
	for _, name := range n {
		all = append(all, name)
	}
	sort.Strings(all)
	return 0, BadField(field, s, OneOf(all))
}
