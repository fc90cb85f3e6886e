package script_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/repack/rule"
	"vjob/repack/script"
)

// kinds is a catalogue that has each type of argument.
var kinds = []rule.Kind{
	{Name: "among", Doc: "the VMs end within one of the sets of nodes", Modes: both, Params: []rule.Param{
		{Name: "vms", Type: rule.VMs}, {Name: "sets", Type: rule.NodeSets},
	}},
	{Name: "apart", Doc: "no VM of one set with one of another", Modes: both, Params: []rule.Param{{Name: "sets", Type: rule.VMSets}}},
	{Name: "ban", Doc: "none of the VMs on the nodes", Modes: both, Params: []rule.Param{
		{Name: "vms", Type: rule.VMs}, {Name: "nodes", Type: rule.Nodes},
	}},
	{Name: "capacity", Doc: "at most so many VMs on the nodes together", Modes: both, Params: []rule.Param{
		{Name: "nodes", Type: rule.Nodes}, {Name: "max", Type: rule.Number}, {Name: "resource", Type: rule.Resource, Optional: true},
	}},
	{Name: "gather", Doc: "all the VMs on one node", Modes: rule.Discrete, Params: []rule.Param{{Name: "vms", Type: rule.VMs}}},
	{Name: "lonely", Doc: "the VMs only with each other", Modes: both, Params: []rule.Param{{Name: "vms", Type: rule.VMs}}},
	{Name: "overbook", Doc: "the nodes promise more than they have", Modes: rule.Discrete, Params: []rule.Param{
		{Name: "nodes", Type: rule.Nodes}, {Name: "resource", Type: rule.Resource}, {Name: "ratio", Type: rule.Ratio},
	}},
	{Name: "root", Doc: "the VM does not migrate", Modes: rule.Continuous, Params: []rule.Param{{Name: "vm", Type: rule.VM}}},
	{Name: "spread", Doc: "no two of the VMs on one node", Modes: both, Params: []rule.Param{{Name: "vms", Type: rule.VMs}}},
	{Name: "within", Doc: "the VMs are done in time", Modes: rule.Discrete, Params: []rule.Param{
		{Name: "vms", Type: rule.VMs}, {Name: "time", Type: rule.Time},
	}},
}

const both = rule.Discrete | rule.Continuous

// exampleNames has VM1 to VM30, N1 to N200, and some other names.
func exampleNames() *script.Table {
	var vms, nodes []string
	for i := 1; i <= 30; i++ {
		vms = append(vms, fmt.Sprintf("VM%d", i))
	}
	vms = append(vms, "12.0", "12.1", "web-01", "web-02", "web-03", "my VM", "both", "α")
	for i := 1; i <= 200; i++ {
		nodes = append(nodes, fmt.Sprintf("N%d", i))
	}
	nodes = append(nodes, "r1n1.example", "r1n2.example", "r2n1.example", "r2n2.example", "both", "7")
	return script.NewTable(vms, nodes, []string{"cpu", "mem"}, time.Second)
}

// said is a program with numbers put back into names.
func said(p *script.Program, names script.Names) string {
	var b strings.Builder
	for _, c := range p.Postings {
		if c.Continuous {
			b.WriteString("continuous ")
		}
		if c.Penalty > 0 {
			fmt.Fprintf(&b, "soft(%d) ", c.Penalty)
		}
		var args []string
		for _, p := range c.Kind.Params {
			if v, ok := c.Values[p.Name]; ok {
				args = append(args, p.Name+"="+show(v, p.Type, names))
			}
		}
		b.WriteString(c.Kind.Name + " " + strings.Join(args, " ") + "\n")
	}
	return b.String()
}

func show(v any, t rule.Type, names script.Names) string {
	of := names.VMs()
	if t == rule.Nodes || t == rule.NodeSets {
		of = names.Nodes()
	}
	switch v := v.(type) {
	case []int:
		words := make([]string, len(v))
		for i, m := range v {
			words[i] = of[m]
		}
		if len(words) > 8 {
			words = slices.Concat(words[:2], []string{fmt.Sprintf("…%d…", len(words)-4)}, words[len(words)-2:])
		}
		return "{" + strings.Join(words, " ") + "}"
	case [][]int:
		words := make([]string, len(v))
		for i, s := range v {
			words[i] = show(s, t, names)
		}
		return "{" + strings.Join(words, " ") + "}"
	case int:
		return of[v]
	}
	return fmt.Sprint(v)
}

// understood is the program of a script that must have no error.
func understood(t *testing.T, text string) *script.Program {
	t.Helper()
	p, err := script.CompileWith("test", text, exampleNames(), kinds)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return p
}
