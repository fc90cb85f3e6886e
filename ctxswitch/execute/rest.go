package execute

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/energy"
)

// SetPowerState says that a node is being switched off or on, or is off: it holds nothing and is
// given nothing, so its silence is no matter, and it is looked at only so often. 0: it
// is in use again. Until it answers it draws what is said, and no less than when it is off.
// The caller has asked [Executor.InUse] before.
func (e *Executor) SetPowerState(now time.Time, id cluster.NodeID, every time.Duration, draws energy.Watts) {
	e.now = now
	n, ok := e.nodes[id]
	if !ok || n.rests == every && n.dark == draws {
		return
	}
	n.rests, n.dark = every, draws
	e.answered(n)
	e.updatePower(n)
	e.changes++
	e.touchJobsOn(id)
}

// InUse returns why a node cannot be switched off, as far as the executor knows: copies,
// machines that vjob does not manage, calls under way, members on their way, and images that no
// other node can reach. "" if it can be.
func (e *Executor) InUse(id cluster.NodeID) string {
	n, ok := e.nodes[id]
	switch {
	case !ok:
		return "the node is not known"
	case !n.seen:
		return "it does not answer"
	case len(n.copies) > 0:
		return fmt.Sprintf("it holds %d VMs, %s among them", len(n.copies), e.reportNode(n).VMs[0])
	}
	if why := e.Pinned(id); why != "" {
		return why
	}
	for _, o := range e.ops {
		if o.call.Node == id || o.call.To == id {
			return fmt.Sprintf("the %s of %s is not over", o.call.Verb, o.call.VM)
		}
	}
	for _, job := range slices.Sorted(maps.Keys(e.gangs)) {
		if why := e.binds(e.gangs[job], n); why != "" {
			return fmt.Sprintf("vjob %s %s", job, why)
		}
	}
	return ""
}

// Answers reports whether a node has answered to its last look, and since when that is so.
func (e *Executor) Answers(id cluster.NodeID) (yes bool, since time.Time) {
	if n, ok := e.nodes[id]; ok {
		return n.seen, n.since
	}
	return false, time.Time{}
}

// Pinned returns why a node cannot be switched off even after its VMs have moved away: machines
// that vjob does not manage, and images that no other node can reach. "" if it can be.
func (e *Executor) Pinned(id cluster.NodeID) string {
	n, ok := e.nodes[id]
	if !ok {
		return "the node is not known"
	}
	if len(n.strangers) > 0 {
		return fmt.Sprintf("it holds %d machines that vjob does not manage, %s among them", len(n.strangers), n.strangers[0])
	}
	for _, job := range slices.Sorted(maps.Keys(e.containers)) {
		if c := e.containers[job]; !c.keeps(id).IsZero() {
			return fmt.Sprintf("container %s has room there", job)
		}
	}
	if e.shared(id) {
		return ""
	}
	for _, job := range slices.Sorted(maps.Keys(e.gangs)) {
		for _, m := range e.gangs[job].rec.Members {
			if m.Image != nil && m.Image.Node == id {
				return fmt.Sprintf("vjob %s has an image there that no other node can read", job)
			}
		}
	}
	return ""
}

// binds says what a vjob needs a node for on which none of its calls is under way.
func (e *Executor) binds(p *gangState, n *node) string {
	for rank, m := range p.rec.Members {
		if m.Next == n.ID || m.Node == n.ID && p.rec.Phase != gang.Saved || n.began <= p.member(rank).touched[n.ID] {
			return "has a member there, or may have"
		}
	}
	for _, a := range p.todo {
		for _, id := range a.gang.Actions {
			if act := a.run.plan.Actions[id]; act.From == n.ID || act.To == n.ID {
				return "is to be moved there, or from there"
			}
		}
	}
	return ""
}

// shared reports whether what is in the image store of a node can be read without the
// node: another one that answers has the same store.
func (e *Executor) shared(id cluster.NodeID) bool {
	pool := e.store.Free[id].Pool
	if pool == "" {
		return false
	}
	for other, space := range e.store.Free {
		if n := e.nodes[other]; other != id && space.Pool == pool && n != nil && n.seen && n.rests == 0 {
			return true
		}
	}
	return false
}

// Demand is the CPU that a member was last seen to need, or, before it was seen, what
// it reserves.
func (e *Executor) Demand(vm cluster.VMID) cluster.MilliCPU {
	p, ok := e.gangs[vm.VJob]
	if !ok || vm.Rank >= len(p.job.VMs) {
		return 0
	}
	if cpu, seen := p.observed(vm.Rank); seen {
		return cpu
	}
	return p.job.VMs[vm.Rank].Reserved.CPU
}
