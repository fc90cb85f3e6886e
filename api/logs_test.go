package api_test

import (
	"strings"
	"testing"

	"vjob/api"
	"vjob/api/wire"
)

func TestLogs(t *testing.T) {
	b := newFixture(t)
	b.populate()
	for query, want := range map[string]string{"": "one\ntwo\nthree\n", "?tail=1": "three\n", "?rank=0&tail=2": "two\nthree\n"} {
		if res := b.as("alice", "GET", "/v1/vjobs/1/logs"+query, ""); res.Code != 200 || res.Body.String() != want {
			t.Errorf("%s: %d %q", query, res.Code, res.Body)
		}
	}
	for query, want := range map[string]string{"?from=4": "two\nthree\n", "?from=99": "", "?part=console&from=0": "one\ntwo\nthree\n", "?part=output": "one\ntwo\nthree\n"} {
		if res := b.as("alice", "GET", "/v1/vjobs/1/logs"+query, ""); res.Code != 200 || res.Body.String() != want {
			t.Errorf("%s: %d %q", query, res.Code, res.Body)
		}
	}
	for query, field := range map[string]string{"?from=-1": "from", "?from=1&tail=1": "from", "?from=1&part=output": "from", "?part=boot": "part"} {
		if e := read[wire.Error](t, b.as("alice", "GET", "/v1/vjobs/1/logs"+query, ""), 400); e.Error.Field != field {
			t.Errorf("%s: %+v, want a fault of %s", query, e, field)
		}
	}
	long := strings.Repeat("x", 200<<10) + "\nend"
	lines, err := api.LastLines(strings.NewReader(long), 5)
	if err != nil || len(lines) != 2 || len(lines[0]) != 64<<10 || string(lines[1]) != "end" {
		t.Errorf("long lines: %d lines, %v", len(lines), err)
	}
}
