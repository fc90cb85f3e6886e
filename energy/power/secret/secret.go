// Package secret reads passwords from files, so that none stands in the settings.
//
// It refuses to know what they open.
package secret

import (
	"fmt"
	"os"
	"strings"
)

// maxLength is how long a password may be, in bytes.
const maxLength = 4096

// Read returns what a file holds, without the end of its line. It refuses a file that
// anybody but its owner and group may read. Errors name the file and never what is in it.
func Read(path string) (string, error) {
	if err := Check(path); err != nil {
		return "", err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(string(data), "\r\n")
	switch {
	case text == "":
		return "", fmt.Errorf("%s is empty: a password is wanted there", path)
	case len(text) > maxLength || strings.ContainsAny(text, "\r\n\x00"):
		return "", fmt.Errorf("%s is no password: one line of at most %d bytes is wanted", path, maxLength)
	}
	return text, nil
}

// Check says what is wrong with a file of a password, as far as that can be seen
// without reading it.
func Check(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", path)
	case info.Mode().Perm()&0o007 != 0:
		return fmt.Errorf("%s may be read or changed by everybody (mode %04o): chmod o-rwx", path, info.Mode().Perm())
	}
	return nil
}
