package apifuzz_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// canary stands for the word of the caller in the texts below.
const canary = "CANARY"

const valid = `{"name":"CANARY-job","priority":-1,"walltime_seconds":600,"count":2,"template":{"cpu_milli":500,"memory_mib":256,` +
	`"script":"echo CANARY","env":{"WORD":"CANARY"}},` +
	`"rules":"# CANARY\nspread($VMS);","labels":{"word":"CANARY"}}`

// bodies are requests that can succeed, by operation.
var bodies = map[string][]string{
	"submitVJob": {
		valid,
		`{"count":1,"template":{"cpu_milli":100,"memory_mib":64,"script":"echo CANARY","steps":[{"cpu_milli":400,"seconds":30}]},"notify":["mail:CANARY@example.org"]}`,
		`{"count":1,"template":{"cpu_milli":100,"memory_mib":64,"command":["echo","CANARY"]}}`,
		`{"vms":[{"cpu_milli":100,"memory_mib":64,"steps":[{"cpu_milli":100,"seconds":1}]},{"cpu_milli":1,"memory_mib":1,"image":"simulated","exit_code":3,"steps":[{"cpu_milli":1,"seconds":0.5,"after":[{"rank":0,"index":0}]}]}],"led":true}`,
		`{"count":1,"template":{"cpu_milli":100,"memory_mib":64},"array":3,"parameters":["CANARY-1","CANARY-2","CANARY-3"],"at_once":1,"hold":true}`,
		`{"count":1,"template":{"cpu_milli":100,"memory_mib":64},"walltime_seconds":60,"reservation":"2027-01-01T00:00:00Z"}`,
		`{"count":1,"template":{"cpu_milli":100,"memory_mib":64},"walltime_seconds":60,"shapes":[{"count":2,"template":{"cpu_milli":50,"memory_mib":32},"walltime_seconds":30}],"deadline":"2027-01-01T00:00:00Z"}`,
		`{"count":1,"template":{"cpu_milli":100,"memory_mib":64},"walltime_seconds":60,"flexible_seconds":60,"not_before":"2027-01-01T00:00:00Z","not_after":"2027-01-02T00:00:00Z"}`,
		`{"count":1,"template":{"cpu_milli":100,"memory_mib":64},"after":[{"on":7300001,"when":"afterany"}],"unmet":"hold"}`,
		`{"count":1,"template":{"cpu_milli":100,"memory_mib":64},"after":[{"on":7300003,"array":true}],"unmet":"run"}`,
		`{"count":2,"template":{"cpu_milli":1000,"memory_mib":512},"walltime_seconds":600,"container":true}`,
		`{"count":1,"template":{"cpu_milli":100,"memory_mib":64},"inner":7300009,"walltime_seconds":60}`,
		`{"count":1,"template":{"cpu_milli":100,"memory_mib":64},"best_effort":true,"yields":"end","idempotent":true,"min_run_seconds":5,"floor":0.5,"queue":"night","project":"physics","shares":"high","cpu_reservation_milli":50,"cpu_limit_milli":100}`,
	},
	"changeVJob":  {`{"pool":"cluster"}`, `{"pool":""}`, `{"walltime_seconds":60}`, `{"walltime_seconds":0}`, `{"walltime_seconds":100000}`},
	"changeNode":  {`{"state":"draining"}`, `{"state":"online"}`, `{"state":"offline"}`, `{"state":"down","fenced":true}`},
	"changeNodes": {`{"names":["n1","n2"],"state":"draining"}`, `{"names":["n1","n2","n3"],"state":"online"}`},
	"switchNode":  {`{"power":"off"}`, `{"power":"on"}`},
	"setPool":     {`{}`, `{"parent":"cluster","cpu":{"reservation":"0.5","limit":"2","shares":"high"}}`, `{"memory":{"limit":"4GiB","shares":"700"}}`},
	"setBudgets":  {`{"budgets":[]}`, `{"budgets":[{"watts":5000,"when":"Mo-Fr 18:00-08:00"}],"check":true}`, `{"budgets":[{"watts":1e6,"group":"rack=r1"}]}`},
	"setPrices":   {`{"csv":""}`, `{"csv":"time,EUR/MWh\n2026-11-21T00:00Z,100\n2026-11-21T01:00Z,20\n"}`, `{"csv":"time,EUR/MWh\n2026-11-21T00:00:00Z,100\n","check":true}`},
	"setRules":    {`{"text":"ban($ALL_VMS, n4);"}`, `{"text":""}`, `{"text":"- {rule: capacity, nodes: n1, max: 4}","check":true}`},
	"askWhatIf": {
		`{"submit":` + valid + `}`,
		`{"drain":["n1"],"lose":["n2"],"online":["n3"],"without":[7300001],"rules":"ban($ALL_VMS, n1);","budget_watts":100}`,
		`{"submit":{"count":1,"template":{"cpu_milli":100,"memory_mib":64}},"drain":["n1"]}`,
		`{}`,
	},
	"createUser":   {`{"name":"extra-1","role":"user"}`, `{"name":"extra-2","role":"admin"}`, `{"name":"extra-3"}`},
	"createToken":  {`{"expires_in_seconds":60}`, `{}`},
	"restoreVJob":  {`{"generation":1}`, `{}`},
	"oarDo":        {`{"method":"delete"}`},
	"oarNodeState": {`{"state":"Alive"}`, `{"state":"Absent"}`},
	"oarSubmit": {
		`{"resource":"/nodes=1/core=1,walltime=0:10:0","command":"echo CANARY","name":"CANARY","directory":"/tmp/CANARY","notify":"mail:CANARY@example.org"}`,
		`{"resource":["core=1","core=2,walltime=5"],"command":"sleep 5","type":["besteffort"],"param_file":"CANARY-1\nCANARY-2\n"}`,
		`{"resource":"core=1","script":"#!/bin/sh\n#OAR -n CANARY\n#OAR -l core=1,walltime=60\nid\n","scanscript":1}`,
		`{"resource":"core=1","command":"id","array":2,"hold":true,"property":"network_address='n1'"}`,
		`{"resource":"core=1","command":"id","reservation":"2027-01-01 00:00:00","timezone":"Europe/Paris"}`,
		`{"resource":"core=1","command":"id","anterior":[7300001],"mem":"64MiB","image":"simulated"}`,
		`{"resubmit":7300002}`,
		`{"resource":"core=1","interactive":true,"rows":24,"columns":80}`,
		`{"resource":"nodes=2","command":"id","type":"container=CANARY"}`,
		`{"resource":"core=1","command":"id","type":"inner=7300009"}`,
	},
}

// random is a value of a schema: required members, and some of the others.
func random(r *rand.Rand, s *openapi3.Schema, deep int) *tree {
	switch {
	case s == nil || deep > 6:
		return odd(r)
	case len(s.Enum) > 0:
		text, _ := pick(r, s.Enum).(string)
		return quoted(text)
	case s.Type.Is("object"):
		t := &tree{open: '{'}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, name) || r.IntN(4) == 0 {
				t.add(quoted(name).leaf, random(r, s.Properties[name].Value, deep+1))
			}
		}
		if more := s.AdditionalProperties.Schema; more != nil {
			for range r.IntN(3) {
				t.add(quoted(pick(r, texts)).leaf, random(r, more.Value, deep+1))
			}
		}
		return t
	case s.Type.Is("array"):
		t := &tree{open: '['}
		for range r.IntN(4) {
			t.add("", random(r, s.Items.Value, deep+1))
		}
		return t
	case s.Type.Is("boolean"):
		return leaf(pick(r, []string{"true", "false"}))
	case s.Type.Is("integer"), s.Type.Is("number"):
		return leaf(pick(r, []string{"0", "1", "2", "60", "500", "1000", "7300001", "7300004", "-1", pick(r, numbers)}))
	case s.Format == "date-time":
		return leaf(`"2027-0` + string('0'+rune(r.IntN(10))) + `-01T00:00:00Z"`)
	case s.Type.Is("string") && r.IntN(2) == 0:
		return quoted(canary + pick(r, []string{"", "-1", " x", "\nspread($VMS);"}))
	}
	return quoted(pick(r, texts))
}

// bodyOf is a body for an operation: one that can succeed, one that the schema allows, one
// with mistakes, or no JSON at all.
func bodyOf(r *rand.Rand, o *operation) []byte {
	var t *tree
	switch known := bodies[o.name]; {
	case len(known) > 0 && r.IntN(10) < 7:
		t = parse(pick(r, known))
	case o.body != nil:
		t = random(r, o.body, 0)
	default:
		t = odd(r)
	}
	if r.IntN(5) > 1 {
		for range 1 + r.IntN(3) {
			t.mutate(r)
		}
	}
	text := t.String()
	switch r.IntN(24) {
	case 0:
		return []byte(text[:r.IntN(len(text)+1)])
	case 1:
		return []byte(text + pick(r, raw))
	case 2:
		return []byte(pick(r, raw) + text)
	case 3:
		if i := r.IntN(len(text) + 1); i < len(text) {
			return []byte(text[:i] + string([]byte{byte(r.IntN(256))}) + text[i+1:])
		}
	case 4:
		if r.IntN(200) == 0 {
			return []byte(`{"name":"` + strings.Repeat("x", 17<<20) + `"}`)
		}
	}
	return []byte(text)
}
