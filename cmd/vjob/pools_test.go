package main

import (
	"os"
	"strings"
	"testing"
)

// The reference shows what the command prints for the example.
func TestPoolsEntitle(t *testing.T) {
	s := &shell{t: t}
	page, err := os.ReadFile("../../docs/reference/pool-files.md")
	if err != nil {
		t.Fatal(err)
	}
	if out := s.ok("pools", "entitle", "../../examples/pools/two-groups.yaml"); !strings.Contains(string(page), out) {
		t.Errorf("docs/reference/pool-files.md does not have\n%s", out)
	}
	if out := s.ok("pools", "entitle", "-o", "json", "../../examples/pools/two-groups.yaml"); !strings.Contains(out, `"cpu_milli": 13333`) {
		t.Error(out)
	}
}
