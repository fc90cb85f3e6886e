package script_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"vjob/repack/rule"
	"vjob/repack/script"
	"vjob/repack/script/rulelist"
	"vjob/tests/golden"
)

const (
	document = "../../docs/reference/rules.md"
	begin    = "<!-- rules: written by go test ./repack/script -update -->\n"
	end      = "<!-- end of rules -->\n"
)

func TestDocumentShowsTheCatalogue(t *testing.T) {
	golden.Passage(t, document, begin, end, table())
}

func table() string {
	var b strings.Builder
	b.WriteString("| rule | holds | what it says | arguments |\n| --- | --- | --- | --- |\n")
	for _, k := range rule.Catalogue() {
		holds := map[rule.Modes]string{
			rule.Discrete: "at the end", rule.Continuous: "throughout", rule.Discrete | rule.Continuous: "either",
		}[k.Modes]
		var args []string
		for _, p := range k.Params {
			args = append(args, fmt.Sprintf("`%s`: %s", p.Name, p.Type))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", script.Signature(k), holds, k.Doc, strings.Join(args, "; "))
	}
	return b.String()
}

// The scripts and lists that the document shows are understood.
func TestDocumentIsRight(t *testing.T) {
	b, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```(rules|yaml)\n(.*?)```").FindAllStringSubmatch(string(b), -1)
	if len(blocks) < 3 {
		t.Fatalf("only %d blocks", len(blocks))
	}
	for _, m := range blocks {
		read := script.Parse
		if m[1] == "yaml" {
			read = rulelist.Parse
		}
		f, problems := read("docs/reference/rules.md", m[2])
		if len(problems) > 0 {
			t.Errorf("%v", problems)
			continue
		}
		p, err := f.Compile(exampleNames())
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if len(p.Warnings) > 0 || len(p.Postings) < 2 {
			t.Errorf("%d rules, warnings %v", len(p.Postings), p.Warnings)
		}
		if m[1] == "rules" && script.Format(f) != m[2] {
			t.Errorf("formatted, it is:\n%s", script.Format(f))
		}
	}
}

// Each limit that the document tells is the one there is.
func TestDocumentTellsTheLimits(t *testing.T) {
	b, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("at most %d MiB", script.MaxSource>>20),
		fmt.Sprintf("%d 000 rules", script.MaxRules/1000),
		fmt.Sprintf("%d 000 members", script.MaxSet/1000),
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("want %q in it", want)
		}
	}
}
