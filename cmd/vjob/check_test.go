package main

import (
	"encoding/json"
	"strings"
	"testing"

	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/cmd/vjob/plan"
)

func TestCheck(t *testing.T) {
	in := fileWith(t, little)
	const good = `{"format":"brsp-plan/1","instance":"little","solver":"hand","actions":[
{"type":"node_on","node":1,"start":0,"end":1},
{"type":"boot","vm":1,"to":1,"start":1,"end":2}]}`
	for _, tt := range []struct {
		name, old, with string
		args            string
		code            int
		want            string
	}{
		{"good", "", "", "", cli.ExitOK, "VALID\ninstance         little: 2 nodes, 2 VMs, 1 rule\ncompletion       2 s, the sum over the actions on VMs (3 s with those on nodes)\nmakespan         2 s\n"},
		{"early", `"start":1`, `"start":0`, "", cli.ExitInvalid, "wrong            VM 1 is on node 1 at 0, before that is online\n"},
		{"long", `"end":2`, `"end":5`, "", cli.ExitOK, "note             1 action longer than needed, such as: VM 1: boot lasts 4, needs only 1\nVALID\n"},
		{"strict", `"end":2`, `"end":5`, "--strict", cli.ExitInvalid, "wrong            VM 1: boot lasts 4, needs only 1\nINVALID (1 error)\n"},
		{"short", `"end":2`, `"end":1`, "", cli.ExitInvalid, "VM 1: boot lasts 0, needs 1\n"},
		{"wrong node", `"to":1`, `"to":9`, "", cli.ExitInvalid, "VM 1: boot to node 9\n"},
		{"wrong VM", `"vm":1`, `"vm":77`, "", cli.ExitInvalid, "there is no VM 77\n"},
		{"spread", `"to":1,"start":1`, `"to":0,"start":1`, "", cli.ExitInvalid, "spread({VM 0, VM 1}): VM 0 and VM 1 end on node 0\n"},
		{"cut short", `"to":1,"start":1`, `"to":0,"start":1`, "--max-errors 1", cli.ExitInvalid, "more; --max-errors"},
		{"other instance", `"little"`, `"large"`, "", cli.ExitOK, "note             the plan says that it is for large, and the instance is little\nVALID\n"},
		{"nothing", good[strings.Index(good, "["):], `[]}`, "", cli.ExitInvalid, "VM 1 ends ready, must be running\n"},
		{"format", `brsp-plan/1`, `plan`, "", cli.ExitInput, `format: "plan" is not "brsp-plan/1"`},
		{"cut", `}]}`, ``, "", cli.ExitInput, `cut off`},
		{"flag", "", "", "--max-errors -1", cli.ExitInput, `--max-errors: -1 is not`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := fileWith(t, strings.Replace(good, tt.old, tt.with, 1))
			args := append([]string{"check", "--in", in, "--plan", file}, strings.Fields(tt.args)...)
			r := ticking(t, 0, tick, "", args...)
			if r.code != tt.code || !strings.Contains(r.out+r.err, tt.want) {
				t.Errorf("exit %d\n%s%s\nwant %d, %s", r.code, r.out, r.err, tt.code, tt.want)
			}
			if tt.code != cli.ExitInput && r.err != "" {
				t.Error(r.err)
			}
			if tt.code == cli.ExitInput {
				return
			}
			r = ticking(t, 0, tick, "", append(args, "-o", "json")...)
			var got plan.Checked
			if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != tt.code || got.Valid != (tt.code == cli.ExitOK) || got.Valid != (got.Errors == 0) {
				t.Errorf("%v %+v", err, r)
			}
		})
	}
}

// What files hold cannot take over a terminal.
func TestCheckNothingRaw(t *testing.T) {
	in := fileWith(t, edit(t, `"name":"little"`, `"name":"\u001b[2J\u202e"`))
	file := fileWith(t, `{"format":"brsp-plan/1","instance":"\u001b]0;x\u0007","actions":[]}`)
	for _, format := range []string{"table", "json"} {
		r := ticking(t, 0, tick, "", "check", "--in", in, "--plan", file, "-o", format)
		if i := strings.IndexFunc(r.out+r.err, func(c rune) bool { return c != '\n' && display.UnsafeRune(c) }); i >= 0 || r.code != cli.ExitInvalid {
			t.Errorf("%q", r.out+r.err)
		}
	}
}

func TestCheckInputs(t *testing.T) {
	if r := ticking(t, 0, tick, "", "check", "--in", "-", "--plan", "-"); r.code != cli.ExitInput || !strings.Contains(r.err, "the standard input has the instance") {
		t.Error(r)
	}
	if r := ticking(t, 0, tick, little, "check", "--in", "-"); r.code != cli.ExitInput || !strings.Contains(r.err, `--plan: "" is not`) {
		t.Error(r)
	}
}
