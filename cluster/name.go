package cluster

import "regexp"

// longestName is the greatest length of a name of any kind, in bytes. Patterns do not say it: one with {0,63} takes a
// millisecond of each start of each program to compile.
const longestName = 64

var nameShape = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

const wantName = "a name of 1 to 64 letters, digits, '.', '_' or '-', not beginning with '.' or '-'"

// IsName reports whether s is a valid name of a vjob, an account, a queue or a project. Names
// appear unescaped in paths, files and command lines.
func IsName(s string) bool { return len(s) <= longestName && nameShape.MatchString(s) }

// CheckName returns a [FieldError] if a name is invalid.
func CheckName(field, name string) error {
	if IsName(name) {
		return nil
	}
	return BadField(field, name, wantName)
}
