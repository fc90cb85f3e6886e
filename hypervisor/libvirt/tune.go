//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"strings"

	"libvirt.org/go/libvirt"
	"libvirt.org/go/libvirtxml"

	"vjob/hypervisor"
)

// tunable is the part of a [libvirt.Domain] that caps and weights use.
type tunable interface {
	GetXMLDesc(flags libvirt.DomainXMLFlags) (string, error)
	GetSchedulerParametersFlags(flags libvirt.DomainModificationImpact) (*libvirt.DomainSchedulerParameters, error)
	SetSchedulerParametersFlags(params *libvirt.DomainSchedulerParameters, flags libvirt.DomainModificationImpact) error
}

// tune carries out [hypervisor.Tune].
func (n *node) tune(ctx context.Context, call hypervisor.Call) error {
	return n.onMachine(ctx, n.controlPool, call.VM, func(dom *libvirt.Domain) error { return n.changeTuning(ctx, dom, call) })
}

// changeTuning sets the cap and the weight of a machine and records them in the cache. From now on
// looks query them: a call without an answer may have taken effect, and a look that began before
// the call knows only the old ones.
func (n *node) changeTuning(ctx context.Context, m tunable, call hypervisor.Call) error {
	uuid := machineUUID(n.driver.cfg.Cluster, call.VM)
	n.cache.markTuned(uuid)
	want := tuning{call.Cap, call.Weight}
	err := change(ctx, func() error { return setTuning(m, want) })
	if err == nil {
		n.cache.recordTuning(uuid, want)
	}
	return err
}

// setTuning sets the cap of a machine that exists, at once, and its weight unless that is 0.
func setTuning(m tunable, want tuning) error {
	return m.SetSchedulerParametersFlags(&libvirt.DomainSchedulerParameters{
		GlobalPeriodSet: true, GlobalPeriod: capPeriod,
		GlobalQuotaSet: true, GlobalQuota: quota(want.cap),
		CpuSharesSet: want.weight > 0, CpuShares: uint64(max(0, want.weight)),
	}, libvirt.DOMAIN_AFFECT_LIVE)
}

// ensureTuning sets a cap and a weight unless the machine has them already. So a host that does not
// support them is never asked to remove a cap.
func ensureTuning(ctx context.Context, m tunable, want tuning) error {
	text, err := m.GetXMLDesc(0)
	if err != nil {
		return err
	}
	var d libvirtxml.Domain
	if err := d.Unmarshal(text); err != nil || tuningOf(d.CPUTune).fulfils(want) {
		return err
	}
	return change(ctx, func() error { return setTuning(m, want) })
}

// untunable reports whether a host has refused to tell the tuning of a machine because it has no
// control groups for the CPU, so that no cap and no weight holds there.
func untunable(err error) bool {
	return hasCode(err, libvirt.ERR_OPERATION_INVALID) && strings.Contains(err.Error(), "cgroup CPU controller is not mounted")
}

// currentTuning returns the cap and the weight of a machine.
func currentTuning(m tunable) (tuning, error) {
	p, err := m.GetSchedulerParametersFlags(libvirt.DOMAIN_AFFECT_LIVE)
	if err != nil {
		return tuning{}, err
	}
	return tuning{cap: capFromQuota(p.GlobalQuota, p.GlobalPeriod), weight: int(p.CpuShares)}, nil
}
