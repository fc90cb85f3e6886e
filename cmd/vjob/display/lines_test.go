package display_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"vjob/cmd/vjob/display"
)

// pieces writes a text in pieces of a size.
func pieces(t *testing.T, w io.Writer, text string, size int) {
	t.Helper()
	for rest := []byte(text); len(rest) > 0; {
		n := min(size, len(rest))
		if m, err := w.Write(rest[:n]); m != n || err != nil {
			t.Fatal(m, err)
		}
		rest = rest[n:]
	}
}

func TestLineWriter(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "1: a\n", "a\n": "1: a\n", "a\n\nb": "1: a\n1: \n1: b\n",
	} {
		for _, size := range []int{1, 2, 9} {
			var b bytes.Buffer
			w := display.LineWriter{To: &b, Prefix: "1: "}
			pieces(t, &w, text, size)
			if err := w.Flush(); err != nil || b.String() != want {
				t.Errorf("%q in pieces of %d: %q, want %q (%v)", text, size, b.String(), want, err)
			}
		}
	}
}

func TestTailWriter(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a", "a\nb\nc\n": "b\nc\n", "a\nb\nc": "b\nc", "\n\n\n": "\n\n", strings.Repeat("x\n", 1000) + "y\nz": "y\nz",
	} {
		for _, size := range []int{1, 2, 3, 1 << 20} {
			w := display.TailWriter{Lines: 2}
			pieces(t, &w, text, size)
			if got := string(w.Bytes()); got != want {
				t.Errorf("%.20q in pieces of %d: %q, want %q", text, size, got, want)
			}
		}
	}
}

// The end of a line is recognised in two pieces as well.
func TestCleanWriterLineEnds(t *testing.T) {
	for _, size := range []int{1, 2, 3, 100} {
		var b bytes.Buffer
		pieces(t, &display.CleanWriter{To: &b}, "a\r\nb\rc\r\n", size)
		if want := "a\nb\\x0dc\n"; b.String() != want {
			t.Errorf("in pieces of %d: %q, want %q", size, b.String(), want)
		}
	}
}
