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

func TestUnknownPaper(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, []string{"sigcomm"}); err == nil || !strings.Contains(err.Error(), "want one of allocation, consolidation, drs, jobs, repacking") {
		t.Errorf("%v", err)
	}
}
