package vjobfile

import (
	"cmp"
	"fmt"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/internal/document"
)

// shapeFile is an alternative in a vjob file. What it does not say is as the vjob has it.
type shapeFile struct {
	Count           int              `json:"count"`
	Template        *vmFile          `json:"template"`
	VMs             []vmFile         `json:"vms"`
	Walltime        string           `json:"walltime"`
	WalltimeSeconds int64            `json:"walltime_seconds"`
	Rules           document.Passage `json:"rules"`
}

// shapes turns the words of the alternatives into numbers.
func (f *vjobFile) shapes() (shapes []wire.Shape, err error) {
	for i := range f.Shapes {
		x, path := f.Shapes[i], fmt.Sprintf("shapes[%d]", i)
		if x.Template == nil && len(x.VMs) == 0 {
			x.Template, x.Count = f.Template, cmp.Or(x.Count, f.Count)
		}
		if x.Template == nil && len(x.VMs) == 0 {
			return nil, cluster.Fault(path+".vms", "missing, want a list of VMs, or count and template")
		}
		one := vjobFile{Count: x.Count, Template: x.Template, VMs: x.VMs, Walltime: x.Walltime, WalltimeSeconds: x.WalltimeSeconds, Rules: x.Rules}
		if one.Rules == "" {
			one.Rules = f.Rules
		}
		s, err := one.submission()
		if err != nil {
			return nil, cluster.WithPath(path, err)
		}
		shapes = append(shapes, wire.Shape{
			Count: s.Count, Template: s.Template, VMs: s.VMs, WalltimeSeconds: s.WalltimeSeconds, Rules: s.Rules,
		})
	}
	return shapes, nil
}
