package driver

import (
	"fmt"
	"os"
	"strings"
)

// maxLength is the maximum length of a password, in bytes.
const maxLength = 4096

// ReadPassword returns the content of a file without the end of its line. It refuses a file that users
// other than its owner and group may read. Errors name the file and never its content.
func ReadPassword(path string) (string, error) {
	if err := checkPasswordFile(path); err != nil {
		return "", err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(string(data), "\r\n")
	switch {
	case text == "":
		return "", fmt.Errorf("%s is empty, want a password", path)
	case len(text) > maxLength || strings.ContainsAny(text, "\r\n\x00"):
		return "", fmt.Errorf("%s is no password, want one line of at most %d bytes", path, maxLength)
	}
	return text, nil
}

// checkPasswordFile returns an error if a file cannot be a password file, as far as that can be told
// without reading it.
func checkPasswordFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", path)
	case info.Mode().Perm()&0o007 != 0:
		return fmt.Errorf("%s is open to all users (mode %04o): chmod o-rwx", path, info.Mode().Perm())
	}
	return nil
}
