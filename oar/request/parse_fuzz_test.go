package request_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vjob/oar"
	"vjob/oar/property"
	"vjob/oar/request"
)

// sameRequest compares requests regardless of positions in the text.
var sameRequest = []cmp.Option{
	cmpopts.IgnoreTypes(oar.Span{}, oar.Source{}),
	cmpopts.IgnoreUnexported(property.Filter{}),
}

// Any text: no panic; an error has a position and OAR's exit code; a request that is formatted parses
// as the same request without warnings.
func FuzzRequest(f *testing.F) {
	for _, text := range []string{
		"{cluster='azur'}/cluster=1/nodes=15/cpu=2/core=2,walltime=4:0:0", "nodes=1/core=1+{a='+'}/nodes=ALL,walltime=1:2:3:4",
		"switch=BEST/nodes=HALF_BEST , walltime = 1|2", "{a='b'},walltime=2", "{a='b'}+nodes=1", "{a = 1 OR NOT (b LIKE 'x%' AND c IN ('d'))}x=007/",
		"{a='}'}/nodes=1", "nodes=1,walltime=2,walltime=3", "++nodes=1,,core=2/", "{b BETWEEN 1 AND 2}", ",walltime=::1", "{a}+{b}", "/ /a=1", "+", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := request.Parse([]string{text}, request.DefaultConfig())
		if err != nil {
			var e *oar.Error
			if !errors.As(err, &e) || e.Exit != oar.ExitRequest || e.Position.Line < 1 || e.Position.Column < 1 || !strings.Contains(e.Position.Excerpt, "^") {
				t.Fatalf("%q is refused by %#v", text, err)
			}
			return
		}
		a := r.Alternatives[0]
		again, err := request.Parse([]string{a.String()}, request.DefaultConfig())
		if err != nil {
			t.Fatalf("%q is formatted as %q: %v", text, a, err)
		}
		if d := cmp.Diff(a, again.Alternatives[0], sameRequest...); d != "" {
			t.Fatalf("%q is formatted as %q:\n%s", text, a, d)
		}
		for _, w := range again.Warnings {
			if !strings.Contains(w.Text, "this is a level of the name") && !strings.Contains(w.Text, "this asks for nothing") {
				t.Fatalf("%q is formatted as %q: %s", text, a, w)
			}
		}
	})
}

// Allocations grow linearly with the text. They measure the work independently of the machine.
func TestWorkGrowsWithTheText(t *testing.T) {
	allocated := func(n int) float64 {
		text := "nodes=1" + strings.Repeat("+{a = 'b'}/cluster=1/nodes=2/core=4", n)
		return testing.AllocsPerRun(5, func() {
			if _, err := request.Parse([]string{text}, request.DefaultConfig()); err != nil {
				t.Fatal(err)
			}
		})
	}
	if small, large := allocated(99), allocated(990); large > 11*small {
		t.Errorf("%.0f allocations for 99 groups, %.0f for 990", small, large)
	}
}

func BenchmarkParse(b *testing.B) {
	values := []string{"{cluster='azur' AND mem > 64}/cluster=1/nodes=15/cpu=2/core=2+nodes=1,walltime=4:0:0"}
	for b.Loop() {
		if _, err := request.Parse(values, request.DefaultConfig()); err != nil {
			b.Fatal(err)
		}
	}
}
