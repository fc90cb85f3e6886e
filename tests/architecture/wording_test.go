package architecture_test

import (
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// misworded are phrases that no message has, with what to write instead.
var misworded = []struct {
	phrase  *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(^|[^\d.,:/-])1 (VMs|vjobs|jobs|actions|changes|attempts|times|machines|events|calls|moves|images|tokens|files|users|hours|minutes|seconds)\b`), "cluster.Count"},
	{regexp.MustCompile(`\b(vjob|job) [\w.]+ is (failed|terminated)\b`), "State.Clause"},
	{regexp.MustCompile(`is wrong: want`), "the fault and the fix: cluster.BadField, cluster.Fault"},
	{regexp.MustCompile(`\(absent\)|who are you|still so after|\b0 [GMT]iB·h`), "the term that users know"},
	{regexp.MustCompile(`%!\w?\(|<nil>|&\{|\bmap\[|0001-01-01|\bNaN\b|\\u00(3c|3e|26)|invalid memory|goroutine \d`), "text instead of what Go prints"},
}

// oars are folders with words of OAR and of tests; repack has tests of its own for its texts.
var oars = regexp.MustCompile(`^(tests/oar|oar/report|repack)/`)

// TestMessagesReadWell reads what users meet: the reviewed output of tests, the documents, and the texts in the source.
func TestMessagesReadWell(t *testing.T) {
	lines := 0
	check := func(at, text string) {
		lines++
		for _, m := range misworded {
			if found := m.phrase.FindString(text); found != "" {
				t.Errorf("%s: %q in %q: write %s", at, found, text, m.instead)
			}
		}
	}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, p)
		golden := strings.HasSuffix(name, ".golden")
		document := strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, "docs/adr/")
		if err != nil || d.IsDir() || !golden && !document || oars.MatchString(filepath.ToSlash(name)) {
			return err
		}
		text, err := os.ReadFile(p) //nolint:gosec // a file of the repository
		for i, line := range strings.Split(string(text), "\n") {
			if _, _, condition := strings.Cut(line, " expected: "); !condition { // of a scenario, in its own language
				check(name+":"+strconv.Itoa(i+1), line)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources(t) {
		if s.test || oars.MatchString(s.path) || path.Dir(s.path) == "tests" || strings.HasPrefix(s.path, "tests/") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				check(s.at(text), text.Value)
			}
			return true
		})
	}
	if lines < 20000 {
		t.Errorf("only %d texts were found", lines)
	}
}
