package display_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"
	"pgregory.net/rapid"

	"vjob/cluster"
	"vjob/cmd/vjob/display"
)

// A text that does not fit is wrapped below itself, or on lines of its own where too little is left, never cut.
func TestWrap(t *testing.T) {
	table := &display.Table{Heads: display.Heads(">ID NAME WHY")}
	table.Heads[1].Dropped = true
	table.Row("7", "simulation", "waits: needs 24 CPU more; 1st in line behind 12")
	table.Row("12", "x", "runs")
	for width, want := range map[int]string{
		0: `ID  NAME        WHY
 7  simulation  waits: needs 24 CPU more; 1st in line behind 12
12  x           runs
`,
		50: `ID  NAME        WHY
 7  simulation  waits: needs 24 CPU more; 1st in
                line behind 12
12  x           runs
`,
		40: `ID  WHY
 7  waits: needs 24 CPU more; 1st in
    line behind 12
12  runs
`,
		20: `ID  WHY
 7
    waits: needs 24
    CPU more; 1st in
    line behind 12
12  runs
`,
	} {
		var b strings.Builder
		if err := table.Write(&b, width); err != nil || b.String() != want {
			t.Errorf("%d columns: %v\n%s\nwant\n%s", width, err, b.String(), want)
		}
	}
}

// However narrow the terminal, all words of the last column are there in order, and no line of a wrapped text is
// wider than the terminal.
func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-zä字]{1,12} ?){0,12}`).Draw(t, "text")
		width := rapid.IntRange(12, 90).Draw(t, "width")
		table := &display.Table{Heads: display.Heads("ID TEXT")}
		table.Row("1", text)
		var b strings.Builder
		if err := table.Write(&b, width); err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(b.String(), "\n")
		join := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got := join(strings.TrimPrefix(strings.TrimSpace(rest), "1")); got != join(text) {
			t.Errorf("%q became %q", text, rest)
		}
		for line := range strings.SplitSeq(rest, "\n") {
			if runewidth.StringWidth(line) > width {
				t.Errorf("a line of %d at a width of %d: %q", runewidth.StringWidth(line), width, line)
			}
		}
	})
}

// Values are ordered by size, not by their texts; what is absent comes last.
func TestCompare(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ less, more any }{
		{9, 10},
		{int64(9), int64(10)},
		{cluster.MiB(900), cluster.MiB(2048)},
		{cluster.MilliCPU(500), cluster.MilliCPU(2000)},
		{59 * time.Second, time.Minute},
		{at, at.Add(time.Second)},
		{&at, new(at.Add(time.Second))},
		{0.5, 1.5},
		{display.Clock(9), display.Clock(100)},
		{"n9", "n10"},
		{"a", "b"},
		{"a", "a1"},
		{"n007", "n8"},
		{"x", nil},
		{3, nil},
		{"x", ""},
		{at, time.Time{}},
		{&at, (*time.Time)(nil)},
		{display.Shown{Text: "z", Value: 1}, display.Shown{Text: "a", Value: 2}},
		{display.Share(0.09), display.Share(0.1)},
		{false, true},
	} {
		if display.Compare(c.less, c.more) >= 0 || display.Compare(c.more, c.less) <= 0 || display.Compare(c.less, c.less) != 0 {
			t.Errorf("%v and %v: %d, %d", c.less, c.more, display.Compare(c.less, c.more), display.Compare(c.more, c.less))
		}
	}
}

// People read units, programs numbers and times in UTC.
func TestTextAndRaw(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 5e8, time.FixedZone("", 3600))
	for _, c := range []struct {
		value     any
		text, raw string
	}{
		{"", "-", ""},
		{"a", "a", "a"},
		{true, "yes", "true"},
		{false, "-", "false"},
		{7, "7", "7"},
		{int64(-7), "-7", "-7"},
		{1.25, "1.25", "1.25"},
		{cluster.MiB(2048), "2 GiB", "2048"},
		{cluster.MilliCPU(1500), "1.5", "1500"},
		{90 * time.Minute, "1h30m", "5400"},
		{display.Clock(3600), "1:00:00", "3600"},
		{nil, "-", ""},
		{(*time.Time)(nil), "-", ""},
		{time.Time{}, "-", ""},
		{at, "2026-11-21 11:00:00", "2026-11-21T11:00:00.5Z"},
		{display.Share(0.5), "50.0 %", "0.5"},
		{display.Shown{Text: "never"}, "never", ""},
		{display.Shown{Text: "3 of 4", Value: 3}, "3 of 4", "3"},
	} {
		if text, raw := display.Text(c.value), display.Raw(c.value); text != strings.ReplaceAll(c.text, "11:00:00", at.Local().Format("15:04:05")) || raw != c.raw {
			t.Errorf("%#v: %q, %q; want %q, %q", c.value, text, raw, c.text, c.raw)
		}
	}
}
