package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The variables that tell the guests of an array which of its vjobs they work for.
const (
	EnvArrayID    = "VJOB_ARRAY_ID"    // the number of the array: that of its first vjob
	EnvArrayIndex = "VJOB_ARRAY_INDEX" // the place in it, from 1
	EnvParameter  = "VJOB_PARAMETER"   // as it was given
)

// Payload is what runs in the member of a rank. The payload of an array is kept once
// for all; here it becomes that of one of its vjobs, whose parameter follows the words
// of the command.
func (j *VJob) Payload(rank int) Payload {
	p := j.VMs[rank].Payload
	if j.Array == 0 {
		return p
	}
	p.Env = maps.Clone(p.Env)
	if p.Env == nil {
		p.Env = map[string]string{}
	}
	p.Env[EnvArrayID], p.Env[EnvArrayIndex], p.Env[EnvParameter] = j.Array.String(), strconv.Itoa(j.Index), j.Parameter
	if words, err := Words(j.Parameter); err == nil && len(p.Command) > 0 {
		p.Command = slices.Concat(p.Command, words)
	}
	return p
}

// MemberName is what the vjob at an index of a named array is called: "sweep[7]".
func MemberName(array string, index int) string {
	if array == "" {
		return ""
	}
	return fmt.Sprintf("%s[%d]", array, index)
}

// ArrayName is the name of the array of which a member is called so; other names are
// left as they are.
func ArrayName(name string) string {
	if base, _, ok := strings.Cut(name, "["); ok && strings.HasSuffix(name, "]") {
		return base
	}
	return name
}

// Words splits a parameter as a shell would: at blanks, but for those between single
// or double quotes and behind a backslash. It expands nothing. A quote that is not
// closed, and a backslash at the end, are errors.
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
		return nil, BadField("parameter", text, fmt.Sprintf("a %c that closes the one before", open))
	case escaped:
		return nil, BadField("parameter", text, `a character behind the last \`)
	case begun:
		words = append(words, word.String())
	}
	return words, nil
}
