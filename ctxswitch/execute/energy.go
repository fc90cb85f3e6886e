package execute

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy"
)

// powerDraw is the power of a node since its last look, and the shares of its VMs.
type powerDraw struct {
	watts   energy.Watts
	shares  []powerShare // of the VMs that are there, by package energy's [energy.Power.Share]
	since   time.Time
	joules  float64 // drawn, and not yet written
	written int64   // joules that were
}

type powerShare struct {
	vm    cluster.VMID
	watts energy.Watts
}

// energyMeter measures the energy that nodes draw, and shares it among the VMs there.
type energyMeter struct {
	*batch
	hooks *Hooks
	gangs *gangs
	nodes *nodes

	charged time.Time // when joules were written last
	hours   hours     // drawn, and not yet written
}

func newEnergyMeter(b *batch, hooks *Hooks, live *gangs, seen *nodes) *energyMeter {
	return &energyMeter{
		batch: b, hooks: hooks, gangs: live, nodes: seen, charged: b.now, hours: newHours(),
	}
}

// update charges what was drawn until now, and notes what is drawn from now on.
func (em *energyMeter) update(n *node) {
	power, known := em.hooks.Power[n.ID]
	if !known {
		return
	}
	em.charge(n)
	for _, s := range n.power.shares {
		if p, ok := em.gangs.live[s.vm.VJob]; ok {
			em.gangs.begin(p)
			p.account.watts -= s.watts
			em.changed(p)
		}
	}
	n.power.watts, n.power.shares = max(power.Standby, n.offWatts), n.power.shares[:0]
	em.nodes.outdate(n)
	if !n.on() {
		return
	}
	uses, all := n.uses()
	load := float64(all) / float64(max(n.Capacity.CPU, 1))
	n.power.watts = power.At(load)
	for _, use := range uses {
		w := power.Share(float64(use.cpu), float64(all), float64(n.Capacity.CPU), len(uses))
		n.power.shares = append(n.power.shares, powerShare{use.vm, w})
		if p, ok := em.gangs.live[use.vm.VJob]; ok {
			em.gangs.begin(p)
			p.account.watts += w
			em.changed(p)
		}
	}
}

// charge adds what was drawn since the last call to the accounts.
func (em *energyMeter) charge(n *node) {
	if n.power.since.IsZero() {
		n.power.since = em.now
	}
	for from := n.power.since; from.Before(em.now); {
		to := sooner(hourOf(from).Add(time.Hour), em.now)
		em.chargeHour(n, hourOf(from), to.Sub(from))
		from = to
	}
	dt := em.now.Sub(n.power.since)
	n.power.since = em.now
	n.power.joules += float64(n.power.watts.Over(dt))
	for _, s := range n.power.shares {
		if p, ok := em.gangs.live[s.vm.VJob]; ok {
			em.gangs.begin(p)
			p.account.joules += float64(s.watts.Over(dt))
		}
	}
}

// chargeAll writes what all nodes have drawn, once a minute or now: a crash forgets no more.
func (em *energyMeter) chargeAll(write bool) {
	if !write && em.now.Sub(em.charged) < writeEvery {
		return
	}
	em.charged = em.now
	for _, id := range em.nodes.names {
		n := em.nodes.byID[id]
		if _, known := em.hooks.Power[id]; !known {
			continue
		}
		em.charge(n)
		if whole := int64(n.power.joules); whole > 0 {
			n.power.joules -= float64(whole)
			n.power.written += whole
			em.nodes.outdate(n)
			em.out.Step.Drawn = append(em.out.Step.Drawn, journal.NodeEnergy{Node: id, Joules: whole})
		}
	}
	em.hours.write(&em.out.Step)
}
