package pools

import (
	"fmt"
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
)

// Errors have the file, the place, the field, the fault and the fix.
func TestBalanceFilesThatAreWrong(t *testing.T) {
	const head = "nodes: [{name: n1, cpu: 4, memory: 8GiB}, {name: n2, cpu: 4, memory: 8GiB}]\n"
	for text, want := range map[string]string{
		`cluster: {cpu: 4, memory: 8GiB}`:                                                `nodes: missing, want the nodes`,
		`nodes: [{name: n1, cpu: 4}]`:                                                    `f:1:9: nodes[0].memory: ""`,
		`nodes: [{name: n1, cpu: 0, memory: 1GiB}]`:                                      `f:1:25: nodes[0].cpu: 0, want more`,
		head + `vms: [{name: v}]`:                                                        `f:2:7: vms[0].node: missing, want the name of the node`,
		head + `vms: [{name: v, node: n11}]`:                                             `f:2:23: vms[0].node: "n11": want the name of one of the nodes, such as n1`,
		head + `vms: [{name: v, node: n1, to: n1}]`:                                      `f:2:31: vms[0].to: "n1": want another node`,
		head + `vms: [{name: v, node: n1, stable: 5%}]`:                                  `f:2:35: vms[0].stable: "5%": want a time`,
		head + `vms: [{name: v, node: n1, cpu: {demand: 2, min: 3}}]`:                    `f:2:49: vms[0].cpu.min: 3 is more than the demand`,
		head + `vms: [{name: v, node: n1, cpu: {demand: 2, max: 1}}]`:                    `f:2:49: vms[0].cpu.max: 1 is less than the demand`,
		head + `vms: [{name: v, node: n1, cpu: {demand: 50%}}]`:                          `f:2:41: vms[0].cpu.demand: "50%": want`,
		head + `vms: [{name: v, node: n1, network: {demand: 10}}]`:                       `f:2:45: vms[0].network.demand: "10": want a rate`,
		head + `vms: [{name: v, node: n1}, {name: v, node: n2}]`:                         `f:2:35: vms[1].name: "v": want a name that no other VM has, such as vms[0]`,
		head + `vms: [{name: v, node: n1, cpu: {size: 2}}]`:                              `f:2:39: vms[0].cpu.size: only memory has a size`,
		head + `settings: {threshold: -1}`:                                               `f:2:23: settings.threshold: -1: want from 0 to 10`,
		head + `settings: {weights: {cpu: 0, memory: 0, network: 0}}`:                    `f:2:21: settings.weights: all are 0`,
		head + `settings: {maxmoves: 3}`:                                                 `max_moves`,
		head + "vms: [{name: v, node: n1}]\nrules: [{rule: ban, vms: [w], nodes: [n1]}]": `rules:1:20: there is no VM w`,
		head + "rules: |\n  sprd({});":                                                   `spread`,
	} {
		_, err := readScene("f", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// moves are the moves of a file, as text.
func moves(t *testing.T, text string) string {
	t.Helper()
	s, err := readScene("f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.settings.Round(s.cluster)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range s.balanced(r).Moves {
		list = append(list, fmt.Sprintf("%s %s-%s", strings.Join(m.VMs, "+"), m.From, m.To))
	}
	return strings.Join(list, ", ")
}

// Each kind of rule restricts moves: those about VMs and nodes, and those among VMs.
func TestRulesRestrictMoves(t *testing.T) {
	const head = `
nodes: [{name: n1, cpu: 8, memory: 64GiB}, {name: n2, cpu: 8, memory: 64GiB}, {name: n3, cpu: 8, memory: 64GiB}]
settings: {goodness: 0.1}
vms:
- {name: a, node: n1, cpu: {demand: 4}, memory: {demand: 1GiB}, stable: 1h}
- {name: b, node: n1, cpu: {demand: 4}, memory: {demand: 1GiB}, stable: 1h}
- {name: c, node: n2, cpu: {demand: 1}, memory: {demand: 1GiB}, stable: 1h}
`
	for rules, want := range map[string]string{
		``:                                   `a n1-n3`,
		`rules: "ban({a}, n3);"`:             `b n1-n3`,
		`rules: "root({a});"`:                `b n1-n3`,
		`rules: "fence($ALL_VMS, {n1,n2});"`: `a n1-n2`,
		`rules: "spread({a,c}); ban({a,b}, n3);"`:            `b n1-n2, c n2-n3`,
		`rules: "continuous spread({a,c}); ban({a,b}, n3);"`: `b n1-n2, c n2-n3`,
		`rules: [{rule: capacity, nodes: [n3], max: 0}]`:     `a n1-n2`,
		`rules: "soft(5) ban($ALL_VMS, n3);"`:                `a n1-n2`,
		`rules: "ban($ALL_VMS, {n2, n3});"`:                  ``,
		`rules: "gather({b,c});"`:                            `a n1-n3`,
	} {
		if got := moves(t, head+rules); got != want {
			t.Errorf("%s: %s, want %s", rules, got, want)
		}
	}
}

// VMs of a group, and those that a rule gathers on their node, move as one.
func TestGroupsMoveTogether(t *testing.T) {
	const head = `
nodes: [{name: n1, cpu: 8, memory: 64GiB}, {name: n2, cpu: 8, memory: 64GiB}]
settings: {goodness: 0.1}
vms:
- {name: a, node: n1, cpu: {demand: 2}, stable: 1h, memory: {demand: 1GiB}%[1]s}
- {name: b, node: n1, cpu: {demand: 2}, stable: 1h, memory: {demand: 1GiB}%[1]s}
- {name: c, node: n1, cpu: {demand: 4}, stable: 1h, memory: {demand: 1GiB}, fixed: yes}
`
	for _, text := range []string{
		fmt.Sprintf(head, ", group: g"), fmt.Sprintf(head, "") + `rules: "gather({a,b});"`,
	} {
		if got, want := moves(t, text), "a+b n1-n2"; got != want {
			t.Errorf("%s\ngot %s, want %s", text, got, want)
		}
	}
}

// Entitlements are demands where all can be met, whatever the shares; otherwise reservations, limits and shares decide.
func TestEntitlementsOfBalance(t *testing.T) {
	const text = `
nodes: [{name: n1, cpu: 10, memory: 64GiB}]
pools: [{name: p, cpu: {shares: low}}, {name: q}]
vms: [{name: a, pool: p, node: n1, cpu: {demand: %s}}, {name: b, pool: q, node: n1, cpu: {demand: 2}}, {name: c, pool: q, node: n1, cpu: {limit: 1, demand: 3}}]
`
	for demand, want := range map[string][3]int64{"7": {7000, 2000, 1000}, "9": {7000, 2000, 1000}, "1": {1000, 2000, 1000}} {
		s, err := readScene("f", fmt.Appendf(nil, text, demand))
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got := s.cluster.VMs[i].Entitlement[0]; got != want[i] {
				t.Errorf("demand %s: %s gets %d, want %d", demand, s.cluster.VMs[i].Name, got, want[i])
			}
		}
	}
}

// Links that are not known take no columns.
func TestLoadsWithoutLinks(t *testing.T) {
	out := &strings.Builder{}
	a := &cli.App{Streams: cli.Streams{Out: out, Width: func() int { return 0 }}}
	if err := writeLoads(a, []wire.NodeLoad{{Node: "n1", CPU: 1}}); err != nil || strings.Contains(out.String(), "NETWORK") || !strings.Contains(out.String(), "MEMORY") {
		t.Errorf("%v\n%s", err, out)
	}
}
