package rule

import (
	"fmt"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "noDelay", Doc: "what the VMs do starts at once",
	Params: []Param{{Name: "vms", Type: VMs}},
	Modes:  Continuous,
	make: func(b base) repack.Rule {
		return &noDelay{base: b, vms: b.args.vms()}
	},
})

type noDelay struct {
	base
	vms []int
}

// Check reports each VM with a first action that starts later.
func (r *noDelay) Check(t *repack.Timeline) (list []repack.Breach) {
	for _, vm := range r.vms {
		if len(t.ByVM[vm]) == 0 {
			continue
		}
		if a := &t.Plan.Actions[t.ByVM[vm][0]]; a.Start > 0 {
			list = append(list, repack.Breach{Text: fmt.Sprintf("%s of %s waits", a.Kind, t.Instance.VMName(vm)), At: a.Start})
		}
	}
	return list
}

// Post bounds the starts.
func (r *noDelay) Post(b repack.ConstraintStore) {
	for _, vm := range r.vms {
		b.Due(vm, 0, repack.Forever)
	}
}
