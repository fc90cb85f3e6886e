package script_test

import (
	"strings"
	"testing"

	"vjob/repack/script"
)

func TestStrength(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"preferred  continuous spread(VM1);": "continuous preferred spread(VM1);\n",
		"mandatory spread(VM1);":             "mandatory spread(VM1);\n",
		"preferred(VM1);":                    "preferred(VM1);\n", // a rule might be called so
	} {
		f, diagnostics := script.Parse("rules", text)
		if got := script.Format(f); got != want || len(diagnostics) > 0 {
			t.Errorf("%s: %q, %v; want %q", text, got, diagnostics, want)
		}
	}
	names := exampleNames()
	for text, want := range map[string]string{
		"preferred mandatory spread({VM1, VM2});": "a rule is mandatory or preferred, said once",
		"preferred soft(5) spread({VM1, VM2});":   "a rule with soft(…) is neither mandatory nor preferred",
	} {
		if _, err := script.Compile("rules", text, names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	program, err := script.Compile("rules", "preferred spread({VM1, VM2}); mandatory spread({VM1, VM2}); spread({VM1, VM2});", names)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false, false} {
		if p := program.Postings[i]; p.Preferred != want || p.Penalty != 0 {
			t.Errorf("rule %d: %+v", i, p)
		}
	}
}
