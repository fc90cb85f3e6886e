package format

import (
	"fmt"
	"slices"

	"vjob/repack"
)

// network is the bandwidths that a file tells, until it is known how many nodes and
// racks there are.
type network struct {
	nic, uplink bandwidths
}

// bandwidths are one for each of some links, or one for all.
type bandwidths struct {
	at   Place
	all  int64 // unset: each has its own
	each []int64
}

// network reads the links that transfers share.
func (d *document) network() {
	n := &network{nic: bandwidths{all: unset}, uplink: bandwidths{all: unset}}
	d.object(func(key string) {
		switch key {
		case "nic":
			d.bandwidths(&n.nic)
		case "uplink":
			d.bandwidths(&n.uplink)
		default:
			d.unknown(key, "nic, uplink")
		}
	})
	d.links = n
}

// bandwidths reads a number or a list of them.
func (d *document) bandwidths(b *bandwidths) {
	b.at = d.place()
	if d.peek() != '[' {
		b.all = d.integer(0, maxQuantity, "a whole number from 0 to 1099511627776, or a list of them")
		return
	}
	d.list(func(i int) {
		if i == maxElements {
			d.fail("a list of more than a million")
			return
		}
		b.each = append(b.each, d.integer(0, maxQuantity, ""))
	})
}

// spread is the bandwidth of each of so many links.
func (b *bandwidths) spread(links int) []int64 {
	if b.all == unset {
		return b.each
	}
	return slices.Repeat([]int64{b.all}, links)
}

// connect makes the network of the instance, once its nodes are known, and has VMs
// that do not tell what there is to copy have their memory for it.
func (d *document) connect() {
	in := &d.instance
	if d.links != nil && d.err == nil {
		if nics := len(d.links.nic.each); nics > len(in.Nodes) {
			d.wrongAt(d.links.nic.at, "network.nic", fmt.Sprintf("a list of %d", nics), fmt.Sprintf("one bandwidth for each of the %d nodes at most, or a number for all", len(in.Nodes)))
			return
		}
		in.Network = &repack.Network{NIC: d.links.nic.spread(len(in.Nodes)), Uplink: d.links.uplink.spread(racks(in))}
	}
	for i := range in.VMs {
		if v := &in.VMs[i]; v.Memory == unset {
			v.Memory = image(in, v)
		}
	}
}

// racks is how many racks there are.
func racks(in *repack.Instance) (most int) {
	for n := range in.Nodes {
		most = max(most, in.Nodes[n].Rack+1)
	}
	return most
}

// image is what there is to copy of a VM that does not tell.
func image(in *repack.Instance, v *repack.VM) int64 {
	if in.Network == nil {
		return 0
	}
	return max(v.Now[1], v.Next[1])
}

// narrowest returns the least bandwidth of a network; 0 without limits.
func narrowest(in *repack.Instance) (least int64) {
	for l := range repack.Link(in.Links()) {
		if b := in.Bandwidth(l); b > 0 && (least == 0 || b < least) {
			least = b
		}
	}
	return least
}

// network writes the links that transfers share.
func (w writer) network(in *repack.Instance) {
	if in.Network == nil {
		return
	}
	w.put(",\n\"network\":{")
	first := true
	for _, part := range []struct {
		key   string
		each  []int64
		links int
	}{{"nic", in.Network.NIC, len(in.Nodes)}, {"uplink", in.Network.Uplink, racks(in)}} {
		if len(part.each) == 0 {
			continue
		}
		if !first {
			w.put(",")
		}
		first = false
		w.put(`"`, part.key, `":`)
		if len(part.each) == part.links && len(slices.Compact(slices.Clone(part.each))) == 1 {
			w.number(part.each[0])
		} else {
			w.value(part.each)
		}
	}
	w.put("}")
}
