package script_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/repack/script"
)

// huge is a cluster of as many VMs as a set may have.
func huge() *script.Table {
	vms := make([]string, script.MaxSet)
	for i := range vms {
		vms[i] = fmt.Sprintf("VM%d", i)
	}
	return script.NewTable(vms, []string{"N0"}, []string{"cpu"}, time.Second)
}

// Whatever is written, the answer comes soon, and says which limit there is.
func TestLimits(t *testing.T) {
	names := huge()
	many := func(n int, s string) string { return strings.Repeat(s, n) }
	for _, c := range []struct{ name, text, want string }{
		{"source", many(script.MaxSource+1, " "), "the script has 1048577 bytes; 1048576 are allowed"},
		{"parentheses", "$a = " + many(1<<20-10, "("), "stand in each other more than 64 deep"},
		{"braces", "$a = " + many(1<<20-10, "{"), "stand in each other more than 64 deep"},
		{"casts", "$a = " + many(1<<18-10, "vms("), "stand in each other more than 64 deep"},
		{"loops in loops", many(1<<14, "for $a in {VM1} {\n"), "stand in each other more than 64 deep"},
		{"a long sum", "$a = VM1" + many(1<<17, " + VM1") + ";", "at most 1000 operators"},
		{"a long product", "$a = VM1" + many(1<<17, "&VM1") + ";", "at most 1000 operators"},
		{"a billion", "spread(VM[1..1000000000]);", "a set has at most 100000 members, and this range has 1000000000"},
		{"more digits", "spread(VM[1..10000000000000000000000]);", "a range goes from one number to another"},
		{"ranges beside ranges", "spread(VM" + many(100000, "[1..10]") + ");", "a set has at most 100000 members, and this range has 1000000"},
		{"ranges in a range", "spread(VM[" + many(200, "1..99999,") + "1]);", "a set has at most 100000 members"},
		{"ranges in braces", "spread({" + many(50000, "[1..100000],") + "1});", "a set has at most 100000 members"},
		{"ranges in a loop", "for $i in {" + many(50000, "[1..100000],") + "1} { }", "a set has at most 100000 members"},
		{"a long name", "spread(" + many(256, "a") + ");", "a name has at most 255 bytes, and this has 256"},
		{"a long quoted name", "spread(\"" + many(256, "a") + "\");", "a name has at most 255 bytes, and this has 256"},
		{"a name of many parts", "spread(" + many(250000, `"a"`) + ");", "a name has at most 255 bytes"},
		{"a name of many ranges", "spread(" + many(200000, `a[1]`) + ");", "a name has at most 255 bytes"},
		{"loops that do nothing", "for $a in [1..10000] { for $b in [1..10000] { for $c in [1..10000] { } } }", "more than 10000000 steps"},
		{"loops that fail", "for $a in [1..10000] { for $b in [1..10000] { spread($x, 1, 2, 3); $y = $x; sprad(X9); } }", "more than 10000000 steps"},
		{"loops of large sets", "for $a in [1..1000] { $x = $ALL_VMS - VM1; spread($x); }", "more than 10000000 steps"},
		{"loops that grow", "$x = {{VM1}}; for $a in VM[1..99999] { $x = $x + {{$a, VM1}}; } split($x);", "more than 10000000 steps"},
		{"rules", "for $a in [1..100] { for $b in [1..101] { spread(VM1); } }", "at most 10000 rules"},
		{"garbage", many(1<<19, "~ "), "there may be more errors"},
		{"errors", many(1<<17, "sprad;\n"), "there may be more errors"},
		{"unknown names", "spread({" + many(1<<16, "Vn1234, ") + "VM1});", "there may be more errors"},
		{"modifiers", many(1<<15, "continuous #\n"), "there may be more errors"},
		{"variables without a name", many(1<<20, "$"), "there may be more errors"},
		{"families", "spread($a[1..99999]);", "$a1 has no value here"},
		{"letters of four bytes", many(1<<10, "spread({"+strings.Repeat("🎲", 60)+"});\n"), " more like these"},
		{"one long line", many(1<<14, "spread(VM1); ") + "spread(VM1", "want ) after the last argument"},
	} {
		t.Run(c.name, func(t *testing.T) {
			const soon = 20 * time.Second // on a slow machine with others on it
			begin := time.Now()
			problems := script.Check("limits", c.text, names)
			if took := time.Since(begin); took > soon {
				t.Errorf("the answer took %s", took)
			} else {
				t.Log(took)
			}
			if len(problems) > 2*script.MaxProblems {
				t.Errorf("%d problems", len(problems))
			}
			for _, p := range problems {
				if len(p.String()) > 5000 {
					t.Errorf("a problem of %d bytes: %.200s", len(p.String()), p)
				}
			}
			text := (&script.Error{Diagnostics: problems}).Error()
			if !strings.Contains(text, c.want) {
				t.Errorf("want %q, got %.2000s", c.want, text)
			}
			if first := len(problems[0].String()); len(text) > max(first, script.MaxText)+100 {
				t.Errorf("a message of %d bytes", len(text))
			}
		})
	}
}

// What is within the limits is not refused.
func TestWithinTheLimits(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"brackets", "spread(" + strings.Repeat("(", script.MaxDepth-2) + "VM1" + strings.Repeat(")", script.MaxDepth-2) + ");"},
		{"operators", "spread(VM1" + strings.Repeat(" + VM1", script.MaxTerms) + ");"},
		{"members", "spread($ALL_VMS);"},
		{"members of a range", "spread(VM[0..99999]);"},
		{"rules", "for $a in [1..100] { for $b in [1..100] { spread(VM[$a] + VM[$b]); } }"},
		{"large sets", "for $a in VM[1..20] { spread($ALL_VMS - $a); }"},
		{"comments", strings.Repeat("# c\n", 1<<17) + "spread(VM1);"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := script.CompileWith("limits", c.text, huge(), kinds); err != nil {
				t.Error(err)
			}
		})
	}
}
