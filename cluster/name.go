package cluster

import "strings"

// longestName is the greatest length of a name of any kind, in bytes.
const longestName = 64

const wantName = "a name of 1 to 64 letters, digits, '.', '_' or '-', not beginning with '.' or '-'"

// IsName reports whether s is a valid name of a vjob, an account, a queue or a project. Names
// appear unescaped in paths, files and command lines.
func IsName(s string) bool {
	return s != "" && len(s) <= longestName && plain(s[:1], "_") && plain(s, "._-")
}

// CheckName returns a [FieldError] if a name is invalid.
func CheckName(field, name string) error {
	if IsName(name) {
		return nil
	}
	return BadField(field, name, wantName)
}

// plain reports whether a text has only letters and digits of ASCII and some other characters.
func plain(s, others string) bool {
	for i := range len(s) {
		c := s[i]
		if !letter(c) && (c < '0' || c > '9') && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return true
}

// letter reports whether a character is a letter of ASCII.
func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
