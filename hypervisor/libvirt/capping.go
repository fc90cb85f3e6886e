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

// cap gives a machine a cap, and notes it for looks.
func (h *host) cap(ctx context.Context, call hypervisor.Call) error {
	err := h.changeMachine(ctx, call.VM, func(dom *libvirt.Domain) error { return setCap(dom, call.Cap) })
	if err == nil {
		h.seen.capped(machineUUID(h.driver.cfg.Cluster, call.VM), call.Cap)
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
