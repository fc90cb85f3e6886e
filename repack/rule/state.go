package rule

import (
	"fmt"
	"slices"

	"vjob/repack"
)

// The rules on the state in which VMs end.
var (
	_ = register(stateKind("running", "the VMs run at the end", repack.Running))
	_ = register(stateKind("ready", "the VMs are not launched at the end, or shut down", repack.Ready))
	_ = register(stateKind("sleeping", "the VMs are suspended at the end", repack.Sleeping))
	_ = register(stateKind("killed", "the VMs are gone at the end", repack.Killed))
)

func stateKind(name, doc string, want repack.VMState) Kind {
	return Kind{
		Name: name, Doc: doc,
		Params: []Param{{Name: "vms", Type: VMs}},
		Modes:  Discrete,
		make: func(b base) repack.Rule {
			return &state{base: b, vms: b.args.vms(), want: want}
		},
	}
}

type state struct {
	base
	vms  []int
	want repack.VMState
}

// Amend asks for the state, whatever the instance asked for; but two rules may not
// ask for two.
func (s *state) Amend(in *repack.Instance) error {
	for _, vm := range s.vms {
		v := &in.VMs[vm]
		if v.State == repack.Killed && s.want != repack.Killed {
			return fmt.Errorf("%s: %s is killed, that is for ever", s, in.VMName(vm))
		}
		if v.Want == s.want {
			continue
		}
		for _, r := range in.Rules {
			other, ok := r.Rule.(*state)
			if other == s {
				break
			}
			if ok && r.Penalty == 0 && other.want != s.want && slices.Contains(other.vms, vm) {
				return fmt.Errorf("%s and %s contradict each other: %s cannot end %s and %s", other, s, in.VMName(vm), other.want, s.want)
			}
		}
		v.Want = s.want
	}
	return nil
}

// Check reports each VM that ends otherwise.
func (s *state) Check(t *repack.Timeline) (list []repack.Breach) {
	for _, vm := range s.vms {
		if t.State[vm] != s.want {
			list = append(list, repack.Breach{Text: fmt.Sprintf("%s ends %s", t.Instance.VMName(vm), t.State[vm]), At: repack.Forever})
		}
	}
	return list
}

// Post has nothing to say: what is wanted is part of the amended instance.
func (s *state) Post(repack.ConstraintStore) {}
