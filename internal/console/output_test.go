package console_test

import (
	"bytes"
	"strings"
	"testing"

	"vjob/internal/console"
)

var consoles = map[string]string{
	"":                      "",
	"booting\nlogin:":       "",
	"vjob: output\nhello\n": "hello\n",
	"boot\r\nvjob: output\r\nhello\r\nvjob: exit code 0\r\n[  OK  ] Stopped\r\n":              "hello\r\n",
	"vjob: output\nno end of linevjob: exit code 3\nbye\n":                                    "no end of line",
	"vjob: output\n1\nvjob: exit code 1\nboot again\nvjob: output\n2\nvjob: exit code 0\nbye": "1\n2\n",
	"vjob: outputs\nvjob: output\nvjob: output\nx\nvjob: exit":                                "vjob: output\nx\nvjob: exit",
	"vjob: output is large\nvjob: output   \nvjob: vjob: exit code 0\nvjob: exit code 9":      "vjob: ",
	"cut vjob: outvjob: output\nvjob: exit cod vjob: exit codevjob: exit code 0\n":            "vjob: exit cod vjob: exit code",
	"vjob: output\n" + strings.Repeat("long ", 20000) + "vjob: exit code 0":                   strings.Repeat("long ", 20000),
	strings.Repeat("boot ", 20000) + "vjob: output\nx":                                        "x",
}

// The output is the same however the text is cut into pieces.
func TestOutput(t *testing.T) {
	for text, want := range consoles {
		for _, size := range []int{1, 2, 3, 7, 100, 1 << 20} {
			var b bytes.Buffer
			o := console.Output{To: &b}
			for rest := []byte(text); len(rest) > 0; {
				n := min(size, len(rest))
				if m, err := o.Write(rest[:n]); m != n || err != nil {
					t.Fatal(m, err)
				}
				rest = rest[n:]
			}
			if err := o.Close(); err != nil || b.String() != want {
				t.Errorf("%.80q in pieces of %d: %.80q, want %.80q (%v)", text, size, b.String(), want, err)
			}
		}
		found, err := console.HasOutput(strings.NewReader(text))
		if marked := want != ""; found != marked || err != nil {
			t.Errorf("%.80q has output: %t, %v", text, found, err)
		}
	}
}

// A follower sees what was printed at once, except for what may be the beginning of the mark.
func TestOutputIsNotKeptBack(t *testing.T) {
	var b bytes.Buffer
	o := console.Output{To: &b}
	for _, step := range [][2]string{
		{"vjob: output\n", ""}, {"progress 10 %", "progress 10 %"}, {"\nvjo", "progress 10 %\n"}, {"urnal", "progress 10 %\nvjournal"},
	} {
		if _, err := o.Write([]byte(step[0])); err != nil || b.String() != step[1] {
			t.Errorf("after %q: %q, want %q", step[0], b.String(), step[1])
		}
	}
}
