package main

import (
	"testing"

	"vjob/cmd/vjob/cli"
)

// Each wrong field of a vjob file has a line of its own.
func TestEachWrongFieldHasALine(t *testing.T) {
	s, _ := live(t)
	r := s.run("submit", file(t, "name: a b\ncount: 1\ntemplate: {cpu: 1, memory: 64MiB}\nfloor: 2\npriority: 9000000\n"))
	want := `vjob: name: "a b" is not a name of 1 to 64 letters, digits, '.', '_' or '-', not beginning with '.' or '-'
vjob: priority: 9000000 is not from -1000000 to 1000000
vjob: floor: 2 is not from 0 to 1
`
	if r.code != cli.ExitInput || r.err != want {
		t.Errorf("exit %d\n%s\nwant\n%s", r.code, r.err, want)
	}
}
