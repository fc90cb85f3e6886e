package cluster

import (
	"fmt"
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

// JoinWords writes words so that a shell, and [Words], read the same ones.
func JoinWords(words []string) string {
	list := make([]string, len(words))
	for i, word := range words {
		if list[i] = word; word == "" || !plain(word, "_@%+=:,./-") {
			list[i] = Quote(word)
		}
	}
	return strings.Join(list, " ")
}

// Quote writes a text as one word of a shell.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
