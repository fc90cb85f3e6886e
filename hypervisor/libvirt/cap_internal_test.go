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

// A machine that comes back from its image gets its cap, unless it has that one.
func TestEnsureCap(t *testing.T) {
	const (
		none = "<domain><name>a</name></domain>"
		half = "<domain><cputune><global_period>100000</global_period><global_quota>50000</global_quota></cputune></domain>"
	)
	refused := libvirt.Error{Code: libvirt.ERR_OPERATION_FAILED, Message: "no control group"}
	for _, c := range []struct {
		name  string
		text  string
		most  cluster.MilliCPU
		fault error
		quota int64 // 0: it is not asked for
		ok    bool
	}{
		{"none, and none is wanted", none, 0, refused, 0, true},
		{"the one that is wanted", half, 500, refused, 0, true},
		{"another", half, 250, nil, 25_000, true},
		{"one that is not wanted", half, 0, nil, -1, true},
		{"a host that cannot cap", none, 500, refused, 50_000, false},
		{"no description", "", 500, refused, 0, false},
		{"a description that cannot be read", "no XML", 500, refused, 0, false},
	} {
		m := &fakeTunable{text: c.text, fault: c.fault}
		err := ensureCap(t.Context(), m, c.most)
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
		want := libvirt.DomainSchedulerParameters{GlobalPeriodSet: true, GlobalPeriod: 100_000, GlobalQuotaSet: true, GlobalQuota: c.quota}
		if *m.params != want || len(m.flags) != 1 || m.flags[0] != libvirt.DOMAIN_AFFECT_LIVE {
			t.Errorf("%s: asked for %+v, %v", c.name, *m.params, m.flags)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	m := &fakeTunable{text: none}
	if err := ensureCap(ended, m, 500); !errors.Is(err, hypervisor.ErrTimeout) || m.params != nil {
		t.Errorf("after the end of the call: %v, asked for %+v", err, m.params)
	}
}

// The cap of a machine is read as it is set.
func TestCapNow(t *testing.T) {
	m := &fakeTunable{}
	if err := setCap(m, 750); err != nil {
		t.Fatal(err)
	}
	if got, err := currentCap(m); got != 750 || err != nil || m.flags[1] != libvirt.DOMAIN_AFFECT_LIVE {
		t.Errorf("%d, %v, %v", got, err, m.flags)
	}
	m.fault = errors.New("no control group")
	if got, err := currentCap(m); got != 0 || err == nil {
		t.Errorf("of a node that does not tell: %d, %v", got, err)
	}
}

// A cap that was set is shown at once; one that was refused is not.
func TestCapIsShown(t *testing.T) {
	b := newBuiltin(t)
	vm := cluster.VMID{VJob: 7}
	b.create(vm, nil)
	call := hypervisor.Call{Op: 1, Verb: hypervisor.Cap, VM: vm, Node: "h1", Cap: 500}
	b.state(vm)
	if _, err := b.Do(t.Context(), call); !errors.Is(err, hypervisor.ErrRefused) {
		t.Errorf("this node caps nothing: %v", err)
	}
	view := b.look()
	if c, _ := view.Copy(vm); c.Cap != 0 {
		t.Errorf("a cap that was refused is shown: %+v", c)
	}
}

// A cap that a host has taken is noted, also when it answers late. From the call on looks
// ask for the cap, because it may hold without an answer.
func TestCapIsNoted(t *testing.T) {
	vm := cluster.VMID{VJob: 7}
	uuid := machineUUID("c", vm)
	lost := libvirt.Error{Code: libvirt.ERR_INTERNAL_ERROR, Domain: libvirt.FROM_RPC, Message: "client socket is closed"}
	for _, c := range []struct {
		name         string
		first, given cluster.MilliCPU
		fault, want  error
		noted        cluster.MilliCPU
	}{
		{"the first cap", 0, 500, nil, nil, 500},
		{"another cap", 250, 500, nil, nil, 500},
		{"the cap is lifted", 250, 0, nil, nil, 0},
		{"the connection breaks", 0, 500, lost, hypervisor.ErrTimeout, 0},
	} {
		h := &node{driver: &Driver{cfg: Config{Cluster: "c"}}, cache: newCache()}
		h.cache.recordListed(uuid, 3, ourMachine, &hypervisor.Copy{Cap: c.first}, noon)
		if h.cache.tuned(uuid) {
			t.Errorf("%s: looks ask for a cap that was never given", c.name)
		}
		if err := h.changeCap(t.Context(), &fakeTunable{fault: c.fault}, hypervisor.Call{VM: vm, Cap: c.given}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if got := h.cache.cap(uuid, 3, 750); got != c.noted || !h.cache.tuned(uuid) {
			t.Errorf("%s: cap %d, looks ask for it: %t; want %d, true", c.name, got, h.cache.tuned(uuid), c.noted)
		}
		// The next look reads the description of a machine that none has shown yet.
		vm := cluster.VMID{VJob: 8}
		if err := h.changeCap(t.Context(), &fakeTunable{}, hypervisor.Call{VM: vm, Cap: c.given}); err != nil || h.cache.tuned(machineUUID("c", vm)) {
			t.Errorf("%s to a machine that no look has shown: %v, and looks ask for it", c.name, err)
		}
	}
}
