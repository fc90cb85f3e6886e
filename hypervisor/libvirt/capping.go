//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"

	"libvirt.org/go/libvirt"
	"libvirt.org/go/libvirtxml"

	"vjob/cluster"
	"vjob/hypervisor"
)

// tunable is what caps need of a machine: a [libvirt.Domain].
type tunable interface {
	GetXMLDesc(flags libvirt.DomainXMLFlags) (string, error)
	GetSchedulerParametersFlags(flags libvirt.DomainModificationImpact) (*libvirt.DomainSchedulerParameters, error)
	SetSchedulerParametersFlags(params *libvirt.DomainSchedulerParameters, flags libvirt.DomainModificationImpact) error
}

// cap gives a machine a cap.
func (h *host) cap(ctx context.Context, call hypervisor.Call) error {
	return h.onMachine(ctx, h.control, call.VM, func(dom *libvirt.Domain) error { return h.giveCap(ctx, dom, call) })
}

// giveCap is setCap, and noted for looks. From now on they ask for the cap: the host may
// have taken a call that ended without an answer, and a look that began before the call
// knows only the cap of then.
func (h *host) giveCap(ctx context.Context, m tunable, call hypervisor.Call) error {
	uuid := machineUUID(h.driver.cfg.Cluster, call.VM)
	h.seen.tune(uuid)
	err := change(ctx, func() error { return setCap(m, call.Cap) })
	if err == nil {
		h.seen.capped(uuid, call.Cap)
	}
	return err
}

// setCap gives a machine that exists a cap, at once.
func setCap(m tunable, most cluster.MilliCPU) error {
	return m.SetSchedulerParametersFlags(&libvirt.DomainSchedulerParameters{
		GlobalPeriodSet: true, GlobalPeriod: capPeriod,
		GlobalQuotaSet: true, GlobalQuota: quota(most),
	}, libvirt.DOMAIN_AFFECT_LIVE)
}

// recap is setCap where the machine may have that cap already. So a host that cannot cap
// is not asked to for a machine without one.
func recap(ctx context.Context, m tunable, most cluster.MilliCPU) error {
	text, err := m.GetXMLDesc(0)
	if err != nil {
		return err
	}
	var d libvirtxml.Domain
	if err := d.Unmarshal(text); err != nil || capOf(d.CPUTune) == most {
		return err
	}
	return change(ctx, func() error { return setCap(m, most) })
}

// capNow is the cap that a machine has.
func capNow(m tunable) (cluster.MilliCPU, error) {
	p, err := m.GetSchedulerParametersFlags(libvirt.DOMAIN_AFFECT_LIVE)
	if err != nil {
		return 0, err
	}
	return mostOf(p.GlobalQuota, p.GlobalPeriod), nil
}
