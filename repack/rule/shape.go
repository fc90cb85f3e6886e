package rule

import "vjob/repack"

// What some rules tell of themselves beyond their guards, for bounds that look at
// more than one node, and for where to search first.

// Apart are VMs of which no two end on one node.
func (s *spread) Apart() []int { return s.vms }

// Dedicated returns the VMs that share their nodes with no others at the end.
func (l *lonely) Dedicated() []int { return l.vms }

// Quota is how many VMs may end on some nodes together.
func (c *capacity) Quota() (nodes []int, most int64) { return c.nodes, c.most }

// Inevitable is how many breaches every plan has: the VMs that the instance has end otherwise.
func (s *state) Inevitable(in *repack.Instance) (breaches int) {
	for _, vm := range s.vms {
		if in.VMs[vm].Want != s.want {
			breaches++
		}
	}
	return breaches
}

// Inevitable is how many breaches every plan has: the nodes that the instance has end otherwise.
func (p *power) Inevitable(in *repack.Instance) (breaches int) {
	for _, n := range p.nodes {
		if want := in.Nodes[n].Want; want != repack.AnyState && want != p.want {
			breaches++
		}
	}
	return breaches
}

// Inevitable is how many breaches every plan has: the VMs that end with less.
func (p *preserve) Inevitable(in *repack.Instance) (breaches int) {
	for _, vm := range p.vms {
		if v := &in.VMs[vm]; v.Want == repack.Running && v.Next[p.d] < p.least {
			breaches++
		}
	}
	return breaches
}

// Mendable says that further VMs may use the nodes that are missing.
func (m *mostlySpread) Mendable() {}

// Lenient reports whether the watch admits all that the rule allows: VMs on the nodes need as much of
// the resource at first as they do in the end, and no more than the nodes may give.
func (r *resourceCapacity) Lenient(in *repack.Instance) bool {
	inside := newFlags(len(in.Nodes), r.nodes)
	var used int64
	for vm := range in.VMs {
		v := &in.VMs[vm]
		if v.State != repack.Running || !inside.has(v.Host) {
			continue
		}
		if used += v.Now[r.d]; v.Now[r.d] != v.Next[r.d] {
			return false
		}
	}
	return used <= r.most
}

// Lenient reports whether the watch admits all that the rule allows: where too many VMs are at first, one
// may come at the instant at which another leaves.
func (c *capacity) Lenient(in *repack.Instance) bool {
	inside := newFlags(len(in.Nodes), c.nodes)
	var on int64
	for vm := range in.VMs {
		if v := &in.VMs[vm]; v.State == repack.Running && inside.has(v.Host) {
			on++
		}
	}
	return on <= c.most
}
