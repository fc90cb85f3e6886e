package architecture_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// citation finds the title of a paper in quotes, and its year.
var citation = regexp.MustCompile(`(?s)"[^"]{10,}".*\b(19|20)\d\d\b`)

// Each folder of papers reproduces one paper, and its package comment cites it.
func TestPapersAreCited(t *testing.T) {
	cited := map[string]bool{}
	for _, s := range sources(t) {
		if parent := path.Dir(s.dir()); parent != "papers" || s.test || s.dir() == "papers/figure" {
			continue
		}
		cited[s.dir()] = cited[s.dir()] || s.file.Doc != nil && citation.MatchString(s.file.Doc.Text())
	}
	if len(cited) != 5 {
		t.Errorf("%d folders of papers, want 5", len(cited))
	}
	for pkg, ok := range cited {
		if !ok {
			t.Errorf("%s: the package comment names no title in quotes with its year", pkg)
		}
	}
}

// The daemon and the commands of OAR use no research code.
func TestDaemonsImportNoPapers(t *testing.T) {
	imports := map[string][]string{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, p := range s.imports(t) {
			if pkg, ok := ours(p); ok {
				imports[s.dir()] = append(imports[s.dir()], pkg)
			}
		}
	}
	for _, program := range of("cmd/vjobd", "cmd/vjob-oar") {
		todo, seen := of(program), map[string]bool{}
		for len(todo) > 0 {
			pkg := todo[0]
			todo = todo[1:]
			if seen[pkg] {
				continue
			}
			seen[pkg] = true
			todo = append(todo, imports[pkg]...)
			if strings.HasPrefix(pkg, "papers/") {
				users := of()
				for user := range seen {
					if slices.Contains(imports[user], pkg) {
						users = append(users, user)
					}
				}
				t.Errorf("%s imports %s, by way of %v", program, pkg, users)
			}
		}
		if len(seen) < 10 {
			t.Errorf("%s imports only %d packages: the imports are read wrongly", program, len(seen))
		}
	}
}
