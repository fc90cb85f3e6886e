package rule

import (
	"fmt"

	"vjob/repack"
)

// Post-copied VMs run on their new nodes from the start on, pre-copied ones from the
// end: what shall be at one time is the one or the other.
var (
	_ = register(syncKind("sync", "those of the VMs that migrate start to do so together", false))
	_ = register(syncKind("syncEnd", "those of the VMs that migrate end that together", true))
)

func syncKind(name, doc string, atEnd bool) Kind {
	return Kind{
		Name: name, Doc: doc,
		Params: []Param{{Name: "vms", Type: VMs}},
		Modes:  Continuous,
		make: func(b base) repack.Rule {
			return &together{base: b, vms: b.args.vms(), atEnd: atEnd}
		},
	}
}

type together struct {
	base
	vms   []int
	atEnd bool
}

// Check reports each migration at another time than the first of the set.
func (s *together) Check(t *repack.Timeline) (list []repack.Breach) {
	first := (*repack.Action)(nil)
	for _, a := range migrations(t, s.vms) {
		if first == nil {
			first = a
		}
		at, should, word := a.Start, first.Start, "starts"
		if s.atEnd {
			at, should, word = a.End, first.End, "ends"
		}
		if at != should {
			list = append(list, repack.Breach{
				Text: fmt.Sprintf("%s %s to migrate at %d, %s at %d",
					t.Instance.VMName(a.VM), word, at, t.Instance.VMName(first.VM), should), At: at,
			})
		}
	}
	return list
}

// migrations are those of the VMs, by VM and start.
func migrations(t *repack.Timeline, vms []int) (list []*repack.Action) {
	for _, vm := range vms {
		for _, i := range t.ByVM[vm] {
			if a := &t.Plan.Actions[i]; a.Kind == repack.Migrate {
				list = append(list, a)
			}
		}
	}
	return list
}

// Post joins the VMs that run and keep running: only they migrate. A single VM counts too, as
// it may migrate only once.
func (s *together) Post(b repack.ConstraintStore) {
	var keep []int
	for _, vm := range s.vms {
		if b.Instance().VMs[vm].Keeps() {
			keep = append(keep, vm)
		}
	}
	if len(keep) > 0 {
		b.Together(keep, s.atEnd)
	}
}
