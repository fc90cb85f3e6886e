package rule

import (
	"fmt"
	"slices"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "preserve", Doc: "each of the VMs gets at least amount of a resource",
	Params: []Param{{Name: "vms", Type: VMs}, {Name: "resource", Type: Resource}, {Name: "amount", Type: Amount}},
	Modes:  Discrete,
	make: func(b base) repack.Rule {
		return &preserve{base: b, vms: b.args.vms(), d: b.args.resource("resource"), least: b.args.number("amount")}
	},
})

// preserve states a growing load.
type preserve struct {
	base
	vms   []int
	d     int
	least int64
}

// Amend raises what the VMs ask for.
func (p *preserve) Amend(in *repack.Instance) error {
	for _, vm := range p.vms {
		v := &in.VMs[vm]
		if v.Next[p.d] >= p.least {
			continue
		}
		v.Next = slices.Clone(v.Next)
		v.Next[p.d] = p.least
	}
	return nil
}

// Check reports each VM that ends with less.
func (p *preserve) Check(t *repack.Timeline) (list []repack.Breach) {
	for _, vm := range p.vms {
		stays := t.Stays[vm]
		if _, runs := t.Runs(vm); !runs || len(stays) == 0 {
			continue
		}
		if has := stays[len(stays)-1].Need[p.d]; has < p.least {
			list = append(list, repack.Breach{Text: fmt.Sprintf("%s ends with %d", t.Instance.VMName(vm), has), At: repack.Forever})
		}
	}
	return list
}

// Post has nothing to say: the demands are part of the amended instance.
func (p *preserve) Post(repack.ConstraintStore) {}
