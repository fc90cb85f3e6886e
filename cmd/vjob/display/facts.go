package display

import (
	"fmt"
	"strings"
)

// Facts prints names and values under each other, leaving out those without.
func Facts(b *strings.Builder, list [][2]string) {
	width := 0
	for _, f := range list {
		width = max(width, len(f[0]))
	}
	for _, f := range list {
		if f[1] != "" {
			fmt.Fprintf(b, "%-*s  %s\n", width, f[0], Clean(f[1]))
		}
	}
}

// Passage is a text of several lines as facts under one name.
func Passage(name, text string) (list [][2]string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		list = append(list, [2]string{name, strings.TrimRight(line, "\r\n")})
		name = ""
	}
	return list
}
