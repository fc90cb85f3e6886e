//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"

	"libvirt.org/go/libvirt"
	"libvirt.org/go/libvirtxml"

	"vjob/cluster"
	"vjob/hypervisor"
)

// cap gives a machine a cap, and notes it for looks.
func (h *host) cap(ctx context.Context, call hypervisor.Call) error {
	err := h.changeMachine(ctx, call.VM, capTo(call.Cap))
	if err == nil {
		h.seen.capped(machineUUID(h.driver.cfg.Cluster, call.VM), call.Cap)
	}
	return err
}

// capTo gives a machine that exists a cap, at once.
func capTo(most cluster.MilliCPU) func(*libvirt.Domain) error {
	return func(dom *libvirt.Domain) error {
		return dom.SetSchedulerParametersFlags(&libvirt.DomainSchedulerParameters{
			GlobalPeriodSet: true, GlobalPeriod: capPeriod,
			GlobalQuotaSet: true, GlobalQuota: quota(most),
		}, libvirt.DOMAIN_AFFECT_LIVE)
	}
}

// recap is capTo where the machine may have that cap already. So a host that cannot cap
// is not asked to when nobody wants it.
func recap(ctx context.Context, most cluster.MilliCPU) func(*libvirt.Domain) error {
	return func(dom *libvirt.Domain) error {
		text, err := dom.GetXMLDesc(0)
		if err != nil {
			return err
		}
		var d libvirtxml.Domain
		if err := d.Unmarshal(text); err != nil || capOf(d.CPUTune) == most {
			return err
		}
		return change(ctx, func() error { return capTo(most)(dom) })
	}
}

// capNow is the cap that a machine has.
func capNow(dom *libvirt.Domain) (cluster.MilliCPU, error) {
	p, err := dom.GetSchedulerParametersFlags(libvirt.DOMAIN_AFFECT_LIVE)
	if err != nil {
		return 0, err
	}
	return mostOf(p.GlobalQuota, p.GlobalPeriod), nil
}
