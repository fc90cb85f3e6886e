package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"vjob/api/wire"
)

// Vjobs are named by numbers, names and places in arrays, in paths and filters. The vjobs of others are as unknown ones.
func TestReferences(t *testing.T) {
	b := newFixture(t)
	submit := func(owner, text string) {
		read[wire.VJob](t, b.as(owner, "POST", "/v1/vjobs", `{"count":1,"template":{"cpu_milli":1,"memory_mib":1},`+text+`}`), http.StatusCreated)
	}
	submit("alice", `"name":"hello"`)           // 1
	submit("alice", `"name":"sweep","array":3`) // 2 to 4
	submit("bob", `"name":"hello"`)             // 5
	submit("bob", `"name":"secret"`)            // 6
	for _, c := range []struct {
		caller, word string
		status       int
		want         string // the number, or a part of the message
	}{
		{"alice", "1", 200, "1"},
		{"alice", "hello", 200, "1"},
		{"bob", "hello", 200, "5"},
		{"root", "secret", 200, "6"},
		{"alice", "sweep[3]", 200, "4"},
		{"alice", "sweep%5B3%5D", 200, "4"},
		{"alice", "2[1]", 200, "2"},
		{"alice", "sweep", 400, "id: sweep is an array, want one vjob of it, such as sweep[1]"},
		{"alice", "sweep[1-2]", 400, "id: sweep[1-2] is 2 vjobs, want one"},
		{"alice", "sweep[9]", 404, "vjob sweep[9]: not found"},
		{"alice", "hello[1]", 404, "vjob hello[1]: hello is no array: not found"},
		{"alice", "secret", 404, `vjob "secret": not found`},
		{"alice", "nothing", 404, `vjob "nothing": not found`},
		{"alice", "6", 404, "vjob 6: not found"},
		{"bob", "2[1]", 404, "array 2: not found"},
		{"bob", "sweep[1]", 404, `vjob "sweep": not found`},
		{"root", "hello", 400, `id: vjob 1 of alice and vjob 5 of bob are named "hello", want a number`},
		{"alice", "0", 400, "id: "},
		{"alice", "01", 400, "id: "},
		{"alice", "sweep[", 400, "id: "},
		{"alice", "sweep[0]", 400, "id: "},
		{"alice", "..", 400, "id: "},
	} {
		res := b.as(c.caller, "GET", "/v1/vjobs/"+c.word, "")
		got := res.Body.String()
		switch {
		case res.Code != c.status:
			t.Errorf("%s %s: %d %s", c.caller, c.word, res.Code, got)
		case c.status == 200:
			if id := fmt.Sprint(read[wire.VJobDetail](t, res, 200).ID); id != c.want {
				t.Errorf("%s %s is %s, want %s", c.caller, c.word, id, c.want)
			}
		default:
			if e := read[wire.Error](t, res, c.status).Error; !strings.Contains(e.Message, c.want) {
				t.Errorf("%s %s: %s, want %s", c.caller, c.word, e.Message, c.want)
			}
		}
	}
	read[wire.EventList](t, b.as("alice", "GET", "/v1/events?vjob=hello", ""), 200)
	read[wire.Error](t, b.as("alice", "GET", "/v1/events?vjob=secret", ""), 404)
	read[wire.VJob](t, b.as("alice", "POST", "/v1/vjobs/hello/hold", ""), 202)
	read[wire.VJob](t, b.as("alice", "POST", "/v1/vjobs/sweep/hold?array=true", ""), 202)
	read[wire.Error](t, b.as("bob", "POST", "/v1/vjobs/sweep/hold?array=true", ""), 404)
	read[wire.Error](t, b.as("alice", "POST", "/v1/vjobs/hello/hold?array=true", ""), 404)
	if got := strings.Join(b.scheduler.recorded(), "; "); got != "hold 1 by alice; hold array 2 by alice" {
		t.Errorf("recorded %s", got)
	}
}
