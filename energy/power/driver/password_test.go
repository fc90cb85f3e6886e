package driver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/energy/power/driver"
)

func TestReadPassword(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string // of the password, or after ! of the error
	}{
		"a line":            {"geheim\n", 0o600, "geheim"},
		"no end":            {"geheim", 0o640, "geheim"},
		"with a space":      {" ge heim \r\n", 0o400, " ge heim "},
		"empty":             {"\n", 0o600, "!is empty"},
		"two lines":         {"geheim\nund mehr\n", 0o600, "!one line"},
		"long":              {strings.Repeat("x", 5000), 0o600, "!4096"},
		"open to all users": {"geheim\n", 0o644, "!chmod o-rwx"},
	} {
		path := filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		got, err := driver.ReadPassword(path)
		want, wrong := strings.CutPrefix(c.want, "!")
		switch {
		case wrong && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "geheim")):
			t.Errorf("%s: %v, want %s", name, err, want)
		case !wrong && (err != nil || got != want):
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, path := range []string{"", t.TempDir(), "/none"} {
		if _, err := driver.ReadPassword(path); err == nil {
			t.Errorf("%q: no error", path)
		}
	}
}
