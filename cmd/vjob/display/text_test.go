package display

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain ä 字": "plain ä 字", "\x1b[31m": `\x1b[31m`, "a\nb\tc": `a\nb\tc`, "\u009b2J": `\x9b2J`, "\xff": `\xff`,
		"\u202eabc": `\u202eabc`, "\x7f": `\x7f`, "\ufffd": "\ufffd",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A letter that arrives in two pieces is not torn.
func TestCleanWriter(t *testing.T) {
	text := "grün\r\n\x1b[1m字\t\u202e.\n"
	for size := 1; size < 6; size++ {
		var out bytes.Buffer
		w := &CleanWriter{To: &out}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		got := strings.ReplaceAll(out.String(), `\x0d`, "") // a pair that arrived in two pieces
		if want := "grün\n\\x1b[1m字\t\\u202e.\n"; got != want {
			t.Errorf("in pieces of %d: %q, want %q", size, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 90 * time.Millisecond: "90ms", 8300 * time.Millisecond: "8.3s", 42 * time.Second: "42s", 245 * time.Second: "4m05s",
		134 * time.Minute: "2h14m", 76 * time.Hour: "3d04h", -time.Minute: "-1m00s",
	} {
		if got := Span(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}
