package rulelist_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/repack/script"
	"vjob/repack/script/rulelist"
	"vjob/tests/golden"
)

func exampleNames() *script.Table {
	var vms, nodes []string
	for i := range 30 {
		vms = append(vms, fmt.Sprintf("VM%d", i))
		nodes = append(nodes, fmt.Sprintf("N%d", i))
	}
	return script.NewTable(append(vms, "my VM", "12.0"), nodes, []string{"cpu"}, time.Second)
}

// A list says the same as a script.
func TestLists(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"block", `
# tiers
- rule: spread
  vms: [VM1, "VM[2..3]", 12.0]
  continuous: true
  penalty: 5
- rule: ban
  vms: $ALL_VMS - VM1   # all others
  nodes: N1
`, `
continuous soft(5) spread(vms={VM1, VM[2..3], 12.0});
ban(vms=$ALL_VMS - VM1, nodes=N1);
`},
		{"flow", `[{rule: capacity, nodes: 'N[1..3]', max: 10}, {"rule": "apart", "sets": [["VM1", "'my VM'"], ["VM2"]], "continuous": false}]`, `
capacity(nodes=N[1..3], max=10);
discrete apart(sets={{VM1, "my VM"}, {VM2}});
`},
		{"strength", "- {rule: ban, vms: VM1, nodes: N1, preferred: true}\n- {rule: ban, vms: VM1, nodes: N1, preferred: false}", `
preferred ban(vms=VM1, nodes=N1);
mandatory ban(vms=VM1, nodes=N1);
`},
		{"one key", "- rule: all", "\nall();\n"},
		{"text over lines", "- rule: spread\n  vms: |\n    VM1\n    + VM2\n", "\nspread(vms=VM1 + VM2);\n"},
		{"times", "- {rule: within, time: 5m, ratio: 1.5}", "\nwithin(time=5m, ratio=1.5);\n"},
		{"nothing", "# nothing yet\n", "\n"},
		{"empty list", "[]", "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, problems := rulelist.Parse("rules.yaml", c.text)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if got := "\n" + script.Format(f); got != c.want {
				t.Errorf("got:%swant:%s", got, c.want)
			}
		})
	}
}

// What is wrong with a list has its place in the YAML.
func TestProblems(t *testing.T) {
	texts := []string{
		"- {rule: spread, vms: VM[1..99]}\n",
		"- rule: spread\n  vms: [VM1, 'VM99']\n",
		"- rule: spread\n  vms: \"VM1 + VM98\"\n",
		"- rule: spread\n  vms: |\n    VM1\n    + VM98\n",
		"- rule: spread\n  vms: VM1 +\n",
		"- rule: spread\n  vm: VM1\n",
		"- rule: spread\n  vms: {a: b}\n",
		"- rule: spread\n  continuous: perhaps\n  vms: VM1\n",
		"- rule: spread\n  penalty: 0\n  vms: VM1\n",
		"- rule: spread\n  rule: spread\n",
		"- vms: VM1\n",
		"- spread\n",
		"rule: spread\n",
		"- rule: [\n",
		"[]\n---\n[]\n",
		"- &a {rule: spread, vms: VM1}\n- *a\n",
		"- {rule: spread, vms: !!str VM1}\n",
		strings.Repeat("[", 100000),
		strings.Repeat("- ", 100000),
		"- {rule: spread, vms: \"" + strings.Repeat("(", 100000) + "\"}\n",
		"- {rule: spread, vms: \"VM1\\u001b\"}\n",
		"\x00",
		strings.Repeat(" ", script.MaxSource+1),
	}
	var b strings.Builder
	for _, text := range texts {
		fmt.Fprintf(&b, "=== %.70q\n", text)
		f, problems := rulelist.Parse("rules.yaml", text)
		if len(problems) == 0 {
			if _, err := f.Compile(exampleNames()); err != nil {
				fmt.Fprintln(&b, err)
				continue
			}
		}
		for _, p := range problems {
			fmt.Fprintln(&b, p)
		}
	}
	golden.Same(t, "testdata/problems.txt", b.String())
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"- rule: spread\n  vms: [VM1, \"VM[2..3]\"]\n  continuous: true\n", "[{rule: capacity, nodes: 'N[1..3]', max: 10, penalty: 3}]",
		"- &a {rule: x}\n- *a", "- ? a\n  : b", "- |\n  VM1", "---\n...", "- rule: !!str a", "- <<: {a: b}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, problems := rulelist.Parse("fuzz", text)
		if len(problems) > 0 {
			return
		}
		_, _ = file.Compile(exampleNames())
		said := script.Format(file)
		if _, problems := script.Parse("again", said); len(problems) > 0 {
			t.Fatalf("%q became a script with problems: %v", text, problems)
		}
	})
}
