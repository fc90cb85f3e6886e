package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vjob/api"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/internal/strictjson"
)

const vm = `{"cpu_milli":1,"memory_mib":1}`

// wrong are submissions that have to be refused, with the field to blame.
var wrong = []struct{ name, body, field string }{
	{"nothing", ``, "body"},
	{"no object", `[]`, "body"},
	{"null", `null`, "body"},
	{"cut", `{"count":1`, "body"},
	{"deep", strings.Repeat(`[`, 100_000), "body"},
	{"not a number", `{"count":NaN,"template":` + vm + `}`, "body"},
	{"number as a name", `{"name":"17","vms":[` + vm + `]}`, "name"},
	{"SQL in the name", `{"name":"x'; DROP TABLE vjobs; --","vms":[` + vm + `]}`, "name"},
	{"name like a directory", `{"name":"..","vms":[` + vm + `]}`, "name"},
	{"name like a flag", `{"name":"-rf","vms":[` + vm + `]}`, "name"},
	{"path in the name", `{"name":"../../etc","vms":[` + vm + `]}`, "name"},
	{"right-to-left mark in the name", `{"name":"\u202eevil","vms":[` + vm + `]}`, "name"},
	{"trailing value", `{"vms":[` + vm + `]} {}`, "body"},
	{"trailing text", `{"vms":[` + vm + `]} x`, "body"},
	{"invalid UTF-8", "{\"name\":\"\xff\"}", "body"},
	{"no VM", `{}`, "vms"},
	{"empty list", `{"vms":[]}`, "vms"},
	{"both ways", `{"vms":[` + vm + `],"count":1,"template":` + vm + `}`, "vms"},
	{"count without template", `{"count":3}`, "template"},
	{"count zero", `{"template":` + vm + `}`, "count"},
	{"count negative", `{"count":-1,"template":` + vm + `}`, "count"},
	{"count huge", `{"count":100000,"template":` + vm + `}`, "count"},
	{"array huge", `{"vms":[` + strings.Repeat(`{},`, 99_999) + `{}]}`, "vms"},
	{"unknown field", `{"vms":[` + vm + `],"uid":0}`, "uid"},
	{"unknown inner field", `{"vms":[` + vm + `,{"cpu_milli":1,"memory_mb":1}]}`, "vms[1].memory_mb"},
	{"owner is not a field", `{"owner":"root","vms":[` + vm + `]}`, "owner"},
	{"another case", `{"Name":"x","vms":[` + vm + `]}`, "Name"},
	{"repeated field", `{"name":"a","name":"b","vms":[` + vm + `]}`, "name"},
	{"repeated, escaped", `{"name":"a","n\u0061me":"b","vms":[` + vm + `]}`, "name"},
	{"repeated inner field", `{"vms":[{"cpu_milli":1,"cpu_milli":2,"memory_mib":1}]}`, "vms[0].cpu_milli"},
	{"null member", `{"vms":[null]}`, "vms[0]"},
	{"text for a number", `{"vms":[{"cpu_milli":"1","memory_mib":1}]}`, "vms[0].cpu_milli"},
	{"fraction", `{"vms":[{"cpu_milli":1.5,"memory_mib":1}]}`, "vms[0].cpu_milli"},
	{"beyond 64 bits", `{"vms":[{"cpu_milli":1,"memory_mib":99999999999999999999}]}`, "vms[0].memory_mib"},
	{"zero CPU", `{"vms":[{"cpu_milli":0,"memory_mib":1}]}`, "vms[0].cpu_milli"},
	{"negative memory", `{"vms":[` + vm + `,{"cpu_milli":1,"memory_mib":-5}]}`, "vms[1].memory_mib"},
	{"zero in template", `{"count":2,"template":{"cpu_milli":1,"memory_mib":0}}`, "template.memory_mib"},
	{"huge memory", `{"vms":[{"cpu_milli":1,"memory_mib":9223372036854775807}]}`, "vms[0].memory_mib"},
	{"negative walltime", `{"vms":[` + vm + `],"walltime_seconds":-1}`, "walltime_seconds"},
	{"endless walltime", `{"vms":[` + vm + `],"walltime_seconds":9223372036854775807}`, "walltime_seconds"},
	{"huge priority", `{"vms":[` + vm + `],"priority":10000000}`, "priority"},
	{"XML in the name", `{"name":"<disk file='/dev/sda'/>","vms":[` + vm + `]}`, "name"},
	{"control character in the name", `{"name":"a\u0007b","vms":[` + vm + `]}`, "name"},
	{"newline in the name", `{"name":"a\n","vms":[` + vm + `]}`, "name"},
	{"long name", `{"name":"` + strings.Repeat("x", 65) + `","vms":[` + vm + `]}`, "name"},
	{"image with a path", `{"vms":[{"cpu_milli":1,"memory_mib":1,"image":"../../etc/passwd"}]}`, "vms[0].image"},
	{"control character in the rules", `{"vms":[` + vm + `],"rules":"spread(\u0007);"}`, "rules"},
	{"long rules", `{"vms":[` + vm + `],"rules":"` + strings.Repeat("#", 64<<10+1) + `"}`, "rules"},
	{"rules that are a list of JSON", `{"vms":[` + vm + `],"rules":[{"rule":"spread"}]}`, "rules"},
	{"NUL in the command", `{"vms":[{"cpu_milli":1,"memory_mib":1,"command":["a","b\u0000"]}]}`, "vms[0].command[1]"},
	{"empty command word", `{"vms":[{"cpu_milli":1,"memory_mib":1,"command":[""]}]}`, "vms[0].command[0]"},
	{"command and script", `{"vms":[{"cpu_milli":1,"memory_mib":1,"command":["a"],"script":"b"}]}`, "vms[0].script"},
	{"long script", `{"count":1,"template":{"cpu_milli":1,"memory_mib":1,"script":"` + strings.Repeat("x", 64<<10+1) + `"}}`, "template.script"},
	{"variable name", `{"vms":[{"cpu_milli":1,"memory_mib":1,"env":{"A=B":"x"}}]}`, "vms[0].env.A=B"},
	{"variable value", `{"vms":[{"cpu_milli":1,"memory_mib":1,"env":{"A":"\u0000"}}]}`, "vms[0].env.A"},
	{"negative step", `{"vms":[{"cpu_milli":1,"memory_mib":1,"steps":[{"cpu_milli":-1,"seconds":1}]}]}`, "vms[0].steps[0].cpu_milli"},
	{"step of more processors than the VM has", `{"vms":[{"cpu_milli":1,"memory_mib":1,"steps":[{"cpu_milli":2,"seconds":1}]}]}`, "vms[0].steps[0].cpu_milli"},
	{"step of more memory than the VM has", `{"vms":[{"cpu_milli":1,"memory_mib":1,"steps":[{"cpu_milli":1,"seconds":1,"memory_mib":2}]}]}`, "vms[0].steps[0].memory_mib"},
	{"step with a negative rate", `{"vms":[{"cpu_milli":1,"memory_mib":1,"steps":[{"cpu_milli":1,"seconds":1,"network_mbit":-1}]}]}`, "vms[0].steps[0].network_mbit"},
	{"step with a rate above any link", `{"vms":[{"cpu_milli":1,"memory_mib":1,"steps":[{"cpu_milli":1,"seconds":1,"network_mbit":1e7}]}]}`, "vms[0].steps[0].network_mbit"},
	{"endless step", `{"vms":[{"cpu_milli":1,"memory_mib":1,"steps":[{"cpu_milli":1,"seconds":1e300}]}]}`, "vms[0].steps[0].seconds"},
	{"step after an unknown rank", `{"vms":[{"cpu_milli":1,"memory_mib":1,"steps":[{"cpu_milli":1,"seconds":1,"after":[{"rank":1,"index":0}]}]}]}`, "vms[0].steps[0].after[0].rank"},
	{"step after nothing", `{"vms":[{"cpu_milli":1,"memory_mib":1,"steps":[{"cpu_milli":1,"seconds":1,"after":[{"rank":0,"index":1}]}]}]}`, "vms[0].steps[0].after[0].index"},
}

func TestWrongSubmissions(t *testing.T) {
	b := newFixture(t)
	for _, c := range wrong {
		t.Run(c.name, func(t *testing.T) {
			e := read[wire.Error](t, b.as("alice", "POST", "/v1/vjobs", c.body), http.StatusBadRequest)
			if e.Error.Field != c.field || e.Error.Code != wire.CodeInvalid || !strings.HasPrefix(e.Error.Message, c.field+": ") {
				t.Errorf("got %+v, want the field %s", e.Error, c.field)
			}
			if len(e.Error.Message) > 600 {
				t.Errorf("the message has %d bytes", len(e.Error.Message))
			}
		})
	}
	if l := read[wire.VJobList](t, b.as("root", "GET", "/v1/vjobs", ""), 200); l.Total != 0 {
		t.Errorf("%d vjobs were made", l.Total)
	}
}

// All wrong fields of a body are told at once, and the first few in the message.
func TestAllWrongFieldsAreTold(t *testing.T) {
	b := newFixture(t)
	for _, c := range []struct {
		caller, method, path, body, message string
		fields                              []string
	}{
		{
			"alice", "POST", "/v1/vjobs",
			`{"name":"17","priority":9000000,"count":2,"template":{"cpu_milli":0,"memory_mib":1,"env":{"1":""},"steps":[{"cpu_milli":-1,"seconds":-1}]},"queue":"../q","floor":2,` +
				`"after":[{"on":0}],"notify":["pigeon"],"shapes":[{"count":1,"template":{"cpu_milli":1,"memory_mib":0},"walltime_seconds":0}],"parameters":["\u0000"],"array":7}`,
			`name: "17" is not a name with a letter; a number could be taken for that of another vjob; priority: 9000000 is not from -1000000 to 1000000; ` +
				`template.cpu_milli: 0 is not from 1 to 1000000; and 11 more`,
			[]string{
				"name", "priority", "template.cpu_milli", "template.env.1", "template.steps[0].cpu_milli", "template.steps[0].seconds", "queue", "floor", "after[0].on",
				"notify[0]", "shapes[0].walltime_seconds", "shapes[0].template.memory_mib", "walltime_seconds", "array",
			},
		},
		{"alice", "POST", "/v1/vjobs", `{"cuont":2,"templat":{}}`, "", []string{"cuont", "templat"}},
		{"alice", "POST", "/v1/what-if", `{"submit":{"count":0,"template":{"cpu_milli":0,"memory_mib":1},"array":2}}`, "", []string{"submit.count", "submit.template.cpu_milli", "submit.array"}},
		{"root", "POST", "/v1/what-if", `{"drain":["../n"],"without":[0],"budget_watts":-1,"add":[{"like":""}]}`, "", []string{"add[0].like", "drain[0]", "without[0]", "budget_watts"}},
		{"root", "POST", "/v1/users", `{"name":"a b","role":"king","disabled":true}`, "", []string{"name", "role", "disabled"}},
		{"root", "PUT", "/v1/budgets", `{"budgets":[{"watts":1,"group":"x"},{"watts":1,"group":"y"}]}`, "", []string{"budgets[0].group", "budgets[1].group"}},
		{"root", "PUT", "/v1/pools/p", `{"cpu":{"limit":"x","shares":"y"},"memory":{"limit":"z"}}`, "", []string{"cpu.limit", "cpu.shares", "memory.limit"}},
	} {
		e := read[wire.Error](t, b.as(c.caller, c.method, c.path, c.body), http.StatusBadRequest).Error
		var fields []string
		for _, f := range e.Fields {
			fields = append(fields, f.Field)
			if !strings.HasPrefix(f.Message, f.Field+": ") {
				t.Errorf("%s: the message of %s is %q", c.path, f.Field, f.Message)
			}
		}
		if !slices.Equal(fields, c.fields) || e.Field != c.fields[0] {
			t.Errorf("%s %s: fields %q, want %q", c.path, c.body, fields, c.fields)
		}
		if c.message != "" && e.Message != c.message {
			t.Errorf("%s: message %s\nwant %s", c.path, e.Message, c.message)
		}
	}
}

func TestWrongRequests(t *testing.T) {
	b := newFixture(t)
	b.populate()
	for _, c := range []struct {
		method, path, body string
		status             int
		field              string
	}{
		{"POST", "/v1/vjobs", strings.Repeat(" ", 10<<20), 400, "body"},
		{"POST", "/v1/vjobs", strings.Repeat(" ", 17<<20), 413, "body"},
		{"POST", "/v1/users", strings.Repeat(" ", 2<<20), 413, "body"},
		{"GET", "/v1/vjobs?color=red", "", 400, "color"},
		{"GET", "/v1/vjobs?limit=10001", "", 400, "limit"},
		{"GET", "/v1/vjobs?limit=0", "", 400, "limit"},
		{"GET", "/v1/vjobs?offset=-1", "", 400, "offset"},
		{"GET", "/v1/vjobs?live=yes", "", 400, "live"},
		{"GET", "/v1/vjobs?state=asleep", "", 400, "state"},
		{"GET", "/v1/vjobs?limit=1&limit=2", "", 400, "limit"},
		{"GET", "/v1/vjobs?ended=1", "", 400, "ended"},
		{"GET", "/v1/vjobs?outcome=good", "", 400, "outcome"},
		{"GET", "/v1/vjobs?live=true&ended=true", "", 400, "live"},
		{"GET", "/v1/vjobs?live=true&ended_since=2026-11-22T00:00:00Z", "", 400, "live"},
		{"GET", "/v1/vjobs?project=a%20b", "", 400, "project"},
		{"GET", "/v1/vjobs?queue=", "", 400, "queue"},
		{"GET", "/v1/vjobs?label=%3D7", "", 400, "label"},
		{"GET", "/v1/vjobs?label=a%22%5D%3D7", "", 400, "label"},
		{"GET", "/v1/vjobs?node=%0a", "", 400, "node"},
		{"GET", "/v1/vjobs?match=", "", 400, "match"},
		{"GET", "/v1/vjobs?match=" + strings.Repeat("x", 201), "", 400, "match"},
		{"GET", "/v1/vjobs?prefix=%00", "", 400, "prefix"},
		{"GET", "/v1/vjobs?index=0", "", 400, "index"},
		{"GET", "/v1/vjobs?index=7-3", "", 400, "index"},
		{"GET", "/v1/vjobs?index=1,,2", "", 400, "index"},
		{"GET", "/v1/vjobs?index=99999999999", "", 400, "index"},
		{"GET", "/v1/vjobs?index=" + strings.Repeat("1,", 100) + "1", "", 400, "index"},
		{"GET", "/v1/vjobs?" + strings.Repeat("label=a&", 64) + "label=b", "", 400, "label"},
		{"GET", "/v1/vjobs?submitted_since=yesterday", "", 400, "submitted_since"},
		{"GET", "/v1/vjobs?ended_until=1969-01-01T00:00:00Z", "", 400, "ended_until"},
		{"GET", "/v1/vjobs?submitted_since=2026-11-22T00:00:00Z&submitted_until=2026-11-22T00:00:00Z", "", 400, "submitted_until"},
		{"GET", "/v1/vjobs/0", "", 400, "id"},
		{"GET", "/v1/vjobs/+1", "", 400, "id"},
		{"GET", "/v1/vjobs/01", "", 400, "id"},
		{"GET", "/v1/vjobs/..%2fusers", "", 404, ""},
		{"GET", "/v1/vjobs/1%27--", "", 400, "id"},
		{"GET", "/v1/vjobs/99", "", 404, ""},
		{"GET", "/v1/vjobs/1?verbose=1", "", 400, "verbose"},
		{"GET", "/v1/vjobs/1/logs?rank=1", "", 400, "rank"},
		{"GET", "/v1/plans/99", "", 404, ""},
		{"GET", "/v1/events?after=x", "", 400, "after"},
		{"PATCH", "/v1/nodes/n1", `{"state":"gone"}`, 400, "state"},
		{"PATCH", "/v1/nodes", `{"state":"draining"}`, 400, "names"},
		{"PATCH", "/v1/nodes/n1", `{"state":"draining","reason":"disk"}`, 400, "reason"},
		{"PATCH", "/v1/nodes/n1", `{"state":"maintenance","reason":"a\nb"}`, 400, "reason"},
		{"PATCH", "/v1/nodes/n1", `{"state":"maintenance","fenced":true}`, 400, "fenced"},
		{"PATCH", "/v1/nodes/n1", `{"state":"ready","fenced":true}`, 400, "fenced"},
		{"POST", "/v1/what-if", `{"place":0}`, 400, "place"},
		{"POST", "/v1/what-if", `{"place":-1}`, 400, "place"},
		{"POST", "/v1/what-if", `{"alternatives":3}`, 400, "alternatives"},
		{"POST", "/v1/what-if", `{"place":1,"alternatives":65}`, 400, "alternatives"},
		{"PATCH", "/v1/nodes", `{"names":["n1"],"state":"down"}`, 400, "fenced"},
		{"PATCH", "/v1/nodes", `{"names":["n1","n 2"],"state":"draining"}`, 404, ""},
		{"POST", "/v1/nodes/n1/power", `{"power":"dim"}`, 400, "power"},
		{"POST", "/v1/nodes/n1/power", `{}`, 400, "power"},
		{"PATCH", "/v1/nodes/n1", `{"state":"down"}`, 400, "fenced"},
		{"PATCH", "/v1/nodes/n1", `{"state":"online","fenced":true}`, 400, "fenced"},
		{"POST", "/v1/users", `{"name":"a b","role":"user"}`, 400, "name"},
		{"POST", "/v1/users", `{"name":"eve","role":"king"}`, 400, "role"},
		{"POST", "/v1/users", `{"name":"alice","role":"user"}`, 409, ""},
		{"POST", "/v1/users/alice/tokens", `{"expires_in_seconds":-1}`, 400, "expires_in_seconds"},
		{"POST", "/v1/users/unknown/tokens", `{}`, 404, ""},
		{"GET", "/v2/vjobs", "", 404, ""},
		{"GET", "/v1/vjobs/", "", 404, ""},
		{"PUT", "/v1/vjobs", "", 405, ""},
	} {
		res := b.as("root", c.method, c.path, c.body)
		if e := read[wire.Error](t, res, c.status); e.Error.Field != c.field {
			t.Errorf("%s %s: %+v, want the field %q", c.method, c.path, e.Error, c.field)
		}
	}
	for _, key := range []string{strings.Repeat("k", 129), "a\tb"} {
		if res := b.as("alice", "POST", "/v1/vjobs", small, wire.KeyHeader, key); res.Code != 400 {
			t.Errorf("key %q: %d", key, res.Code)
		}
	}
	if res := b.as("alice", "POST", "/v1/vjobs", small, "Content-Type", "text/xml"); res.Code != 400 {
		t.Errorf("XML: %d", res.Code)
	}
}

// TestTemplateIsBlamed: the loop knows members only; the user wrote a template.
func TestTemplateIsBlamed(t *testing.T) {
	b := newFixture(t)
	b.scheduler.fail = fmt.Errorf("submit: %w", cluster.BadField("vms[0].image", "x", "sim"))
	e := read[wire.Error](t, b.as("alice", "POST", "/v1/vjobs", small), 400)
	if e.Error.Field != "template.image" {
		t.Errorf("got %+v", e)
	}
	e = read[wire.Error](t, b.as("alice", "POST", "/v1/vjobs", `{"vms":[`+vm+`]}`), 400)
	if e.Error.Field != "vms[0].image" {
		t.Errorf("got %+v", e)
	}
}

func TestConversion(t *testing.T) {
	w := wire.Submission{
		Name: "a", Priority: 3, WalltimeSeconds: 90, Hold: true, Count: 2,
		Template: &wire.VMSpec{
			CPUMilli: 1500, MemoryMiB: 64, Image: "sim", Script: "#!/bin/sh\n", Env: map[string]string{"A": "b"},
			Steps: []wire.Step{{CPUMilli: 1000, Seconds: 1.5, NetworkMbit: 0.5}, {Seconds: 2, After: []wire.StepRef{{Rank: 1}}}},
		},
		Rules: "fence(VM1, n1);",
	}
	s, err := api.Submission(&w, 10)
	if err != nil {
		t.Fatal(err)
	}
	if s.Walltime.Seconds() != 90 || !s.Held || len(s.VMs) != 2 || s.VMs[1].Reserved.CPU != 1500 ||
		s.VMs[0].Payload.Program.Steps[0].Duration.Seconds() != 1.5 || s.VMs[0].Payload.Program.Steps[0].Network != 62_500 ||
		s.VMs[1].Payload.Program.Steps[1].After[0].Rank != 1 || s.Rules != "fence(VM1, n1);" {
		t.Errorf("got %+v", s)
	}
}

// TestDecodeErrors: the message names the field first, then the fault and what is wanted.
func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct{ text, field, value string }{
		{`[]`, "body", "a list"},
		{`null`, "body", "null"},
		{`{"vms":[{"cpu_milli":"1"}]}`, "vms[0].cpu_milli", `"1"`},
		{`{"vms":{}}`, "vms", "an object"},
		{`{"vms":[null]}`, "vms[0]", "null"},
		{`{"vms":[{},null]}`, "vms[1]", "null"},
		{`{"vms":[{},{},{}]}`, "vms", "a longer list"},
		{`{"labels":{"a":"","b":"","c":"","d":""}}`, "labels", "more entries"},
		{`{"vms":[{"env":{"A":"","B":""}}]}`, "vms[0].env", "more entries"},
		{`{"vms":[{"env":{"0":7}}]}`, "vms[0].env.0", "7"},
		{`{"labels":{"A":"","A":""}}`, "labels.A", "a second value"},
		{`{"deadline":"tomorrow"}`, "deadline", `"tomorrow"`},
		{`{"template":{"steps":[{"seconds":1e999}]}}`, "template.steps[0].seconds", "1e999"},
		{`{"Name":"a"}`, "Name", "an unknown field"},
	} {
		var w wire.Submission
		bad, ok := errors.AsType[*cluster.FieldError](api.Decode([]byte(c.text), &w, strictjson.Bounds{Entries: 3, Of: map[string]int{"vms": 2, "env": 1}}))
		if !ok || bad.Field != c.field || !strings.HasPrefix(bad.Error(), c.field+": "+c.value+" is not ") && !strings.HasPrefix(bad.Error(), c.field+": "+c.value+", want ") {
			t.Errorf("%s: %v, want %s: %s", c.text, bad, c.field, c.value)
		}
	}
	var w wire.Submission
	if err := api.Decode([]byte(`{"vms":[{},{}],"labels":{"a":"","b":"","c":""},"notify":null}`), &w, strictjson.Bounds{Entries: 3, Of: map[string]int{"vms": 2}}); err != nil {
		t.Errorf("at the bounds: %v", err)
	}
}

// FuzzDecode: what is accepted is what encoding/json reads, and reads the same
// again; nothing makes the decoder panic.
func FuzzDecode(f *testing.F) {
	for _, c := range wrong {
		if len(c.body) < 1000 {
			f.Add([]byte(c.body))
		}
	}
	f.Add([]byte(small))
	f.Add([]byte(`{"vms":[{"cpu_milli":1,"memory_mib":2,"env":{"A":"b"},"steps":[{"cpu_milli":1,"seconds":0.5,"after":[{"rank":0,"index":0}]}]}]}`))
	f.Add([]byte(strings.Repeat(`[`, 10_000)))
	f.Add([]byte(strings.Repeat(`{"template":`, 100)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var w wire.Submission
		err := api.Decode(data, &w, strictjson.Bounds{})
		if err != nil {
			if !reflect.DeepEqual(w, wire.Submission{}) {
				t.Fatalf("refused (%v) and yet read %+v", err, w)
			}
			return
		}
		text, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		var again wire.Submission
		if err := api.Decode(text, &again, strictjson.Bounds{}); err != nil {
			t.Fatalf("%s is not read again: %v", text, err)
		}
		if second, _ := json.Marshal(again); string(second) != string(text) {
			t.Fatalf("%s became %s", text, second)
		}
		if s, err := api.Submission(&w, 1000); err == nil && (len(s.VMs) == 0 || len(s.VMs) > 1000) {
			t.Fatalf("%d VMs accepted", len(s.VMs))
		}
	})
}
