//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"

	"libvirt.org/go/libvirt"
	"libvirt.org/go/libvirtxml"

	"vjob/cluster"
	"vjob/hypervisor"
)

// tunable is the part of a [libvirt.Domain] that caps use.
type tunable interface {
	GetXMLDesc(flags libvirt.DomainXMLFlags) (string, error)
	GetSchedulerParametersFlags(flags libvirt.DomainModificationImpact) (*libvirt.DomainSchedulerParameters, error)
	SetSchedulerParametersFlags(params *libvirt.DomainSchedulerParameters, flags libvirt.DomainModificationImpact) error
}

// cap carries out [hypervisor.Cap].
func (n *node) cap(ctx context.Context, call hypervisor.Call) error {
	return n.onMachine(ctx, n.controlPool, call.VM, func(dom *libvirt.Domain) error { return n.changeCap(ctx, dom, call) })
}

// changeCap sets a cap and records it in the cache. From now on looks query the cap: a call
// without an answer may have taken effect, and a look that began before the call knows only the
// old cap.
func (n *node) changeCap(ctx context.Context, m tunable, call hypervisor.Call) error {
	uuid := machineUUID(n.driver.cfg.Cluster, call.VM)
	n.cache.markTuned(uuid)
	err := change(ctx, func() error { return setCap(m, call.Cap) })
	if err == nil {
		n.cache.recordCap(uuid, call.Cap)
	}
	return err
}

// setCap sets the cap of a machine that exists, at once.
func setCap(m tunable, limit cluster.MilliCPU) error {
	return m.SetSchedulerParametersFlags(&libvirt.DomainSchedulerParameters{
		GlobalPeriodSet: true, GlobalPeriod: capPeriod,
		GlobalQuotaSet: true, GlobalQuota: quota(limit),
	}, libvirt.DOMAIN_AFFECT_LIVE)
}

// ensureCap sets a cap unless the machine has it already. So a host that does not support caps
// is never asked to remove one.
func ensureCap(ctx context.Context, m tunable, limit cluster.MilliCPU) error {
	text, err := m.GetXMLDesc(0)
	if err != nil {
		return err
	}
	var d libvirtxml.Domain
	if err := d.Unmarshal(text); err != nil || capOf(d.CPUTune) == limit {
		return err
	}
	return change(ctx, func() error { return setCap(m, limit) })
}

// currentCap returns the cap of a machine.
func currentCap(m tunable) (cluster.MilliCPU, error) {
	p, err := m.GetSchedulerParametersFlags(libvirt.DOMAIN_AFFECT_LIVE)
	if err != nil {
		return 0, err
	}
	return capFromQuota(p.GlobalQuota, p.GlobalPeriod), nil
}
