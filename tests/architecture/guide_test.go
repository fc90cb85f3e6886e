package architecture_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Documents and package comments name files and folders, which have to exist.

var (
	goFile  = regexp.MustCompile(`\b[a-z_*]+(/[a-z_*]+)*\.go\b`)
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	opening = regexp.MustCompile(`^# [^\n]+\n\n[A-Z][^\n]+`)
	quoted  = regexp.MustCompile("`([a-z]+(?:/[a-z_-]+)*/?(?:[a-z_]+\\.(?:go|yaml|sh|md))?)`")
)

func TestPackageCommentsNameFilesThatAreThere(t *testing.T) {
	for _, s := range sources(t) {
		if s.file.Doc == nil {
			continue
		}
		for _, name := range goFile.FindAllString(s.file.Doc.Text(), -1) {
			if there, err := filepath.Glob(path.Join(root, s.dir(), name)); err != nil || len(there) == 0 {
				t.Errorf("%s: the package comment names %s, which does not exist (%v)", s.path, name, err)
			}
		}
	}
}

func TestDocumentsNameFoldersThatAreThere(t *testing.T) {
	for _, doc := range []string{
		"docs/ARCHITECTURE.md", "docs/PAPERS.md", "docs/RELIABILITY.md", "docs/GLOSSARY.md", "CONTRIBUTING.md", "README.md",
	} {
		text, err := os.ReadFile(path.Join(root, doc))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
			first, _, deep := strings.Cut(m[1], "/")
			if dir, err := os.Stat(path.Join(root, first)); !deep || err != nil || !dir.IsDir() {
				continue // a word, a command, or a path elsewhere
			}
			found++
			if _, err := os.Stat(path.Join(root, m[1])); err != nil {
				t.Errorf("%s names `%s`, which does not exist", doc, m[1])
			}
		}
		t.Logf("%s names %d paths", doc, found)
	}
}

// anchors returns the headings of a document as links name them.
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

// TestLinksLeadSomewhere checks links between documents and to their headings.
func TestLinksLeadSomewhere(t *testing.T) {
	texts, found := map[string]string{}, 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "tests/*/*.md"} {
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
				continue // an address
			}
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(to); err != nil || part != "" && !anchors(texts[to])[part] {
				t.Errorf("%s: the target of %s does not exist", name, m[1])
			}
			found++
		}
	}
	if t.Logf("%d links", found); found < 50 {
		t.Errorf("only %d links were found: the pattern of links no longer matches", found)
	}
}

// TestPagesAreListed checks that docs/README.md has each page and that each page begins with a
// title and a sentence.
func TestPagesAreListed(t *testing.T) {
	list, err := os.ReadFile(path.Join(root, "docs/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"tutorial", "how-to", "reference", "explanation"} {
		pages, err := filepath.Glob(path.Join(root, "docs", folder, "*.md"))
		if err != nil || len(pages) == 0 {
			t.Fatalf("docs/%s has no pages (%v)", folder, err)
		}
		for _, page := range pages {
			name := path.Join(folder, filepath.Base(page))
			if !strings.Contains(string(list), "("+name+")") {
				t.Errorf("docs/README.md does not list %s", name)
			}
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			if !opening.Match(text) {
				t.Errorf("docs/%s: does not begin with a title and a sentence", name)
			}
		}
	}
}
