package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/cluster"
)

// Bodies name vjobs as paths do: by number, by name, or as one of an array. A name that the caller may not see is a wrong field.
func TestNamesInBodies(t *testing.T) {
	b := newFixture(t)
	submit := func(owner, text string, status int) *wire.VJob {
		t.Helper()
		res := b.as(owner, "POST", "/v1/vjobs", `{"count":1,"template":{"cpu_milli":1,"memory_mib":1},`+text+`}`)
		if status != http.StatusCreated {
			if e := read[wire.Error](t, res, status).Error; !strings.HasPrefix(e.Message, e.Field+": ") {
				t.Errorf("%s: %+v", text, e)
			}
			return nil
		}
		job := read[wire.VJob](t, res, status)
		return &job
	}
	submit("alice", `"name":"prepare"`, 201)         // 1
	submit("alice", `"name":"sweep","array":3`, 201) // 2 to 4
	submit("alice", `"name":"box","container":true,"walltime_seconds":60`, 201)
	submit("bob", `"name":"secret"`, 201) // 6
	for _, text := range []string{
		`"after":[{"name":"prepare","when":"ok"}],"inner":"box"`, `"after":[{"on":1,"when":"afterok"}],"inner":5`, `"after":[{"on":1}],"inner":"5"`,
	} {
		id := submit("alice", text, 201).ID
		terms := read[wire.VJobDetail](t, b.as("alice", "GET", "/v1/vjobs/"+cluster.VJobID(id).String(), ""), 200).Terms
		if terms.Inner != "5" || len(terms.After) != 1 || terms.After[0].On != 1 {
			t.Errorf("%s: after %+v, inner %q", text, terms.After, terms.Inner)
		}
	}
	for _, text := range []string{`"inner":"secret"`, `"inner":"none"`, `"inner":"sweep"`, `"inner":true`, `"inner":-3`, `"inner":1.5`, `"after":[{"name":"secret"}]`} {
		submit("alice", text, 400)
	}
	read[wire.WhatIfResult](t, b.as("root", "POST", "/v1/what-if",
		`{"without":["prepare","sweep[2-3]",6],"place":"box","demand":[{"vjob":"secret","percent":30},{"vjob":"sweep[1]","percent":30}]}`), 200)
	if q := b.scheduler.asked; !slices.Equal(q.Delete, []cluster.VJobID{1, 3, 4, 6}) || *q.Place != 5 || q.Demand[0].VJob != 6 || q.Demand[1].VJob != 2 {
		t.Errorf("asked %+v", q)
	}
	for body, field := range map[string]string{
		`{"without":["none"]}`: "without[0]", `{"place":"none"}`: "place", `{"demand":[{"vjob":"none","percent":3}]}`: "demand[0].vjob", `{"place":-1}`: "place",
	} {
		if e := read[wire.Error](t, b.as("root", "POST", "/v1/what-if", body), 400).Error; e.Field != field {
			t.Errorf("%s: %+v", body, e)
		}
	}
}
