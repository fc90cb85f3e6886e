package ctxswitch

import (
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/repack"
	"vjob/ruling"
)

// packKind names the meaning of a placement rule.
type packKind string

// The rules that are known so far (bin repacking paper, table of constraints).
const (
	spreads packKind = "spread" // no two of the VMs on one node
	gathers packKind = "gather" // all the VMs on one node
	bans    packKind = "ban"    // none of the VMs on any of the nodes
	fences  packKind = "fence"  // the VMs only on the nodes
)

// packRule is a placement rule as data: what it means is told by [Rule.Allows] and
// [Rule.Check]. Only running VMs count.
type packRule struct {
	Kind  packKind         `json:"kind"`
	VMs   []cluster.VMID   `json:"vms"`
	Nodes []cluster.NodeID `json:"nodes,omitempty"`
}

// String is the rule in the notation of the paper: "ban({12.0, 12.1}, {n3})".
func (r packRule) String() string {
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

// Allows reports whether vm may be placed on node while host tells where the
// other VMs of the rule run (ok false: nowhere yet). It is the rule's discrete
// form, asked one VM at a time.
func (r packRule) Allows(vm cluster.VMID, node cluster.NodeID, host func(cluster.VMID) (cluster.NodeID, bool)) bool {
	if !slices.Contains(r.VMs, vm) {
		return true
	}
	switch r.Kind {
	case bans:
		return !slices.Contains(r.Nodes, node)
	case fences:
		return slices.Contains(r.Nodes, node)
	case spreads, gathers:
	}
	for _, other := range r.VMs {
		if other == vm {
			continue
		}
		at, placed := host(other)
		if placed && (at == node) != (r.Kind == gathers) {
			return false
		}
	}
	return true
}

// packRules are the rules that a packing knows.
func packRules(list []ruling.Rules, c *cluster.Configuration, avoid map[cluster.VMID][]cluster.NodeID) (out []packRule) {
	vms, nodes := c.VMs(), c.Nodes()
	scene := ruling.NewScene(nodes, vms)
	for _, text := range list {
		program, err := text.Compile(scene)
		if err != nil {
			continue
		}
		for _, p := range program.Postings {
			p, ok := p.Without(func(vm int) bool { return vm >= len(vms) })
			if !ok || p.Penalty > 0 {
				continue
			}
			r := packRule{Kind: packKind(p.Kind.Name)}
			switch r.Kind {
			case spreads, gathers, bans, fences:
			default:
				continue
			}
			for _, i := range p.Values["vms"].([]int) {
				r.VMs = append(r.VMs, vms[i])
			}
			on, _ := p.Values["nodes"].([]int)
			for _, i := range on {
				r.Nodes = append(r.Nodes, nodes[i].ID)
			}
			out = append(out, r)
		}
	}
	if len(avoid) == 0 {
		return out
	}
	g := newStage(c, nil)
	for _, vm := range vms {
		need := c.Need(vm)
		g.enrol(vm, repack.VM{Next: []int64{int64(need.CPU), int64(need.Memory)}, Now: []int64{int64(need.CPU), int64(need.Memory)}, Want: repack.Running})
	}
	_ = g.rules(list)
	allowed := g.allowed()
	for i, vm := range vms {
		for _, n := range g.shunned(i, avoid[vm], allowed) {
			out = append(out, packRule{Kind: bans, VMs: []cluster.VMID{vm}, Nodes: []cluster.NodeID{nodes[n].ID}})
		}
	}
	return out
}
