package repack

import (
	"cmp"
	"fmt"
	"slices"
)

// Network is what transfers share: the NIC of every node and the uplink of every
// rack, each as wide out as in. An instance without one has the plain model: its
// actions last as long as their [Durations] say, however many there are.
//
// A transfer crosses the NICs of both nodes, and the uplinks of both racks if those
// differ. It keeps to one rate from its start to its end, and what the transfers on
// a link keep to is never more than its bandwidth. Bandwidths and rates are amounts
// per tick, in whole numbers, so the unit of amounts must be small enough: MiB
// where ticks are seconds, KiB where they are milliseconds.
type Network struct {
	NIC    []int64 // bandwidth, by node; 0 or absent is no limit
	Uplink []int64 // by [Node.Rack]
}

// Link is one direction of a NIC or of an uplink.
type Link int

// Out is the link on which a node sends.
func Out(node int) Link { return Link(2 * node) }

// In is the link on which a node receives.
func In(node int) Link { return Link(2*node + 1) }

// Links is how many links there are. They count from 0 on, and only those with a
// bandwidth limit anything.
func (in *Instance) Links() int {
	if in.Network == nil {
		return 0
	}
	return 2 * (len(in.Nodes) + len(in.Network.Uplink))
}

// Bandwidth is what a link can carry per tick; 0 is no limit.
func (in *Instance) Bandwidth(l Link) int64 {
	if n := int(l) / 2; n >= len(in.Nodes) {
		return in.Network.Uplink[n-len(in.Nodes)]
	} else if n < len(in.Network.NIC) {
		return in.Network.NIC[n]
	}
	return 0
}

// AppendCrossed adds to a list the links that what goes from one node to another
// crosses, as far as they have a limit.
func (in *Instance) AppendCrossed(list []Link, from, to int) []Link {
	net, nodes := in.Network, len(in.Nodes)
	if net == nil || from == to || from < 0 || to < 0 || from >= nodes || to >= nodes {
		return list
	}
	add := func(of []int64, i, first, in int) {
		if i < len(of) && of[i] > 0 {
			list = append(list, Link(2*(first+i)+in))
		}
	}
	add(net.NIC, from, 0, 0)
	add(net.NIC, to, 0, 1)
	if a, b := in.Nodes[from].Rack, in.Nodes[to].Rack; a != b {
		add(net.Uplink, a, nodes, 0)
		add(net.Uplink, b, nodes, 1)
	}
	return list
}

// Flow is what a link carries from an instant on.
type Flow struct {
	At   Ticks
	Rate int64
}

// Carried returns the flows of each link while these actions transfer, in the order of time.
func (in *Instance) Carried(transfers []*Action) [][]Flow {
	links := make([][]Flow, in.Links())
	for _, a := range transfers {
		for _, l := range in.AppendCrossed(nil, a.From, a.To) {
			links[l] = append(links[l], Flow{a.Start, a.Rate}, Flow{a.End, -a.Rate})
		}
	}
	for l, changes := range links {
		slices.SortFunc(changes, func(a, b Flow) int { return cmp.Compare(a.At, b.At) })
		var rate int64
		links[l] = changes[:0]
		for i, change := range changes {
			rate += change.Rate
			if i+1 == len(changes) || changes[i+1].At > change.At {
				links[l] = append(links[l], Flow{change.At, rate})
			}
		}
	}
	return links
}

// LinkName is how messages call a link.
func (in *Instance) LinkName(l Link) string {
	way := [...]string{"out of", "in to"}[l%2]
	if n := int(l) / 2; n < len(in.Nodes) {
		return fmt.Sprintf("the NIC %s %s", way, in.NodeName(n))
	}
	return fmt.Sprintf("the uplink %s rack %d", way, int(l)/2-len(in.Nodes))
}

// Transfer is what an action has to send over links that limit it.
type Transfer struct {
	Amount int64 // 0: nothing, or no link limits it
	Dirty  int64 // what must be sent again of each tick that it lasts
	Base   Ticks // how long the action takes on links of no limit
}

// Transfer is what an action on a VM, which is now on one node or has its image
// there, sends to another.
func (in *Instance) Transfer(vm int, kind Kind, from, to int) Transfer {
	v := &in.VMs[vm]
	t := Transfer{Base: v.takes(kind, from == to)}
	if in.Network == nil || kind != Migrate && kind != Resume {
		return t
	}
	var links [4]Link
	if len(in.AppendCrossed(links[:0], from, to)) == 0 {
		return t
	}
	t.Amount = v.Memory
	if kind == Migrate && !v.Paused && t.Amount > 0 {
		t.Dirty = v.Dirty
	}
	return t
}

// Lasts is how long the transfer takes at a rate, the Base at least; [Forever] if
// it never ends.
//
// Of a live migration every round sends what was written to during the one before
// (Clark et al., Live Migration of Virtual Machines, NSDI 2005, §3). The rounds are
// a geometric series of the ratio Dirty/rate (Liu et al., Performance and Energy
// Modeling for Live Migration of Virtual Machines, HPDC 2011, §3), and its limit is
// Amount/(rate-Dirty), whatever the size of the last round, in which the VM stands
// still.
func (t Transfer) Lasts(rate int64) Ticks {
	switch {
	case t.Amount == 0:
		return t.Base
	case rate <= t.Dirty:
		return Forever
	}
	return max(t.Base, Ticks(ceil(t.Amount, rate-t.Dirty)))
}

// Rate is the least rate at which the transfer is done within some ticks, which
// are not fewer than its Base.
func (t Transfer) Rate(within Ticks) int64 {
	if t.Amount == 0 {
		return 0
	}
	return t.Dirty + ceil(t.Amount, int64(max(1, within)))
}

func ceil(a, b int64) int64 { return (a + b - 1) / b }

// Lasts is how long an action on a VM takes at its rate at least; [Forever] if
// it never ends.
func (in *Instance) Lasts(a *Action) Ticks {
	return in.Transfer(a.VM, a.Kind, a.From, a.To).Lasts(a.Rate)
}

// takes is how long an action on the VM takes without a network; a local one stays on
// its node.
func (v *VM) takes(kind Kind, local bool) Ticks {
	switch {
	case kind == Migrate:
		return v.Takes.Migrate
	case kind == Boot:
		return v.Takes.Boot
	case kind == Shutdown:
		return v.Takes.Shutdown
	case kind == Suspend:
		return v.Takes.Suspend
	case local:
		return v.Takes.ResumeLocal
	default:
		return v.Takes.ResumeRemote
	}
}
