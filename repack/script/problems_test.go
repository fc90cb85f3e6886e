package script_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/repack"
	"vjob/repack/script"
	"vjob/tests/golden"
)

// Each file in testdata/problems has scripts and, below each, its problems.
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
			golden.Same(t, name, got.String())
		})
	}
}

// told is all that is said of a script.
func told(text string) string {
	p, err := script.CompileWith("rules", text, exampleNames(), kinds)
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
	problems := script.Check("rules", text, exampleNames())
	_, err := script.Compile("rules", text, exampleNames())
	var e *script.Error
	if !errors.As(err, &e) || len(e.Diagnostics) != len(problems) || len(problems) != 3 {
		t.Fatalf("%v\n%v", err, problems)
	}
	if got, want := problems[2].String(), e.Diagnostics[2].String(); got != want {
		t.Errorf("%s\n%s", got, want)
	}
	if !script.Refused(problems) || script.Refused(script.Check("rules", "$x = VM1;", exampleNames())) {
		t.Error("only errors are a reason to refuse a script")
	}
}

// Problems that only a rule can know are reported at its call.
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
	in.Nodes = nil // another instance than that of the names
	p, err = script.Compile("rules", "spread({VM0, VM1});\n  ban(VM1, N1);", script.OfInstance(&repack.Instance{
		Nodes: make([]repack.Node, 2), VMs: in.VMs,
	}, 1))
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Rules(in)
	var e *script.Error
	if !errors.As(err, &e) || len(e.Diagnostics) != 1 || e.Diagnostics[0].Line != 2 || !strings.Contains(err.Error(), "^^^^") {
		t.Errorf("%v", err)
	}
}

// Rules do without VMs that are known and not in the instance.
func TestAbsentVMs(t *testing.T) {
	in := &repack.Instance{Dims: []string{"cpu"}, Nodes: make([]repack.Node, 3), VMs: make([]repack.VM, 2)}
	names := script.OfVjob([]int{0, 7, 1, 8}, nil, 1) // VM1 and VM3 have ended
	for text, want := range map[string]string{
		"spread($VMS);":                      "spread({VM 0, VM 1})",
		"spread({VM1, VM3});":                "",
		"precedence(VM0, VM1);":              "",
		"precedence(VM2, VM0);":              "precedence(VM 1, VM 0)",
		"split({{VM0, VM1}, {VM3}, {VM2}});": "split({{VM 0}, {VM 1}})",
		"split({{VM1}, {VM3}}); root($VMS);": "root({VM 0, VM 1})",
	} {
		p, err := script.Compile("rules", text, names)
		if err != nil {
			t.Fatal(err)
		}
		posted, err := p.Rules(in)
		got := ""
		for _, r := range posted {
			got += r.String()
		}
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
}

// Nodes have labels: a set is divided by them, or is those that have one.
func TestLabels(t *testing.T) {
	names := script.NewTable([]string{"VM0"}, []string{"a1", "b1", "a2", "c1"}, nil, 1)
	for n, rack := range []string{"A", "B", "A"} {
		names.Mark(n, map[string]string{"rack": rack, "gpu type": "h 100"})
	}
	for text, want := range map[string]string{
		`among(VM0, $ALL_NODES / rack);`:                               "[[0 2] [1]]",
		`ban(VM0, nodes(rack=A));`:                                     "[0 2]",
		`ban(VM0, nodes("gpu type"="h 100") - nodes(rack=B));`:         "[0 2]",
		`for $r in $ALL_NODES / rack { ban(VM0, $r); }`:                "[0 2][1]",
		`for $k in {rack} { ban(VM0, nodes(rack=B)); spread({VM0}); }`: "",
		`ban(VM0, nodes(rack=Z));`:                                     "no node has the label rack=Z; there is, for one, rack=A",
		`ban(VM0, nodes(room=1));`:                                     "no node has a label room",
		`among(VM0, $ALL_NODES / room);`:                               "none of the nodes has a label room",
		`split($ALL_VMS / rack);`:                                      "only nodes have labels",
		`ban(VM0, nodes(rack={a1}));`:                                  "want the value of the label rack: nodes(rack=r1)",
	} {
		p, err := script.Compile("rules", text, names)
		if err != nil {
			if want == "" || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q", text, err, want)
			}
			continue
		}
		got := ""
		for _, c := range p.Postings {
			for _, name := range []string{"groups", "nodes"} {
				if v, ok := c.Values[name]; ok {
					got += fmt.Sprint(v)
				}
			}
		}
		if want != "" && got != want {
			t.Errorf("%s: %s; want %s", text, got, want)
		}
	}
}
