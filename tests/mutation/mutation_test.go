package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/tests/golden"
)

const small = "./testdata/small"

// The mutants of a package with one of each thing that is mutated.
func TestMutants(t *testing.T) {
	o := options{pattern: small, list: true}
	var out bytes.Buffer
	if _, err := o.run(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	golden.Same(t, "testdata/mutants.golden", out.String())
}

// The list explains a mutant that survives, one that a test notices and one that does not
// exist. A second run with the same tests takes the results of the first.
func TestRun(t *testing.T) {
	o := options{pattern: small, cache: t.TempDir(), known: "# Because.\n" +
		"tests/mutation/testdata/small limit: `3` => `(3-1)`\n" +
		"tests/mutation/testdata/small box.sum: `total + 1` => `total - 1`\n" +
		"tests/mutation/testdata/small box.sum: `total` => `none`\n" +
		"another/package wait: `n` => `zero`\n"}
	var first, second bytes.Buffer
	survivors, err := o.run(context.Background(), &first)
	if err != nil {
		t.Fatal(err)
	}
	golden.Same(t, "testdata/run.golden", fmt.Sprintf("%sreturns %d\n", first.String(), survivors))

	kept := filepath.Join(o.cache, "tests_mutation_testdata_small.json")
	before, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.run(context.Background(), &second); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	if second.String() != first.String() || !bytes.Equal(before, after) {
		t.Errorf("a second run is another:\n%s%d results, then %d", second.String(), bytes.Count(before, []byte("\n")), bytes.Count(after, []byte("\n")))
	}
}

// What survives the package's own tests is shown to those of others.
func TestAlso(t *testing.T) {
	o := options{pattern: small + " -test.run=TestSum", also: []string{small + " -test.run=TestMake|TestWait"}, cache: t.TempDir(), sample: 20, seed: 2}
	var out bytes.Buffer
	if _, err := o.run(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	golden.Same(t, "testdata/also.golden", out.String())
}

// Without a mutant the tests have to pass.
func TestTestsThatFail(t *testing.T) {
	o := options{pattern: small + " -test.nosuchflag", cache: t.TempDir()}
	if _, err := o.run(context.Background(), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "fail before any mutant") {
		t.Errorf("got %v", err)
	}
}

func TestDraw(t *testing.T) {
	names := func(sample int, seed uint64) string {
		var list []*mutant
		for id := range 50 {
			list = append(list, &mutant{id: id + 1})
		}
		var b strings.Builder
		o := options{sample: sample, seed: seed}
		for _, m := range o.draw(list) {
			fmt.Fprintf(&b, "%d ", m.id)
		}
		return b.String()
	}
	if got := names(5, 1); got != names(5, 1) || strings.Count(got, " ") != 5 {
		t.Errorf("a sample of five: %s, then %s", got, names(5, 1))
	}
	if names(5, 1) == names(5, 2) {
		t.Errorf("two seeds draw the same: %s", names(5, 1))
	}
	if all := names(0, 1); all != names(99, 1) || strings.Count(all, " ") != 50 {
		t.Errorf("all: %s", all)
	}
}

func TestInFiles(t *testing.T) {
	for files, want := range map[string]string{"": "abc", "b.go": "b", "c.go,a.go": "ac", "d.go": "", "a.go:2,b.go:1": "b", "b.go,c.go:1": "bc"} {
		list := []*mutant{{file: "a.go", line: 1}, {file: "b.go", line: 1}, {file: "c.go", line: 1}}
		got := ""
		o := options{files: files}
		for _, m := range o.inFiles(list) {
			got += strings.TrimSuffix(m.file, ".go")
		}
		if got != want {
			t.Errorf("of %q: %q, want %q", files, got, want)
		}
	}
}

func TestEquivalents(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "map[]"},
		{"two for one reason", "# One\n# reason.\np f: `a` => `b`\np g: `a` => `b`\n", "map[f: `a` => `b`:One reason. g: `a` => `b`:One reason.]"},
		{"two reasons", "# One.\np f: `a` => `b`\n\n# Two.\np g: `a` => `b`\n", "map[f: `a` => `b`:One. g: `a` => `b`:Two.]"},
		{"other packages", "# One.\nq f: `a` => `b`\n", "map[]"},
		{"no reason", "p f: `a` => `b`\n", "equivalent.txt:1: a mutant without a reason: write it above, after #"},
		{"no reason of its own", "# One.\np f: `a` => `b`\n\np g: `a` => `b`\n", "equivalent.txt:4: a mutant without a reason: write it above, after #"},
		{"a reason below", "p f: `a` => `b`\n# One.\n", "equivalent.txt:1: a mutant without a reason: write it above, after #"},
		{"two reasons side by side", "# One.\np f: `a` => `b`\n# Two.\n", "equivalent.txt:3: a reason after a mutant: leave a line empty before it"},
	} {
		reasons, err := equivalents(c.text, "p")
		got := fmt.Sprint(reasons)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// The list that is kept names only packages that there are.
func TestListOfEquivalents(t *testing.T) {
	if _, err := equivalents(equivalentText, ""); err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(equivalentText) {
		pkg, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if pkg == "" || pkg == "#" {
			continue
		}
		if _, err := os.Stat(filepath.Join("../..", pkg)); err != nil {
			t.Errorf("%s: %v", strings.TrimSpace(line), err)
		}
	}
}
