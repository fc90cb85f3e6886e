package main

import (
	"path/filepath"
	"testing"
)

// TestExamples submits every sample vjob file to a daemon on its defaults.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	s, _ := liveWith(t, nil)
	for _, f := range files {
		s.ok("submit", f)
	}
	s.waitFor("running", "list")
}
