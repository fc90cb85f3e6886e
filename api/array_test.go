package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"vjob/api/wire"
)

const one = `"count":1,"template":{"cpu_milli":500,"memory_mib":256,"command":["./run"]}`

// An array is submitted, listed in one entry or opened, and ordered about as a whole.
func TestArrays(t *testing.T) {
	b := newFixture(t)
	first := read[wire.VJob](t, b.as("alice", "POST", "/v1/vjobs",
		`{"name":"sweep","parameters":["1 2","3"],`+one+`}`), http.StatusCreated)
	if first.Array != first.ID || first.Index != 1 || first.Parameter != "1 2" || first.Name != "sweep[1]" {
		t.Errorf("the first is %+v", first)
	}
	path := fmt.Sprintf("?array=%d", first.ID)
	if list := read[wire.VJobList](t, b.as("alice", "GET", "/v1/vjobs"+path, ""), 200); list.Total != 2 || list.VJobs[1].Parameter != "3" {
		t.Errorf("opened: %+v", list)
	}
	list := read[wire.VJobList](t, b.as("alice", "GET", "/v1/vjobs"+path+"&fold=true", ""), 200)
	if m := list.VJobs[0].Members; list.Total != 1 || m == nil || m.First != 1 || m.Last != 2 || m.States["waiting"] != 2 {
		t.Errorf("folded: %+v", list)
	}
	at := fmt.Sprintf("/v1/vjobs/%d", first.ID)
	got := read[wire.VJob](t, b.as("alice", "POST", at+"/hold?array=true", ""), http.StatusAccepted)
	if got.Members == nil || !slices.Contains(b.scheduler.recorded(), fmt.Sprintf("hold array %d by alice", first.ID)) {
		t.Errorf("%+v; orders %q", got, b.scheduler.recorded())
	}
	if res := b.as("bob", "DELETE", at+"?array=true", ""); res.Code != http.StatusNotFound {
		t.Errorf("an array of another user: %d %s", res.Code, res.Body)
	}
	if res := b.as("alice", "DELETE", at+"?array=perhaps", ""); res.Code != http.StatusBadRequest {
		t.Errorf("array=perhaps: %d %s", res.Code, res.Body)
	}
}

func TestBadArrays(t *testing.T) {
	b := newFixture(t)
	for body, want := range map[string]string{
		`{"array":1000000,` + one + `}`:              "array: 1000000 is not at most 10000 vjobs in one array",
		`{"array":-1,` + one + `}`:                   "array: -1",
		`{"array":3,"parameters":["a"],` + one + `}`: "array: 3 is not the number of parameters, 1",
		`{"parameters":["a","\"b"],` + one + `}`:     "parameters[1]",
		`{"parameters":["a\u0000"],` + one + `}`:     "parameters[0]",
		`{"at_once":3,` + one + `}`:                  "at_once: 3 is not an array as well",
		`{"array":3,"at_once":-3,` + one + `}`:       "at_once",
	} {
		res := b.as("alice", "POST", "/v1/vjobs", body)
		if got := res.Body.String(); res.Code != http.StatusBadRequest || !strings.Contains(strings.ReplaceAll(got, `\"`, `"`), want) {
			t.Errorf("%s: %d %s; want %s", body, res.Code, got, want)
		}
	}
}
