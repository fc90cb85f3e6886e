package script_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vjob/repack/script"
)

// Whatever is read: nothing panics, problems have a place, what is formatted is
// read as the same, and says the same.
func FuzzScript(f *testing.F) {
	files, _ := filepath.Glob("testdata/problems/*.txt")
	for _, name := range files {
		all, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for c := range strings.SplitSeq(string(all), "=== ") {
			_, rest, _ := strings.Cut(c, "\n")
			text, _, _ := strings.Cut(rest, "---\n")
			f.Add(text)
		}
	}
	f.Add("$T1 = VM[1..5];\n# a\nfor $t in $T[1..1] { continuous soft(5) spread($t - VM2); } # b\nbefore(a=\"x y\", b={12.0, 'z'});")
	f.Add("r[1..2]n[01..$x]\"-x\"(vms(a/2&b*c), nodes($ALL_NODES))")
	names := exampleNames()
	f.Fuzz(func(t *testing.T, text string) {
		file, problems := script.Parse("fuzz", text)
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.Text == "" || !strings.Contains(p.Excerpt, "^") {
				t.Errorf("a problem without a place: %+v", p)
			}
		}
		p, err := script.CompileWith("fuzz", text, names, kinds)
		if len(problems) > 0 {
			if err == nil {
				t.Errorf("there are problems, and it compiles: %v", problems)
			}
			return
		}
		said1 := script.Format(file)
		again, problems := script.Parse("again", said1)
		if len(problems) > 0 {
			t.Fatalf("formatted:\n%s\n%v", said1, problems)
		}
		if d := cmp.Diff(file, again, sameTree); d != "" {
			t.Fatalf("formatted:\n%s\n%s", said1, d)
		}
		q, err2 := script.CompileFileWith(again, names, kinds)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("formatted, it is judged otherwise: %v, %v", err, err2)
		}
		if err == nil && said(p, names) != said(q, names) {
			t.Fatalf("formatted, it says something else")
		}
	})
}
