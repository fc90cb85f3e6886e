package architecture_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Guides lead a reader to files and folders by name: what they name has to be there.

var (
	goFile = regexp.MustCompile(`\b[a-z_*]+(/[a-z_*]+)*\.go\b`)
	quoted = regexp.MustCompile("`([a-z]+(?:/[a-z_-]+)*/?(?:[a-z_]+\\.(?:go|yaml|sh|md))?)`")
)

func TestPackageCommentsNameFilesThatAreThere(t *testing.T) {
	for _, s := range sources(t) {
		if s.file.Doc == nil {
			continue
		}
		for _, name := range goFile.FindAllString(s.file.Doc.Text(), -1) {
			if there, err := filepath.Glob(path.Join(root, s.dir(), name)); err != nil || len(there) == 0 {
				t.Errorf("%s: the package comment names %s, and there is no such file (%v)", s.path, name, err)
			}
		}
	}
}

func TestDocumentsNameFoldersThatAreThere(t *testing.T) {
	for _, doc := range []string{"docs/ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"} {
		text, err := os.ReadFile(path.Join(root, doc))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
			first, _, deep := strings.Cut(m[1], "/")
			if dir, err := os.Stat(path.Join(root, first)); !deep || err != nil || !dir.IsDir() {
				continue // a word, a command, or somebody else's path
			}
			found++
			if _, err := os.Stat(path.Join(root, m[1])); err != nil {
				t.Errorf("%s names `%s`, which is not there", doc, m[1])
			}
		}
		t.Logf("%s names %d paths", doc, found)
	}
}
