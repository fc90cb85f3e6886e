//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"testing"

	"libvirt.org/go/libvirt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// fakeTunable is a machine with a cap.
type fakeTunable struct {
	text   string // its description; "" when it cannot be read
	params *libvirt.DomainSchedulerParameters
	fault  error
	flags  []libvirt.DomainModificationImpact // of each call
}

func (s *fakeTunable) GetXMLDesc(flags libvirt.DomainXMLFlags) (string, error) {
	if s.text == "" || flags != 0 {
		return "", s.fault
	}
	return s.text, nil
}

func (s *fakeTunable) GetSchedulerParametersFlags(flags libvirt.DomainModificationImpact) (*libvirt.DomainSchedulerParameters, error) {
	s.flags = append(s.flags, flags)
	return s.params, s.fault
}

func (s *fakeTunable) SetSchedulerParametersFlags(params *libvirt.DomainSchedulerParameters, flags libvirt.DomainModificationImpact) error {
	s.flags = append(s.flags, flags)
	s.params = params
	return s.fault
}

// A machine that comes back from its image gets its cap and its weight, unless it has them.
func TestEnsureTuning(t *testing.T) {
	const (
		none   = "<domain><name>a</name></domain>"
		half   = "<domain><cputune><global_period>100000</global_period><global_quota>50000</global_quota></cputune></domain>"
		triple = "<domain><cputune><shares>300</shares></cputune></domain>"
	)
	refused := libvirt.Error{Code: libvirt.ERR_OPERATION_FAILED, Message: "no control group"}
	for _, c := range []struct {
		name  string
		text  string
		want  tuning
		fault error
		quota int64 // 0: it is not asked for
		ok    bool
	}{
		{"none, and none is wanted", none, tuning{}, refused, 0, true},
		{"the one that is wanted", half, tuning{cap: 500}, refused, 0, true},
		{"another", half, tuning{cap: 250}, nil, 25_000, true},
		{"one that is not wanted", half, tuning{}, nil, -1, true},
		{"a host that cannot cap", none, tuning{cap: 500}, refused, 50_000, false},
		{"no description", "", tuning{cap: 500}, refused, 0, false},
		{"a description that cannot be read", "no XML", tuning{cap: 500}, refused, 0, false},
		{"the weight that is wanted", triple, tuning{weight: 300}, refused, 0, true},
		{"a weight that may stay", triple, tuning{}, refused, 0, true},
		{"another weight", triple, tuning{weight: 200}, nil, -1, true},
		{"the default, which differs between hosts", none, tuning{weight: 100}, nil, -1, true},
	} {
		m := &fakeTunable{text: c.text, fault: c.fault}
		err := ensureTuning(t.Context(), m, c.want)
		if (err == nil) != c.ok || c.quota != 0 && !c.ok && !errors.Is(err, hypervisor.ErrRefused) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.text == "" && !errors.Is(err, refused) {
			t.Errorf("%s: %v, want %v", c.name, err, refused)
		}
		if (m.params == nil) != (c.quota == 0) {
			t.Errorf("%s: asked for %+v", c.name, m.params)
			continue
		}
		if m.params == nil {
			continue
		}
		want := libvirt.DomainSchedulerParameters{
			GlobalPeriodSet: true, GlobalPeriod: 100_000, GlobalQuotaSet: true, GlobalQuota: c.quota,
			CpuSharesSet: c.want.weight > 0, CpuShares: uint64(c.want.weight),
		}
		if *m.params != want || len(m.flags) != 1 || m.flags[0] != libvirt.DOMAIN_AFFECT_LIVE {
			t.Errorf("%s: asked for %+v, %v", c.name, *m.params, m.flags)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	m := &fakeTunable{text: none}
	if err := ensureTuning(ended, m, tuning{cap: 500}); !errors.Is(err, hypervisor.ErrTimeout) || m.params != nil {
		t.Errorf("after the end of the call: %v, asked for %+v", err, m.params)
	}
}

// The tuning of a machine is read as it is set.
func TestTuningNow(t *testing.T) {
	m := &fakeTunable{}
	want := tuning{750, 300}
	if err := setTuning(m, want); err != nil {
		t.Fatal(err)
	}
	if got, err := currentTuning(m); got != want || err != nil || m.flags[1] != libvirt.DOMAIN_AFFECT_LIVE {
		t.Errorf("%+v, %v, %v", got, err, m.flags)
	}
	m.fault = errors.New("no control group")
	if got, err := currentTuning(m); got != (tuning{}) || err == nil {
		t.Errorf("of a node that does not tell: %+v, %v", got, err)
	}
}

// A cap that was set is shown at once; one that was refused is not.
func TestCapIsShown(t *testing.T) {
	b := newBuiltin(t)
	vm := cluster.VMID{VJob: 7}
	b.create(vm, nil)
	call := hypervisor.Call{Op: 1, Verb: hypervisor.Tune, VM: vm, Node: "h1", Cap: 500, Weight: 300}
	b.state(vm)
	if _, err := b.Do(t.Context(), call); !errors.Is(err, hypervisor.ErrRefused) {
		t.Errorf("this node caps nothing: %v", err)
	}
	view := b.look()
	if c, _ := view.Copy(vm); c.Cap != 0 || c.Weight != 0 {
		t.Errorf("a cap that was refused is shown: %+v", c)
	}
}

// What a host has taken is noted, also when it answers late. From the call on looks query it,
// because it may hold without an answer.
func TestTuningIsNoted(t *testing.T) {
	vm := cluster.VMID{VJob: 7}
	uuid := machineUUID("c", vm)
	lost := libvirt.Error{Code: libvirt.ERR_INTERNAL_ERROR, Domain: libvirt.FROM_RPC, Message: "client socket is closed"}
	for _, c := range []struct {
		name         string
		first, given tuning
		fault, want  error
		noted        tuning
	}{
		{"the first cap", tuning{}, tuning{cap: 500}, nil, nil, tuning{cap: 500}},
		{"another cap", tuning{cap: 250}, tuning{cap: 500}, nil, nil, tuning{cap: 500}},
		{"the cap is lifted", tuning{cap: 250}, tuning{}, nil, nil, tuning{}},
		{"a weight", tuning{cap: 250}, tuning{250, 300}, nil, nil, tuning{250, 300}},
		{"the weight stays", tuning{weight: 300}, tuning{cap: 500}, nil, nil, tuning{500, 300}},
		{"the connection breaks", tuning{}, tuning{500, 300}, lost, hypervisor.ErrTimeout, tuning{}},
	} {
		h := &node{driver: &Driver{cfg: Config{Cluster: "c"}}, cache: newCache()}
		h.cache.recordListed(&listedMachine{uuid: uuid, id: 3, identity: ourMachine, copy: hypervisor.Copy{Cap: c.first.cap, Weight: c.first.weight}}, noon)
		if h.cache.tuned(uuid) {
			t.Errorf("%s: looks query what was never given", c.name)
		}
		call := hypervisor.Call{VM: vm, Cap: c.given.cap, Weight: c.given.weight}
		if err := h.changeTuning(t.Context(), &fakeTunable{fault: c.fault}, call); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if got := h.cache.tuning(uuid, 3, tuning{cap: 750}); got != c.noted || !h.cache.tuned(uuid) {
			t.Errorf("%s: %+v, looks query it: %t; want %+v, true", c.name, got, h.cache.tuned(uuid), c.noted)
		}
		// The next look reads the description of a machine that none has shown yet.
		call.VM = cluster.VMID{VJob: 8}
		if err := h.changeTuning(t.Context(), &fakeTunable{}, call); err != nil || h.cache.tuned(machineUUID("c", call.VM)) {
			t.Errorf("%s to a machine that no look has shown: %v, and looks query it", c.name, err)
		}
	}
}
