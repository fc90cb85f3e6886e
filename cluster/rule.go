package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// RuleKind names the meaning of a placement rule.
type RuleKind string

// The rules that are known so far (bin repacking paper, table of constraints).
const (
	Spread RuleKind = "spread" // no two of the VMs on one node
	Gather RuleKind = "gather" // all the VMs on one node
	Ban    RuleKind = "ban"    // none of the VMs on any of the nodes
	Fence  RuleKind = "fence"  // the VMs only on the nodes
)

// Rule is a placement rule as data: what it means is told by [Rule.Allows] and
// [Rule.Check]. Only running VMs count.
type Rule struct {
	Kind  RuleKind `json:"kind"`
	VMs   []VMID   `json:"vms"`
	Nodes []NodeID `json:"nodes,omitempty"`
}

// String is the rule in the notation of the paper: "ban({12.0, 12.1}, {n3})".
func (r Rule) String() string {
	vms := make([]string, len(r.VMs))
	for i, id := range r.VMs {
		vms[i] = id.String()
	}
	text := string(r.Kind) + "({" + strings.Join(vms, ", ") + "}"
	if len(r.Nodes) > 0 {
		nodes := make([]string, len(r.Nodes))
		for i, n := range r.Nodes {
			nodes[i] = string(n)
		}
		text += ", {" + strings.Join(nodes, ", ") + "}"
	}
	return text + ")"
}

// Validate checks the shape of the rule: a known kind, at least one VM, nodes
// where the kind needs them and nowhere else.
func (r Rule) Validate() error {
	takesNodes := r.Kind == Ban || r.Kind == Fence
	switch {
	case r.Kind != Spread && r.Kind != Gather && !takesNodes:
		return BadField("rules.kind", string(r.Kind), "one of ban, fence, gather, spread")
	case len(r.VMs) == 0:
		return BadField("rules.vms", "[]", "at least one VM")
	case takesNodes && len(r.Nodes) == 0:
		return BadField("rules.nodes", "[]", "at least one node for "+string(r.Kind))
	case !takesNodes && len(r.Nodes) > 0:
		return BadField("rules.nodes", r.Nodes, "no nodes for "+string(r.Kind))
	}
	return nil
}

// Allows reports whether vm may be placed on node while host tells where the
// other VMs of the rule run (ok false: nowhere yet). It is the rule's discrete
// form, asked one VM at a time.
func (r Rule) Allows(vm VMID, node NodeID, host func(VMID) (NodeID, bool)) bool {
	if !slices.Contains(r.VMs, vm) {
		return true
	}
	switch r.Kind {
	case Ban:
		return !slices.Contains(r.Nodes, node)
	case Fence:
		return slices.Contains(r.Nodes, node)
	case Spread, Gather:
	}
	for _, other := range r.VMs {
		if other == vm {
			continue
		}
		at, placed := host(other)
		if placed && (at == node) != (r.Kind == Gather) {
			return false
		}
	}
	return true
}

// Check says how the configuration breaks the rule, or "" when it holds.
func (r Rule) Check(c *Configuration) string {
	for _, id := range r.VMs {
		node, ok := c.Host(id)
		if ok && !r.Allows(id, node, c.Host) {
			return fmt.Sprintf("%s breaks %s: VM %s runs on %s", c.Name(), r, id, node)
		}
	}
	return ""
}
