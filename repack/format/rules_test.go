package format_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"vjob/repack/format"
	"vjob/repack/rule"
)

// ruled is the small instance with other constraints, and three more VMs.
func ruled(constraints ...string) string {
	text := strings.Replace(small, `{"type":"spread","vms":[0,1],"continuous":true}`, strings.Join(constraints, ",\n"), 1)
	more := ""
	for i := 2; i < 5; i++ {
		more += fmt.Sprintf(",\n"+`{"id":%d,"cpu":1,"mem":1,"migrate":1,"state":"running","host":0,"next":"running"}`, i)
	}
	return strings.Replace(text, "\n],\n\"constraints\"", more+"\n],\n\"constraints\"", 1)
}

// Every rule of the catalogue can be written as a constraint, and gets its arguments
// unchanged.
func TestEveryRule(t *testing.T) {
	values := map[rule.Type]string{
		rule.VMs: "[1,0]", rule.Nodes: "[1]", rule.VMSets: "[[0],[1,2]]", rule.NodeSets: "[[0],[1]]", rule.VM: "2", rule.Number: "3", rule.Amount: "3",
		rule.Ratio: "1.5", rule.Resource: `"mem"`, rule.Time: "60",
	}
	for _, kind := range rule.Catalogue() {
		text := `{"type":"` + kind.Name + `"`
		for i, p := range kind.Params {
			value := values[p.Type]
			if p.Type == rule.VM {
				value = fmt.Sprint(i)
			}
			text += fmt.Sprintf(`,"%s":%s`, p.Name, value)
		}
		text += fmt.Sprintf(`,"continuous":%t}`, kind.Modes&rule.Continuous != 0)
		p, err := read(ruled(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var b bytes.Buffer
		if err := format.WriteInstance(&b, p); err != nil || !strings.Contains(b.String(), "\n"+text+"\n") {
			t.Errorf("%s was written as %s, %v", text, b.String()[strings.Index(b.String(), `"constraints"`):], err)
		}
	}
}

func TestBadArguments(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"precedence","first":0,"then":9}`:                            `constraints[0].then: 9 is not a VM from 0 to 4`,
		`{"type":"precedence","first":"0","then":1}`:                          `constraints[0].first: "0" is not a VM`,
		`{"type":"ban","vms":"some","nodes":[0]}`:                             `constraints[0].vms: "some" is not a set of VMs: a list of ids, or "all"`,
		`{"type":"ban","vms":"all","nodes":[2]}`:                              `constraints[0].nodes[0]: 2 is not a node from 0 to 1`,
		`{"type":"ban","vms":[-1],"nodes":[1]}`:                               `constraints[0].vms[0]: -1 is not`,
		`{"type":"capacity","nodes":[0],"max":-1}`:                            `constraints[0].max: -1 is not a number from 0 on`,
		`{"type":"capacity","nodes":[0],"max":1.5}`:                           `constraints[0].max: 1.5 is not`,
		`{"type":"overbook","nodes":[0],"resource":"gpu","ratio":2}`:          `there is no resource "gpu"; the resources are cpu, mem`,
		`{"type":"overbook","nodes":[0],"resource":"cpu","ratio":0}`:          `constraints[0].ratio: 0 is not a number above 0`,
		`{"type":"overbook","nodes":[0],"resource":"cpu","ratio":1e9}`:        `constraints[0].ratio: 1e9 is not`,
		`{"type":"deadline","vms":[0],"at":1e30}`:                             `constraints[0].at: 1e30 is not`,
		`{"type":"split","sets":[[0,1],[5]]}`:                                 `constraints[0].sets[1][0]: 5 is not a VM from 0 to 4`,
		`{"type":"split","sets":[[0,1],[1]]}`:                                 `constraints[0]: split: sets: the sets overlap: names VM 1 twice`,
		`{"type":"split","sets":[0,1]}`:                                       `constraints[0].sets: a list of ids is not a list of sets of VMs`,
		`{"type":"spread","vms":[0],"penalty":0}`:                             `constraints[0].penalty: 0 is not a whole number from 1`,
		`{"type":"spread","vms":{"a":1}}`:                                     `constraints[0].vms: an object is not`,
		`{"type":"spread","vms":[0],"continuous":1}`:                          `constraints[0].continuous: 1 is not true or false`,
		`{"type":"mostlySpread","vms":[0,1],"min":1,"continuous":true}`:       `mostlySpread holds at the end only`,
		`{"type":"spread","vms":[0,1],"continuous":true,"continuous":"true"}`: `a second "continuous"`,
	} {
		if _, err := read(ruled(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func TestCycles(t *testing.T) {
	before := func(a, b int) string { return fmt.Sprintf(`{"type":"precedence","first":%d,"then":%d}`, a, b) }
	for _, tt := range []struct {
		name string
		list []string
		want string
	}{
		{"chain", []string{before(0, 1), before(1, 2), before(0, 2), before(2, 3)}, ""},
		{"pair", []string{before(0, 1), before(1, 0)}, `in.json:16:1: constraints[1]: the order of the precedence rules is a cycle: VM 0 before VM 1 before VM 0`},
		{"long", []string{before(0, 1), before(1, 2), before(2, 3), before(3, 1)}, `constraints[3]: the order of the precedence rules is a cycle: VM 1 before VM 2 before VM 3 before VM 1`},
		{"soft", []string{before(0, 1), `{"type":"precedence","first":1,"then":0,"penalty":5}`}, ""},
		{"sequence", []string{`{"type":"seq","vms":[0,1,2]}`, `{"type":"seq","vms":[3,2,4,1]}`}, `the order of the seq rules is a cycle`},
		{"sequences", []string{`{"type":"seq","vms":[0,1,2]}`, `{"type":"seq","vms":[0,3,2]}`}, ""},
		{"two orders", []string{`{"type":"seq","vms":[0,1]}`, before(1, 0)}, ""},
	} {
		_, err := read(ruled(tt.list...))
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}
