package request_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/oar"
	"vjob/oar/request"
	"vjob/tests/golden"
)

// Each line of testdata/requests.txt that begins with > is a request; the lines below it are the
// request as parsed, with warnings, or the error.
func TestGolden(t *testing.T) {
	golden.Dialogue(t, "testdata/requests.txt", told)
}

// told formats the result of parsing a request.
func told(text string) string {
	r, err := request.Parse([]string{text}, request.DefaultConfig())
	if err != nil {
		code, _ := oar.ExitOf(err)
		return fmt.Sprintf("%v\nexit %d\n", err, code)
	}
	var b strings.Builder
	for _, w := range r.Warnings {
		fmt.Fprintln(&b, w)
	}
	fmt.Fprintln(&b, r.Alternatives[0])
	return b.String()
}

func TestNothingAskedIsTheDefault(t *testing.T) {
	site := request.Config{NodesAlias: "host"}
	levels, err := request.ParseDefault("default", "/nodes=1/core=2", site)
	if err != nil {
		t.Fatal(err)
	}
	site.Default = levels
	for _, values := range [][]string{nil, {"walltime=2:0:0"}, {"{gpu = 'YES'}"}} {
		r, err := request.Parse(values, site)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Alternatives[0].Groups[0].Levels; len(got) != 2 || got[0].String() != "host=1" || got[1].String() != "core=2" {
			t.Errorf("%q: %v", values, got)
		}
	}
	for _, text := range []string{"{a=1}/nodes=1", "nodes=1+core=1", "nodes=1,walltime=1", "nodes"} {
		if _, err := request.ParseDefault("default", text, site); err == nil {
			t.Errorf("%q is no default", text)
		}
	}
}

func TestAlternativesKeepTheirOrder(t *testing.T) {
	r, err := request.Parse([]string{"nodes=4,walltime=2", "nodes=2"}, request.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	if a := r.Alternatives; len(a) != 2 || a[0].Walltime != 2*time.Hour || a[1].Walltime != request.NoWalltime {
		t.Errorf("%v", a)
	}
	_, err = request.Parse([]string{"nodes=4", "nodes=x"}, request.DefaultConfig())
	if err == nil || !strings.Contains(err.Error(), "-l (2 of 2):1:7: ") {
		t.Errorf("it is not told which: %v", err)
	}
}

func TestCountsAreNumbersOrWords(t *testing.T) {
	for text, want := range map[request.Count]int{"0": 0, "12": 12, "99999999999999999999": 1<<63 - 1} {
		if n, ok := text.Number(); !ok || n != want {
			t.Errorf("%s: %d, %v", text, n, ok)
		}
	}
	for _, word := range []request.Count{request.All, request.Best, request.BestHalf, ""} {
		if n, ok := word.Number(); ok || n != 0 {
			t.Errorf("%q is no number: %d", word, n)
		}
	}
}
