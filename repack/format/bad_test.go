package format_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"vjob/repack"
	"vjob/repack/format"
	"vjob/tests/golden"
)

const small = `{"format":"brsp-instance/1","name":"small",
"durations":{"boot":1,"shutdown":2,"suspend":4,"resume_local":5,"resume_remote":6,"node_off":1,"node_on":1},
"nodes":[
{"id":0,"cpu":100,"mem":100,"state":"online","next":"online"},
{"id":1,"cpu":100,"mem":100,"state":"offline","next":"any"}
],
"vms":[
{"id":0,"cpu":10,"cpu_next":10,"mem":60,"migrate":6,"state":"running","host":0,"next":"running"},
{"id":1,"cpu":10,"cpu_next":10,"mem":60,"migrate":6,"state":"ready","host":null,"next":"running"}
],
"constraints":[
{"type":"spread","vms":[0,1],"continuous":true}
]
}
`

// change replaces one place of the small instance.
func change(t *testing.T, old, with string) string {
	t.Helper()
	if strings.Count(small, old) == 0 {
		t.Fatalf("%q is not in the instance", old)
	}
	return strings.Replace(small, old, with, 1)
}

func TestBadInstances(t *testing.T) {
	if _, err := read(small); err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat("[", 5000)
	tests := []struct{ name, old, with, want string }{
		{"unknown node", `"host":0`, `"host":7`, `in.json:8:78: vms[0].host: 7 is not a node from 0 to 1`},
		{"no host", `"host":0,`, ``, `in.json:8:1: vms[0].host: null is not a node from 0 to 1: the VM is running`},
		{"offline host", `"host":0`, `"host":1`, `in.json:8:78: vms[0].host: 1 is not a node that is online: the VM is running`},
		{"host of a ready VM", `"host":null`, `"host":0`, `in.json:9:76: vms[1].host: 0 is not null: a VM that is ready is nowhere`},
		{"host as text", `"host":0`, `"host":"n1"`, `in.json:8:78: vms[0].host: "n1" is not the id of a node, or null`},
		{"negative demand", `"cpu":10,`, `"cpu":-1,`, `in.json:8:15: vms[0].cpu: -1 is not a whole number from 0 to 1099511627776`},
		{"negative capacity", `"mem":100`, `"mem":-100`, `in.json:4:25: nodes[0].mem: -100 is not a whole number from 0 to 1099511627776`},
		{"huge demand", `"cpu_next":10`, `"cpu_next":9223372036854775807`, `vms[0].cpu_next: 9223372036854775807 is not a whole number from 0 to 1099511627776`},
		{"huger demand", `"cpu_next":10`, `"cpu_next":1e400`, `vms[0].cpu_next: 1e400 is not`},
		{"a fraction", `"mem":60`, `"mem":60.5`, `vms[0].mem: 60.5 is not a whole number`},
		{"two of one id", `"id":1,"cpu":10,`, `"id":0,"cpu":10,`, `in.json:9:7: vms[1].id: 0 is not 1: vms[0] is VM 0 already`},
		{"ids with a gap", `"id":1,"cpu":100`, `"id":2,"cpu":100`, `in.json:5:7: nodes[1].id: 2 is not 1: ids count from 0 on, in order`},
		{"no VMs", `[0,1]`, `[]`, `in.json:12:1: constraints[0]: spread: vms: names no VM`},
		{"unknown VM", `[0,1]`, `[0,2]`, `in.json:12:24: constraints[0].vms[1]: 2 is not a VM from 0 to 1`},
		{"twice", `[0,1]`, `[1,1]`, `in.json:12:1: constraints[0]: spread: vms: names VM 1 twice`},
		{"unknown rule", `"spread"`, `"sprad"`, `in.json:12:9: constraints[0].type: there is no rule "sprad"; the rules are`},
		{"unknown argument", `"vms":[0,1]`, `"vms":[0,1],"node":[1]`, `in.json:12:37: constraints[0]: spread does not take "node"; it takes vms (a set of VMs), continuous, penalty`},
		{"no argument", `"vms":[0,1],`, ``, `in.json:12:1: constraints[0]: spread needs vms: a set of VMs`},
		{"wrong argument", `[0,1]`, `[[0],[1]]`, `in.json:12:24: constraints[0].vms: a list of lists is not a set of VMs: a list of ids, or "all"`},
		{"mixed lists", `[0,1]`, `[[0],1]`, `in.json:12:29: constraints[0].vms[1]: 1 is not a list of ids, as before`},
		{"no rule", `"type":"spread",`, ``, `in.json:12:1: constraints[0]: "type" is missing`},
		{"negative penalty", `"continuous":true`, `"penalty":-3`, `constraints[0].penalty: -3 is not`},
		{"unknown state", `"state":"ready"`, `"state":"waiting"`, `in.json:9:61: vms[1].state: "waiting" is not "ready", "running", "sleeping", "killed"`},
		{"unknown node state", `"next":"any"`, `"next":"on"`, `nodes[1].next: "on" is not "online", "offline", "any"`},
		{"state any", `"state":"offline"`, `"state":"any"`, `nodes[1].state: "any" is not "online", "offline"`},
		{"back from death", `"state":"ready"`, `"state":"killed"`, `vms[1].next: "running" is not "killed": nothing brings a killed VM back`},
		{"unknown key", `"mem":60`, `"memory":"6"`, `in.json:8:32: vms[0]: the key "memory" is not one of id, name`},
		{"unknown amount", `"mem":60`, `"mem":60,"gpu":6`, `in.json:8:41: vms[0]: the key "gpu" is not a key that is known, or a resource that "resources" names at the top`},
		{"unknown top key", `"name":"small"`, `"nome":"small"`, `in.json:1:29: the key "nome" is not one of format`},
		{"case matters", `"name":"small"`, `"Name":"small"`, `the key "Name" is not`},
		{"a key twice", `"mem":60`, `"mem":60,"mem":6`, `in.json:8:41: vms[0]: a second "mem" is not each key once`},
		{"missing key", `"mem":60,`, ``, `in.json:8:1: vms[0]: "mem" is missing`},
		{"no migrate", `"migrate":6,`, ``, `in.json:8:1: vms[0]: "migrate" is missing: the seconds of its live migration`},
		{"missing duration", `"boot":1,`, ``, `in.json:2:13: durations: "boot" is missing`},
		{"long duration", `"boot":1`, `"boot":1000000001`, `durations.boot: 1000000001 is not seconds from 0 to 1000000000`},
		{"missing part", `"durations":{`, `"units":{`, `in.json:1:1: "durations" is missing`},
		{"wrong format", `"brsp-instance/1"`, `"brsp-plan/1"`, `in.json:1:11: format: "brsp-plan/1" is not "brsp-instance/1"`},
		{"no format", `"format":"brsp-instance/1",`, ``, `in.json:1:1: "format" is missing`},
		{"a list", small, `[1,2]`, `in.json:1:1: a list is not an object`},
		{"not JSON", small, `format: brsp-instance/1`, `in.json:1:2: not JSON: invalid character 'o' in literal false`},
		{"a picture", small, "\x89PNG\r\n\x1a\n\x00", `not JSON`},
		{"empty", small, ``, `in.json:1:1: the file ends too early: it is cut off, or empty`},
		{"trailing", `"continuous":true}
]
}
`, `"continuous":true}]}{}`, `something follows the end of the document`},
		{"comma", `"mem":60,`, `"mem":60,,`, `in.json:8:41: vms[0]: not JSON: invalid character ',' at start of value`},
		{"last comma", `"next":"any"}`, `"next":"any"},`, `in.json:5:60: nodes: not JSON: invalid character ',' at start of value`},
		{"number", `"mem":60`, `"mem":060`, `in.json:8:39: vms[0]: not JSON: invalid character '6' after object value`},
		{"control letter", `"small"`, "\"sm\nall\"", `in.json:1:39: name: not JSON: invalid character '\n' in string`},
		{"not UTF-8", `"small"`, "\"\xff\"", `in.json:1:37: name: not JSON: invalid UTF-8`},
		{"half a letter", `"small"`, `"\ud800\u0041"`, `not JSON: invalid surrogate pair `},
		{"escape", `"small"`, `"\x41"`, `not JSON: invalid escape sequence `},
		{"zero byte", `"nodes"`, "\x00\"nodes\"", `in.json:3:1: not JSON: invalid character '\x00'`},
		{"deep", `"name":"small"`, `"expect":` + deep, `nested more than 100 levels deep`},
		{"deep argument", `[0,1]`, deep, `constraints[0].vms[0][0]: a list is not a whole number`},
		{"long string", `"small"`, `"` + strings.Repeat("x", 70_000) + `"`, `name: a string, a number or white space longer than 65536 bytes`},
		{"long name", `"small"`, `"` + strings.Repeat("x", 300) + `"`, `is not at most 256 bytes`},
		{"long number", `"mem":60`, `"mem":6` + strings.Repeat("0", 5000), `0… is not a whole number`},
		{"heavy", `"migrate":6`, `"migrate":1000000000,"weight":1000001`, `vms[0].weight: 1000001 is not a whole number from 0 to 1000000`},
		{"resource twice", `"name":"small"`, `"resources":["gpu","gpu"]`, `resources[1]: "gpu" is not each resource once`},
		{"resource of a bad name", `"name":"small"`, `"resources":["host"]`, `resources[0]: "host" is not small letters`},
		{"network of no kind", `"name":"small"`, `"network":7`, `in.json:1:39: network: 7 is not an object`},
		{"unknown link", `"name":"small"`, `"network":{"nics":7}`, `network: the key "nics" is not one of nic, uplink`},
		{"negative bandwidth", `"name":"small"`, `"network":{"nic":-7}`, `network.nic: -7 is not a whole number from 0 to 1099511627776, or a list of them`},
		{"bandwidth in words", `"name":"small"`, `"network":{"uplink":[1,"10G"]}`, `network.uplink[1]: "10G" is not a whole number`},
		{"negative limit", `"mem":100,"state":"online"`, `"mem":100,"transfers":-1,"state":"online"`, `nodes[0].transfers: -1 is not a whole number from 0 to 1000000`},
		{"more busy slots than there are", `"mem":100,"state":"online"`, `"mem":100,"transfers":1,"busy":[4,4],"state":"online"`, `nodes[0].busy: a list of 2 is not at most as many as transfers: 1`},
		{"busy without a limit", `"mem":100,"state":"online"`, `"mem":100,"busy":[4],"state":"online"`, `nodes[0].busy: a list of 1 is not at most as many as transfers: 0`},
		{"too many NICs", `"name":"small"`, `"network":{"nic":[1,2,3]}`, `in.json:1:46: network.nic: a list of 3 is not one bandwidth for each of the 2 nodes at most, or a number for all`},
		{"negative copy", `"migrate":6`, `"migrate":6,"copy":-1`, `vms[0].copy: -1 is not a whole number`},
		{"dirty fraction", `"migrate":6`, `"migrate":6,"dirty":0.5`, `vms[0].dirty: 0.5 is not a whole number`},
		{"no nodes", `{"id":0,"cpu":100,"mem":100,"state":"online","next":"online"},
{"id":1,"cpu":100,"mem":100,"state":"offline","next":"any"}`, ``, `nodes: an instance has at least one node`},
		{"empty gang", `"constraints"`, `"gangs":[[]],"constraints"`, `gangs[0]: an empty list is not`},
		{"gangs that share", `"constraints"`, `"gangs":[[0],[1,0]],"constraints"`, `gangs[1][1]: 0 is not a VM of no other gang: it is in gangs[0]`},
		{"gang of strangers", `"constraints"`, `"gangs":[[5]],"constraints"`, `gangs[0][0]: 5 is not a VM from 0 to 1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := change(t, tt.old, tt.with)
			_, err := read(text)
			var e *format.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			_, err = format.ReadInstance(iotest.OneByteReader(strings.NewReader(text)), "in.json")
			if slow, ok := errors.AsType[*format.Error](err); !ok || e == nil || slow.Place != e.Place || slow.Path != e.Path {
				t.Errorf("byte by byte: %v", err)
			}
			if _, zipped := read(packed(t, text)); zipped == nil || e == nil || zipped.Error() != e.Error() {
				t.Errorf("packed: %v", zipped)
			}
		})
	}
}

// A file that is cut off anywhere is refused, and so is one that was cut after it
// had been compressed.
func TestCutFiles(t *testing.T) {
	text := strings.TrimRight(small, "\n")
	zipped := packed(t, text)
	for n := range text {
		_, err := read(text[:n])
		if err == nil || !strings.Contains(err.Error(), "cut off") {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
	}
	for n := 2; n < len(zipped); n++ {
		if _, err := read(zipped[:n]); err == nil {
			t.Fatalf("compressed, and cut after %d bytes: no error", n)
		}
	}
	broken := []byte(zipped)
	broken[len(broken)/2] ^= 0x40
	if _, err := read(string(broken)); err == nil {
		t.Error("a compressed file with a wrong bit was read")
	}
}

// The parts of a file may come in any order, as programs that sort keys write it.
func TestPartsInAnyOrder(t *testing.T) {
	sorted := `{"constraints":[{"continuous":true,"type":"spread","vms":[0,1]}],
"durations":{"boot":1,"node_off":1,"node_on":1,"resume_local":5,"resume_remote":6,"shutdown":2,"suspend":4},
"format":"brsp-instance/1","name":"sorted",
"nodes":[{"cpu":100,"gpu":3,"id":0,"mem":100,"next":"online","state":"online"}],
"resources":["gpu"],
"vms":[{"cpu":10,"gpu":1,"gpu_next":2,"host":0,"id":0,"mem":60,"migrate":6,"next":"running","state":"running"},
{"cpu":10,"host":0,"id":1,"mem":60,"migrate":6,"next":"running","state":"running"}]}`
	p, err := read(sorted)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.Instance.Dims, p.Instance.Nodes[0].Capacity, p.Instance.VMs[0].Now, p.Instance.VMs[0].Next, p.Instance.VMs[1].Next); got !=
		"[cpu mem gpu] [100 100 3] [10 60 1] [10 60 2] [10 60 0]" {
		t.Error(got)
	}
	if len(p.Instance.Rules) != 1 {
		t.Error(p.Instance.Rules)
	}
}

func TestBadPlans(t *testing.T) {
	p, err := read(small)
	if err != nil {
		t.Fatal(err)
	}
	const plan = `{"format":"brsp-plan/1","instance":"small","actions":[
{"type":"node_on","node":1,"start":0,"end":1},
{"type":"boot","vm":1,"to":1,"start":1,"end":2,"after":[0]}]}`
	for _, tt := range []struct{ name, old, with, want string }{
		{"good", "", "", ""},
		{"format", `brsp-plan/1`, `brsp-instance/1`, `p.json:1:11: format: "brsp-instance/1" is not "brsp-plan/1"`},
		{"type", `"boot"`, `"reboot"`, `p.json:3:9: actions[1].type: "reboot" is not "migrate", "boot"`},
		{"no end", `,"end":1`, ``, `p.json:2:1: actions[0]: "end" is missing`},
		{"no VM", `"vm":1,`, ``, `p.json:3:1: actions[1]: "vm" is missing`},
		{"node", `"vm":1,"to"`, `"vm":1,"node"`, `actions[1]: the key "node" is not from or to, for boot`},
		{"key", `"vm":1,`, `"vm":1,"host":2,`, `actions[1]: the key "host" is not one of`},
		{"rate", `"end":2`, `"end":2,"rate":-5`, `actions[1].rate: -5 is not a whole number from 0`},
		{"time", `"end":2`, `"end":1e18`, `actions[1].end: 1e18 is not`},
		{"fraction", `"end":2`, `"end":2.5`, `actions[1].end: 2.5 is not`},
		{"cut", `"end":2,"after":[0]}]}`, ``, `cut off`},
	} {
		got, err := format.ReadPlan(strings.NewReader(strings.Replace(plan, tt.old, tt.with, 1)), "p.json", p.Instance)
		switch {
		case tt.want == "" && (err != nil || len(got.Plan.Actions) != 2):
			t.Errorf("%s: %v, %v", tt.name, got, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: got %v\nwant %s", tt.name, err, tt.want)
		}
	}
}

// A resume that does not say where its image lies is from where it does.
func TestResumeFinds(t *testing.T) {
	p, err := read(change(t, `"state":"ready","host":null`, `"state":"sleeping","host":1`))
	if err != nil {
		t.Fatal(err)
	}
	f, err := format.ReadPlan(strings.NewReader(`{"format":"brsp-plan/1","actions":[
{"type":"resume","vm":1,"to":0,"start":0,"end":6},{"type":"resume","vm":0,"to":0,"start":9,"end":14},
{"type":"suspend","vm":0,"from":0,"start":0,"end":4}]}`), "", p.Instance)
	if err != nil {
		t.Fatal(err)
	}
	if a := f.Plan.Actions; a[0].From != 1 || a[1].From != 0 {
		t.Error(a)
	}
}

func TestPlanRoundTrip(t *testing.T) {
	p := readFile(t, "testdata/extensions.json")
	none := repack.Nowhere
	plan := &format.PlanFile{Instance: "extensions \"<\n>", Solver: "hand", Plan: &repack.Plan{Actions: []repack.Action{
		{Kind: repack.Migrate, VM: 0, From: 0, To: 1, Start: 1, End: 4, Rate: 70, After: []int{4, 2}},
		{Kind: repack.Boot, VM: 2, From: none, To: 1, End: 1},
		{Kind: repack.Shutdown, VM: 1, From: 1, To: none, End: 2},
		{Kind: repack.Suspend, VM: 5, From: 0, To: none, End: 4},
		{Kind: repack.NodeOn, VM: none, From: none, To: 2, End: 1},
		{Kind: repack.NodeOff, VM: none, From: none, To: 2, Start: 3, End: 4},
		{Kind: repack.Resume, VM: 3, From: 0, To: 0, End: 5},
		{Kind: repack.Allocate, VM: 0, From: none, To: 0, Start: 8, End: 8},
	}}}
	var b bytes.Buffer
	if err := format.WritePlan(&b, p.Instance, plan); err != nil {
		t.Fatal(err)
	}
	golden.Same(t, "testdata/plan.golden", b.String())
	got, err := format.ReadPlan(&b, "", p.Instance)
	if err != nil {
		t.Fatal(err)
	}
	same(t, plan, got)
}

// A hundred megabytes of one thing are refused or read, and never taken in as a
// whole.
func TestEndless(t *testing.T) {
	for _, text := range []string{
		`[`, `{"expect":[`, `"`, ` `, "\n", `{"format":"brsp-instance/1","vms":[`, `{"constraints":[{"type":"spread","vms":[`, `{"a`,
		`{"name":1`,
	} {
		in := io.MultiReader(strings.NewReader(text), &endless{last: text[len(text)-1], left: 100 << 20})
		if _, err := format.ReadInstance(in, "endless"); err == nil {
			t.Errorf("%q: read", text)
		}
	}
}

// endless repeats the end of something.
type endless struct {
	last byte
	left int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = e.last
	}
	e.left -= len(p)
	return len(p), nil
}
