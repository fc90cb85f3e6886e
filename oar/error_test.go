package oar_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"vjob/cluster"
	"vjob/oar"
)

func TestPlaces(t *testing.T) {
	long := strings.Repeat("ä", 200) + "X" + strings.Repeat("ö", 200)
	for _, c := range []struct {
		text     string
		off, end int
		want     string
	}{
		{"nodes=two", 6, 9, "1:7\n    1 | nodes=two\n      |       ^^^"},
		{"a\nbé two\r\nc", 6, 9, "2:4\n    2 | bé two\n      |    ^^^"},
		{"", 0, 0, "1:1\n    1 | \n      | ^"},
		{"ab", 2, 2, "1:3\n    1 | ab\n      |   ^"},
		{"ab\n", 3, 3, "2:1\n    2 | \n      | ^"},
		{"ab", 9, 12, "1:3\n    1 | ab\n      |   ^"},
		{"a\x1b[2J\tb\u202e", 1, 2, "1:2\n    1 | a·[2J b·\n      |  ^"},
		{"a\nb", 0, 3, "1:1\n    1 | a\n      | ^"},
		{long, 400, 401, "1:201\n    1 | …" + strings.Repeat("ä", 39) + "X" + strings.Repeat("ö", 60) + "…\n      |  " + strings.Repeat(" ", 39) + "^"},
		{long, 0, 800, "1:1\n    1 | " + strings.Repeat("ä", 100) + "…\n      | " + strings.Repeat("^", 100)},
	} {
		p := oar.Source{Name: "-l", Text: c.text}.At(oar.Span{Off: c.off, End: c.end})
		if got := fmt.Sprintf("%d:%d\n%s", p.Line, p.Column, p.Excerpt); got != c.want {
			t.Errorf("%.20q at %d:\n%s\nwant\n%s", c.text, c.off, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	src := oar.Source{Name: "-l", Text: "nodes=two"}
	err := &oar.Error{
		Exit: oar.ExitRequest, OAR: "# Error: no " + strings.Repeat("\x1b", 500),
		Position: src.At(oar.Span{Off: 6, End: 9}), Text: "want a number",
	}
	want := "# Error: no " + strings.Repeat("·", 388) + "…\n-l:1:7: want a number\n    1 | nodes=two\n      |       ^^^"
	if err.Error() != want {
		t.Errorf("got\n%s\nwant\n%s", err, want)
	}
	wrapped := fmt.Errorf("oarsub: %w", err)
	if code, ok := oar.ExitOf(wrapped); !ok || code != 18 || !errors.Is(wrapped, cluster.ErrInvalid) {
		t.Errorf("exit %d, %v", code, ok)
	}
	if _, ok := oar.ExitOf(errors.New("other")); ok {
		t.Error("any error has an exit code")
	}
	w := oar.Warning{Position: err.Position, Text: "hm"}
	if got := w.String(); got != "-l:1:7: warning: hm\n    1 | nodes=two\n      |       ^^^" {
		t.Error(got)
	}
	if got := (&oar.Error{Text: "nowhere"}).Error(); got != "nowhere" {
		t.Error(got)
	}
}

func FuzzPlace(f *testing.F) {
	f.Add("nodes=two", 6, 9)
	f.Add("\xff\n\u202ex", -1, 99)
	f.Fuzz(func(t *testing.T, text string, off, end int) {
		p := oar.Source{Name: "x", Text: text}.At(oar.Span{Off: off, End: end})
		if p.Line < 1 || p.Column < 1 || strings.Count(p.Excerpt, "\n") != 1 || !strings.Contains(p.Excerpt, "^") || utf8.RuneCountInString(p.Excerpt) > 250 {
			t.Errorf("%q %d %d: %+v", text, off, end, p)
		}
	})
}
