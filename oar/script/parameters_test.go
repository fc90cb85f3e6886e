package script_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"vjob/oar"
	"vjob/oar/script"
)

func TestParseParameters(t *testing.T) {
	for text, want := range map[string][]script.Parameters{
		"p100\n\"\"\n\"arg1a arg1b\" 'c'\n":  {{1, "p100"}, {2, `""`}, {3, `"arg1a arg1b" 'c'`}},
		"# head\n\n  a b  \n\t\n#\nc":        {{3, "a b"}, {6, "c"}},
		"a # why\nb #\n":                     {{1, "a"}, {2, "b"}},
		"a#b\n'#' \"# \" \\# x\n":            {{1, "a#b"}, {2, `'#' "# " \# x`}},
		"a\r\nb\r\n":                         {{1, "a"}, {2, "b"}},
		"it\\'s\n\"say \\\"hi\\\"\"\n":       {{1, `it\'s`}, {2, `"say \"hi\""`}},
		"'back\\'\n":                         {{1, `'back\'`}},
		"été ☃\n":                            {{1, "été ☃"}},
		"# it's fine\na # and \"this\nb\n":   {{2, "a"}, {3, "b"}},
		"$HOME `x` ; rm -rf / | true && y\n": {{1, "$HOME `x` ; rm -rf / | true && y"}}, // the user's own shell runs it
	} {
		got, err := script.ParseParameters("p.txt", text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v %v, want %v", text, got, err, want)
		}
	}
}

func TestRefusedParameters(t *testing.T) {
	for want, text := range map[string]string{
		"# Error: an array job must have a positive number of sub-jobs.\np.txt: there are no parameters":                                    "",
		"p.txt: there are no parameters: want a line for each sub-job":                                                                      "# a\n\n \n",
		"[ERROR] Cannot open the parameter file p.txt.\np.txt:2:3: the character U+0000 stands here: want a text\n    2 | b ·\n      |   ^": "a\nb \x00\n",
		"p.txt:1:1: the byte 0xff is not UTF-8: want a text":                                                                                "\xff\xfe",
		"p.txt:1:2: the character U+001B stands here":                                                                                       "a\x1b[2J",
		"the character U+0085 stands here":                                                                                                  "a\u0085",
		"p.txt:2:3: the quote is open: want \" before the end of the line":                                                                  "a\nb \"c\nd\"\n",
		"p.txt:1:5: the quote is open: want '":                                                                                              "'\\' '",
		"p.txt:1:1: the line has 16385 bytes; 16384 are allowed":                                                                            strings.Repeat("x", 16<<10+1),
		"p.txt: the file has 16777217 bytes; 16777216 are allowed":                                                                          strings.Repeat("x", 16<<20+1),
		"p.txt: there are more than 100000 lines of parameters":                                                                             strings.Repeat("x\n", 100_001),
		"p.txt:1:1: the character U+007F stands here":                                                                                       "\x7fELF\x02\x01",
	} {
		_, err := script.ParseParameters("p.txt", text)
		wantExit := oar.ExitScript
		if strings.Contains(want, "no parameters") {
			wantExit = oar.ExitArray
		}
		if code, _ := oar.ExitOf(err); code != wantExit || !strings.Contains(err.Error(), want) || len(err.Error()) > 1000 {
			t.Errorf("%.20q: exit %d, %v, want %s", text, code, err, want)
		}
	}
}

// Parameters parse as themselves, with their quotes closed.
func FuzzParseParameters(f *testing.F) {
	f.Add("a 'b' # c\n\"d\\\"\" \\#\n")
	f.Add("\x00\n'")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := script.ParseParameters("fuzz", text)
		if err != nil {
			if _, ok := oar.ExitOf(err); !ok {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		for _, p := range list {
			again, err := script.ParseParameters("again", p.Text)
			if err != nil || len(again) != 1 || again[0].Text != p.Text || strings.ContainsAny(p.Text, "\n\x00") {
				t.Errorf("%q: %q is read as %v, %v", text, p.Text, again, err)
			}
		}
	})
}

func BenchmarkParseParameters(b *testing.B) {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "--seed %d \"input file %d\" # number %d\n", i, i, i)
	}
	b.Run("lines=10000", func(b *testing.B) {
		for b.Loop() {
			if list, err := script.ParseParameters("p.txt", text.String()); err != nil || len(list) != 10_000 {
				b.Fatal(len(list), err)
			}
		}
	})
}
