package cluster

import "regexp"

var nameShape = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)

// IsName reports whether people may call something so: a vjob, an account, a queue or a
// project. A name stands in paths, in files and on command lines as it is.
func IsName(s string) bool { return nameShape.MatchString(s) }

// CheckName says what is wrong with a name.
func CheckName(field, name string) error {
	if IsName(name) {
		return nil
	}
	return BadField(field, name, "1 to 64 letters, digits, '.', '_' or '-', not beginning with '.' or '-'")
}
