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
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
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
				continue // a word, a command, or a path outside this repository
			}
			found++
			if _, err := os.Stat(path.Join(root, m[1])); err != nil {
				t.Errorf("%s names `%s`, which is not there", doc, m[1])
			}
		}
		t.Logf("%s names %d paths", doc, found)
	}
}

// anchors are the headings of a document as links name them.
func anchors(text string) map[string]bool {
	list := map[string]bool{}
	for line := range strings.Lines(text) {
		if heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && line[0] == '#' {
			plain := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			list[strings.ReplaceAll(plain, " ", "-")] = true
		}
	}
	return list
}

// Links from one document to another, or into it, lead somewhere.
func TestLinksLeadSomewhere(t *testing.T) {
	texts, found := map[string]string{}, 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/adr/*.md", "tests/*/*.md"} {
		names, err := filepath.Glob(path.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts[name] = string(text)
		}
	}
	for name, text := range texts {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			file, part, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, ":") {
				continue // it leads out of here
			}
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(to); err != nil || part != "" && !anchors(texts[to])[part] {
				t.Errorf("%s: nothing is at %s", name, m[1])
			}
			found++
		}
	}
	t.Logf("%d links", found)
	if found < 50 {
		t.Errorf("only %d links were found: the documents are read wrongly", found)
	}
}
