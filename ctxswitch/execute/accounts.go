package execute

import (
	"cmp"
	"slices"

	"vjob/cluster"
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
	ac.add(p, true)
	ac.walltimes.await(p)
}

// addAll adds the time since the last call to all accounts, and writes those that are due, or all.
func (ac *accounts) addAll(write bool) {
	written, hours := len(ac.out.Step.Usage), len(ac.out.Step.UsageHours)
	for _, p := range ac.gangs.live {
		ac.add(p, write)
	}
	slices.SortFunc(ac.out.Step.Usage[written:], func(a, b journal.Usage) int { return cmp.Compare(a.VJob, b.VJob) })
	slices.SortStableFunc(ac.out.Step.UsageHours[hours:], func(a, b journal.UsageHour) int { return cmp.Compare(a.VJob, b.VJob) })
}

// add adds the time since the last call to a vjob's account, and writes it if that is due.
func (ac *accounts) add(p *gangState, write bool) {
	p.account.add(ac.now, p.job, &p.rec)
	if !write && !p.account.due() {
		return
	}
	used, hours := p.account.take(p.job.ID)
	ac.out.Step.UsageHours = append(ac.out.Step.UsageHours, hours...)
	if used != (journal.Usage{}) {
		used.VJob = p.job.ID
		ac.out.Step.Usage = append(ac.out.Step.Usage, used)
	}
}

// observe takes in the CPU of copies that run on a node.
func (ac *accounts) observe(node cluster.NodeID, copies []hypervisor.Copy) {
	for i := range copies {
		c := &copies[i]
		if p, ok := ac.gangs.of(c.VM); ok && c.State == hypervisor.CopyRunning && p.account.observe(ac.now, p.job, node, c, ac.hooks.Expect) {
			ac.changes++
		}
	}
}
