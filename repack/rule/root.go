package rule

import "vjob/repack"

var _ = register(Kind{
	Name: "root", Doc: "the VMs do not migrate",
	Params: []Param{{Name: "vms", Type: VMs}},
	Modes:  Continuous,
	make: func(b base) repack.Rule {
		return &root{base: b, vms: b.args.vms()}
	},
})

type root struct {
	base
	vms []int
}

// Check reports each VM that migrates.
func (r *root) Check(t *repack.Timeline) (list []repack.Breach) {
	for _, vm := range r.vms {
		for _, i := range t.ByVM[vm] {
			if a := &t.Plan.Actions[i]; a.Kind == repack.Migrate {
				list = append(list, repack.Breach{Text: t.Instance.VMName(vm) + " migrates", At: a.Start})
				break
			}
		}
	}
	return list
}

// Post roots those that could migrate.
func (r *root) Post(b repack.ConstraintStore) {
	for _, vm := range r.vms {
		b.Root(vm)
	}
}
