package cluster

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// MemberName is the name of the vjob at an index of a named array: "sweep[7]".
func MemberName(array string, index int) string {
	if array == "" {
		return ""
	}
	return fmt.Sprintf("%s[%d]", array, index)
}

// ArrayName is the name of the array in the name of a member. Other names are returned as they
// are.
func ArrayName(name string) string {
	if base, _, ok := strings.Cut(name, "["); ok && strings.HasSuffix(name, "]") {
		return base
	}
	return name
}

// IndexRange is the places from First to Last of an array, both included.
type IndexRange struct{ First, Last int }

// maxIndexRanges is the most ranges of one text.
const maxIndexRanges = 100

// ParseIndexes reads places of an array: "3", "3-7", or several of these with commas. The error is a
// [FieldError] of the field.
func ParseIndexes(field, text string) (list []IndexRange, err error) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, several := strings.Cut(part, "-")
		if !several {
			to = from
		}
		first, ok := index(from)
		last, also := index(to)
		if !ok || !also || last < first || len(list) == maxIndexRanges {
			return nil, BadField(field, text, fmt.Sprintf("places of an array, from 1, such as 3, 3-7 or 2,5-9; at most %d ranges", maxIndexRanges))
		}
		list = append(list, IndexRange{first, last})
	}
	return list, nil
}

// index reads a place of an array in its one spelling.
func index(text string) (int, bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	return int(n), err == nil && n > 0 && strconv.FormatInt(n, 10) == text
}

// Words splits a parameter as a shell does: at blanks, except between single or double quotes and
// after a backslash. It expands nothing. An unclosed quote and a backslash at the end are errors.
func Words(text string) (words []string, err error) {
	var word strings.Builder
	open, begun, escaped := rune(0), false, false
	for _, r := range text {
		switch {
		case escaped:
			if open == '"' && r != '"' && r != '\\' {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && open != '\'':
			escaped, begun = true, true
		case r == open:
			open = 0
		case open != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			open, begun = r, true
		case !unicode.IsSpace(r):
			word.WriteRune(r)
			begun = true
		case begun:
			words = append(words, word.String())
			word.Reset()
			begun = false
		}
	}
	switch {
	case open != 0:
		return nil, Fault("parameter", "%q has a %c that is not closed", text, open)
	case escaped:
		return nil, Fault("parameter", `%q ends with \, want a character behind it`, text)
	case begun:
		words = append(words, word.String())
	}
	return words, nil
}
