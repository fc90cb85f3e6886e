package execute

import (
	"cmp"
	"slices"
	"time"

	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// accounts measures what vjobs use: running time, memory and CPU.
type accounts struct {
	*batch
	hooks     *Hooks
	gangs     *gangs
	walltimes *Walltimes
}

// meters are the accounts of vjobs and the energy of nodes.
type meters struct {
	accounts *accounts
	energy   *energyMeter
}

// stated measures a node anew after a declaration of its state.
func (m *meters) stated(n *node) {
	m.accounts.updateCrowding(n)
	m.energy.update(n)
}

// looked measures a node anew after a look at it.
func (m *meters) looked(n *node) {
	m.energy.update(n)
	m.accounts.updateCrowding(n)
}

// write writes what is due, or all.
func (m *meters) write(all bool) {
	m.accounts.addAll(all)
	m.energy.chargeAll(all)
}

// phaseChanged closes the account of the phase that a gang has left.
func (ac *accounts) phaseChanged(p *gangState) {
	if !ac.add(p, true) && p.account.meters != nil {
		ac.writeMeter(p)
	}
	ac.walltimes.await(p)
}

// addAll adds the time since the last call to all accounts, and writes those that are due, or all.
func (ac *accounts) addAll(write bool) {
	written, hours, metered := len(ac.out.Step.Usage), len(ac.out.Step.UsageHours), len(ac.out.Step.Meters)
	for _, p := range ac.gangs.begun {
		ac.add(p, write)
	}
	slices.SortFunc(ac.out.Step.Usage[written:], func(a, b journal.Usage) int { return cmp.Compare(a.VJob, b.VJob) })
	slices.SortStableFunc(ac.out.Step.UsageHours[hours:], func(a, b journal.UsageHour) int { return cmp.Compare(a.VJob, b.VJob) })
	slices.SortFunc(ac.out.Step.Meters[metered:], func(a, b journal.Meter) int { return cmp.Compare(a.VJob, b.VJob) })
}

// add adds the time since the last call to a vjob's account, and writes it if that is due. It reports whether something
// was written.
func (ac *accounts) add(p *gangState, write bool) bool {
	p.account.add(ac.now, p.job, p.rec)
	if !write && !p.account.due() {
		return false
	}
	used, hours := p.account.take(p.job.ID)
	ac.out.Step.UsageHours = append(ac.out.Step.UsageHours, hours...)
	if used == (journal.Usage{}) {
		return false
	}
	used.VJob = p.job.ID
	ac.out.Step.Usage = append(ac.out.Step.Usage, used)
	ac.writeMeter(p)
	return true
}

// writeMeter writes up to where the account of a vjob goes.
func (ac *accounts) writeMeter(p *gangState) {
	m := p.account.read()
	m.VJob = p.job.ID
	ac.out.Step.Meters = append(ac.out.Step.Meters, m)
}

// observe takes in a look at a node: the CPU of copies that run, and what became of the VMs before this start of the
// scheduler.
func (ac *accounts) observe(view *hypervisor.View) {
	for i := range view.Copies {
		c := &view.Copies[i]
		p, ok := ac.gangs.of(c.VM)
		if !ok {
			continue
		}
		ac.changed(p)
		ac.gangs.begin(p)
		if c.State == hypervisor.CopyRunning && p.account.observe(ac.now, p.job, view.Node, c, ac.hooks.Expect) {
			ac.changes++
		}
		ac.closeAbsence(p, c.VM.Rank, ac.now)
	}
	for i := range view.Endings {
		e := &view.Endings[i]
		if p, ok := ac.gangs.of(e.VM); ok && e.Stamp.Incarnation == p.rec.Incarnation {
			ac.closeAbsence(p, e.VM.Rank, e.At)
		}
	}
}

// closeAbsence notes until when a member existed, and adds the absence to the account once this is known of all members.
func (ac *accounts) closeAbsence(p *gangState, rank int, until time.Time) {
	if p.account.absence != nil && p.account.closeAbsence(p.job, p.rec, rank, until) {
		ac.walltimes.await(p)
		ac.changed(p)
		ac.changes++
	}
}
