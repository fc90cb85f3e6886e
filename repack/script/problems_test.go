package script_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/repack"
	"vjob/repack/script"
)

var update = flag.Bool("update", false, "write the golden files and the table in docs/rules.md")

// Each file in testdata/problems has scripts and, below each, what is told of it.
func TestProblems(t *testing.T) {
	files, err := filepath.Glob("testdata/problems/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for i, c := range strings.Split(string(want), "=== ") {
				if i == 0 {
					continue
				}
				title, rest, _ := strings.Cut(c, "\n")
				text, _, _ := strings.Cut(rest, "---\n")
				fmt.Fprintf(&got, "=== %s\n%s---\n%s\n", title, text, told(text))
			}
			if *update {
				if err := os.WriteFile(name, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got.String() != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
			}
		})
	}
}

// told is all that is said of a script.
func told(text string) string {
	p, err := script.CompileWith("rules", text, world(), kinds)
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, w := range p.Warnings {
		fmt.Fprintln(&b, w)
	}
	fmt.Fprintf(&b, "%d rules\n", len(p.Postings))
	return b.String()
}

// What is wrong with a script is no different when nothing is made of it.
func TestCheckTellsWhatCompileTells(t *testing.T) {
	const text = "$x = VM1;\nspread(VM[1..3);\nspread(VM99);\nspread($y);\n"
	problems := script.Check("rules", text, world())
	_, err := script.Compile("rules", text, world())
	var e *script.Error
	if !errors.As(err, &e) || len(e.Problems) != len(problems) || len(problems) != 3 {
		t.Fatalf("%v\n%v", err, problems)
	}
	if got, want := problems[2].String(), e.Problems[2].String(); got != want {
		t.Errorf("%s\n%s", got, want)
	}
	if !script.Refused(problems) || script.Refused(script.Check("rules", "$x = VM1;", world())) {
		t.Error("only errors are a reason to refuse a script")
	}
}

// What only a rule can know is told at its call.
func TestRulesAreMade(t *testing.T) {
	in := &repack.Instance{
		Dims: []string{"cpu"}, Nodes: make([]repack.Node, 2),
		VMs: []repack.VM{{}, {}, {Name: "db"}},
	}
	p, err := script.Compile("rules", "soft(3) continuous spread({VM0, VM1});\n  spread({VM1, db});", script.OfInstance(in, 1))
	if err != nil {
		t.Fatal(err)
	}
	posted, err := p.Rules(in)
	if err != nil {
		t.Fatal(err)
	}
	if len(posted) != 2 || posted[0].Penalty != 3 || posted[1].String() != "spread({VM 1, VM db})" {
		t.Errorf("%v", posted)
	}
	if line, column := p.Postings[1].Place(); line != 2 || column != 3 {
		t.Errorf("the second stands at %d:%d", line, column)
	}
	in.VMs = in.VMs[:2] // another instance than that of the names
	_, err = p.Rules(in)
	var e *script.Error
	if !errors.As(err, &e) || len(e.Problems) != 1 || e.Problems[0].Line != 2 || !strings.Contains(err.Error(), "^^^^") {
		t.Errorf("%v", err)
	}
}
