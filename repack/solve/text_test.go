package solve_test

import (
	"fmt"
	"strings"

	"vjob/repack"
)

// planText is a plan for people, one action a line.
func planText(p *repack.Plan) string {
	var b strings.Builder
	for i := range p.Actions {
		a := &p.Actions[i]
		fmt.Fprintf(&b, "%2d  %d-%d %s", i, a.Start, a.End, a.Kind)
		switch {
		case a.Kind.OnNode():
			fmt.Fprintf(&b, " node %d", a.To)
		case a.Kind == repack.Allocate:
			fmt.Fprintf(&b, " VM %d on node %d", a.VM, a.To)
		default:
			fmt.Fprintf(&b, " VM %d", a.VM)
			if a.From != repack.Nowhere {
				fmt.Fprintf(&b, " from node %d", a.From)
			}
			if a.To != repack.Nowhere {
				fmt.Fprintf(&b, " to node %d", a.To)
			}
		}
		if a.Rate > 0 {
			fmt.Fprintf(&b, " rate %d", a.Rate)
		}
		if len(a.After) > 0 {
			fmt.Fprintf(&b, " after %v", a.After)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// text is a problem for people.
func text(in *repack.Instance) string {
	var b strings.Builder
	fmt.Fprintf(&b, "node_off %d, node_on %d\n", in.NodeOff, in.NodeOn)
	for n := range in.Nodes {
		fmt.Fprintf(&b, "node %d: %v %s, to be %s\n", n, in.Nodes[n].Capacity, in.Nodes[n].State, in.Nodes[n].Want)
	}
	for vm := range in.VMs {
		v := &in.VMs[vm]
		fmt.Fprintf(&b, "VM %d: %s on %d, to be %s; %v, then %v; weight %d, takes %v", vm, v.State, v.Host, v.Want, v.Now, v.Next, v.Weight, v.Takes)
		for word, is := range map[string]bool{"stays": v.Stays, "sleepable": v.Sleepable, "paused": v.Paused} {
			if is {
				b.WriteString(", " + word)
			}
		}
		b.WriteString("\n")
	}
	if in.Network != nil {
		fmt.Fprintf(&b, "network %v, racks", *in.Network)
		for n := range in.Nodes {
			fmt.Fprintf(&b, " %d", in.Nodes[n].Rack)
		}
		for vm := range in.VMs {
			fmt.Fprintf(&b, "; VM %d: %d, dirty %d", vm, in.VMs[vm].Memory, in.VMs[vm].Dirty)
		}
		b.WriteString("\n")
	}
	if len(in.Gangs) > 0 {
		fmt.Fprintf(&b, "gangs %v\n", in.Gangs)
	}
	for _, r := range in.Rules {
		fmt.Fprintf(&b, "%s, penalty %d\n", r.Rule, r.Penalty)
	}
	return b.String()
}
