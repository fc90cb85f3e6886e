package settings

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// brief writes a value on one line, as YAML in flow style without the fields that are empty.
func brief(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case string:
		return briefText(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = brief(v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if !empty(v[key]) && key != "name" && key != "id" {
				parts = append(parts, key+": "+brief(v[key]))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// longest is the length of a text that is shown whole, in bytes.
const longest = 200

// briefText writes a text, quoted if it is empty or would be misread.
func briefText(s string) string {
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + "…"
	}
	if s == "" || strings.TrimSpace(s) != s || strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) || strings.ContainsRune(`"{}[],#`, r) }) {
		return strconv.Quote(s)
	}
	return s
}

// empty reports whether a value says nothing in a summary.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == "" || v == "0" || v == "0s" || v == "0MiB" || v == "0W" || v == "0J"
	case bool:
		return !v
	case float64:
		return v == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, inner := range v {
			if !empty(inner) {
				return false
			}
		}
		return true
	}
	return false
}
