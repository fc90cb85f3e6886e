package execute

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/hypervisor"
)

// powerDraw is the power of a node since its last look, and the shares of its VMs.
type powerDraw struct {
	watts  energy.Watts
	shares []powerShare // of the VMs that are there, by package energy's [energy.Power.Share]
	since  time.Time
	joules float64 // drawn, and not yet written
}

type powerShare struct {
	vm    cluster.VMID
	watts energy.Watts
}

// on reports whether a node draws power for being on: it answers, or nothing shows
// that it is off, or switched it off.
func (n *node) on() bool {
	return n.seen || n.rests == 0 && (n.State == cluster.Online || n.State == cluster.Draining)
}

// updatePower charges what was drawn until now, and notes what is drawn from now on.
func (e *Executor) updatePower(n *node) {
	power, known := e.Power[n.ID]
	if !known {
		return
	}
	e.charge(n)
	for _, s := range n.power.shares {
		if p, ok := e.gangs[s.vm.VJob]; ok {
			p.watts -= s.watts
		}
	}
	n.power.watts, n.power.shares = max(power.Standby, n.dark), n.power.shares[:0]
	if !n.on() {
		return
	}
	uses, all := n.uses()
	load := float64(all) / float64(max(n.Capacity.CPU, 1))
	n.power.watts = power.At(load)
	for _, use := range uses {
		w := power.Share(float64(use.cpu), float64(all), float64(n.Capacity.CPU), len(uses))
		n.power.shares = append(n.power.shares, powerShare{use.vm, w})
		if p, ok := e.gangs[use.vm.VJob]; ok {
			p.watts += w
		}
	}
}

// charge adds what was drawn since the last call to the accounts.
func (e *Executor) charge(n *node) {
	if n.power.since.IsZero() {
		n.power.since = e.now
	}
	for from := n.power.since; from.Before(e.now); {
		to := sooner(hourOf(from).Add(time.Hour), e.now)
		e.chargeHour(n, hourOf(from), to.Sub(from))
		from = to
	}
	dt := e.now.Sub(n.power.since)
	n.power.since = e.now
	n.power.joules += float64(n.power.watts.Over(dt))
	for _, s := range n.power.shares {
		if p, ok := e.gangs[s.vm.VJob]; ok {
			p.joules += float64(s.watts.Over(dt))
		}
	}
}

// chargeAll writes what all nodes have drawn, once a minute: a crash forgets no more.
func (e *Executor) chargeAll() {
	if e.now.Sub(e.charged) < writeEvery {
		return
	}
	e.charged = e.now
	for _, id := range e.names {
		n := e.nodes[id]
		if _, known := e.Power[id]; !known {
			continue
		}
		e.charge(n)
		if whole := int64(n.power.joules); whole > 0 {
			n.power.joules -= float64(whole)
			e.drawn[id] += whole
			e.out.Step.Drawn = append(e.out.Step.Drawn, journal.NodeEnergy{Node: id, Joules: whole})
		}
	}
	e.hours.write(&e.out.Step)
}

// use is the CPU that a copy was last seen to use.
type use struct {
	vm  cluster.VMID
	cpu cluster.MilliCPU
}

// uses lists what the copies on a node use, in order of VMs: what they need, under their
// caps, though all of them may need more than there is. Paused ones use nothing, and are
// listed.
func (n *node) uses() (list []use, all cluster.MilliCPU) {
	for vm, c := range n.copies {
		u := use{vm: vm}
		if c.State == hypervisor.CopyRunning {
			u.cpu = c.CPU
			if c.Cap > 0 {
				u.cpu = min(u.cpu, c.Cap)
			}
		}
		list, all = append(list, u), all+u.cpu
	}
	slices.SortFunc(list, func(a, b use) int { return a.vm.Compare(b.vm) })
	return list, all
}

// MaxPower is the highest power of a node while its VMs may use [Executor.Load] plus this CPU; 0
// for nodes without a power model.
func (e *Executor) MaxPower(id cluster.NodeID, more cluster.MilliCPU) energy.Watts {
	n, known := e.nodes[id]
	power := e.Power[id]
	switch {
	case !known:
		return 0
	case !n.on() && more <= 0:
		return power.Standby
	}
	return power.At(float64(e.Load(id)+more) / float64(max(n.Capacity.CPU, 1)))
}
