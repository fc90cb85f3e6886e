package execute

import (
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// traffic is how fast a member receives or sends, whichever is more: a link is as wide in as out.
type traffic struct {
	rate  cluster.Rate // over the last second or longer
	known bool         // it was measured
	from  time.Time    // since when the next rate is measured
	base  hypervisor.Traffic
}

// measure takes in the counters of the present copy. Where one went back they began anew, as after a boot, a restore or
// a migration: the rate stays as it is until it is measured again.
func (t *traffic) measure(now time.Time, total hypervisor.Traffic) {
	span := now.Sub(t.from)
	switch {
	case t.from.IsZero() || total.Received < t.base.Received || total.Sent < t.base.Sent:
		t.from, t.base = now, total
	case span >= measured:
		more := max(total.Received-t.base.Received, total.Sent-t.base.Sent)
		t.rate, t.known = cluster.Rate(float64(more)/span.Seconds()+0.5), true
		t.from, t.base = now, total
	}
}

// Traffic is how fast a member received or sent between the last looks at it, whichever is more; unknown until it was
// seen to run for a second.
func (vs *VMs) Traffic(vm cluster.VMID) (rate cluster.Rate, known bool) {
	p, ok := vs.gangs.of(vm)
	if !ok || p.account.meters == nil {
		return 0, false
	}
	t := &p.account.meters[vm.Rank].network
	return t.rate, t.known
}
