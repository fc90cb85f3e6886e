package rule

import (
	"fmt"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "deadline", Doc: "what the VMs do has ended by a time from the start of the plan",
	Params: []Param{{Name: "vms", Type: VMs}, {Name: "at", Type: Time}},
	Modes:  Continuous,
	make: func(b base) repack.Rule {
		return &deadline{base: b, vms: b.args.vms(), at: b.args.time("at")}
	},
})

type deadline struct {
	base
	vms []int
	at  repack.Ticks
}

// Check reports each VM with a last action that ends later.
func (r *deadline) Check(t *repack.Timeline) (list []repack.Breach) {
	for _, vm := range r.vms {
		for _, i := range t.ByVM[vm] {
			if a := &t.Plan.Actions[i]; a.End > r.at {
				list = append(list, repack.Breach{Text: fmt.Sprintf("%s of %s ends at %d", a.Kind, t.Instance.VMName(vm), a.End), At: r.at})
				break
			}
		}
	}
	return list
}

// Post bounds the ends.
func (r *deadline) Post(b repack.ConstraintStore) {
	for _, vm := range r.vms {
		b.Due(vm, repack.Forever, r.at)
	}
}
