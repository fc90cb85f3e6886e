package cli_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/cmd/vjob/cli"
)

// A link that waits under the name of the part of a file does not lead the program to write
// where it points.
func TestPartCannotBeForeseen(t *testing.T) {
	dir := t.TempDir()
	victim, path := filepath.Join(dir, "victim"), filepath.Join(dir, "plan.json")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(dir, fmt.Sprintf(".plan.json.%d.part", os.Getpid()))); err != nil {
		t.Fatal(err)
	}
	target, err := cli.Writable("--out", path)
	if err != nil {
		t.Fatal(err)
	}
	var part string
	err = target.Write(func(w io.Writer) error {
		part = w.(*os.File).Name()
		_, err := io.WriteString(w, "a plan")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(victim); string(text) != "precious" {
		t.Errorf("the victim holds %q", text)
	}
	if text, _ := os.ReadFile(path); string(text) != "a plan" {
		t.Errorf("the file holds %q", text)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".plan.json.*.part"))
	if err != nil || len(left) != 1 || strings.Contains(part, fmt.Sprint(os.Getpid())) {
		t.Errorf("part %s, left %v, %v", part, left, err)
	}
}
