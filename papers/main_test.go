package main

import (
	"bytes"
	"strings"
	"testing"

	"vjob/tests/golden"
	"vjob/tests/pace"
)

// The comparison with all papers is reproducible to the last digit.
func TestPapers(t *testing.T) {
	if pace.Slower > 1 {
		t.Skip("takes minutes under the race detector, in one goroutine")
	}
	t.Chdir("..")
	var out bytes.Buffer
	if err := run(&out, nil); err != nil {
		t.Fatal(err)
	}
	golden.Same(t, "papers/testdata/papers.md", out.String())
}

// The charts in docs/img are those that are drawn now.
func TestCharts(t *testing.T) {
	if pace.Slower > 1 {
		t.Skip("takes minutes under the race detector, in one goroutine")
	}
	t.Chdir("..")
	drawn := 0
	for i := range papers {
		if papers[i].Charts == nil {
			continue
		}
		for _, c := range papers[i].Charts() {
			var b bytes.Buffer
			if err := c.Draw(&b); err != nil {
				t.Fatal(err)
			}
			golden.Same(t, "docs/img/"+c.Name, b.String())
			drawn++
		}
	}
	if drawn == 0 {
		t.Error("no charts")
	}
}

func TestUnknownPaper(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, []string{"sigcomm"}); err == nil || !strings.Contains(err.Error(), "want one of allocation, consolidation, drs, jobs, repacking") {
		t.Errorf("%v", err)
	}
}
