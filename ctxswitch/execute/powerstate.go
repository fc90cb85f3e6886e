package execute

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy"
)

// PowerStates tells which nodes can be switched off, and takes in which are.
type PowerStates struct {
	*batch
	gangs  *gangs
	nodes  *nodes
	store  *store
	calls  *calls
	energy *energyMeter
}

// Set notes that a node is being switched off or on, or is off: no VM is there or is sent
// there, its silence is ignored, and it is looked at only at this interval; 0: it is in use again.
// Until the node answers it draws these watts, at least its standby power. The caller has asked
// [PowerStates.InUse] before.
func (ps *PowerStates) Set(now time.Time, id cluster.NodeID, every time.Duration, draws energy.Watts) {
	ps.now = now
	n, ok := ps.nodes.byID[id]
	if !ok || n.offLookEvery == every && n.offWatts == draws {
		return
	}
	n.offLookEvery, n.offWatts, ps.nodes.awaited = every, draws, true
	ps.nodes.outdate(n)
	ps.nodes.updateSilent(n)
	ps.energy.update(n)
	ps.changes++
	ps.nodes.touchJobsOn(id)
}

// InUse returns why a node cannot be switched off, as far as the executor knows: copies,
// machines that vjob does not manage, calls under way, members on their way, and images that no
// other node can reach. "" if it can be.
func (ps *PowerStates) InUse(id cluster.NodeID) string {
	n, ok := ps.nodes.byID[id]
	switch {
	case !ok:
		return "the node is not known"
	case !n.seen:
		return "it does not answer"
	case len(n.copies) > 0:
		return fmt.Sprintf("it holds %s, %s among them", cluster.Count(len(n.copies), "VM"), n.vms[0])
	}
	if why := ps.Pinned(id); why != "" {
		return why
	}
	for _, o := range ps.calls.ops {
		if o.call.Node == id || o.call.To == id {
			return fmt.Sprintf("the %s of %s is not over", o.call.Verb, o.call.VM)
		}
	}
	for _, job := range slices.Sorted(maps.Keys(ps.gangs.live)) {
		if why := ps.gangs.live[job].binds(n); why != "" {
			return fmt.Sprintf("vjob %s %s", job, why)
		}
	}
	return ""
}

// Answers reports whether a node has answered to its last look, and since when that is so.
func (ps *PowerStates) Answers(id cluster.NodeID) (yes bool, since time.Time) {
	if n, ok := ps.nodes.byID[id]; ok {
		return n.seen, n.seenSince
	}
	return false, time.Time{}
}

// Hint asks for a look at a node.
func (ps *PowerStates) Hint(now time.Time, id cluster.NodeID) {
	ps.now = now
	ps.nodes.hint(id)
}

// ContainerOn returns the first container with resources on a node.
func (ps *PowerStates) ContainerOn(id cluster.NodeID) (job cluster.VJobID, reserved bool) {
	for _, job := range slices.Sorted(maps.Keys(ps.gangs.containers)) {
		if c := ps.gangs.containers[job]; !c.containerRoom(id).IsZero() {
			return job, true
		}
	}
	return 0, false
}

// Pinned returns why a node cannot be switched off even after its VMs have moved away: machines
// that vjob does not manage, and images that no other node can reach. "" if it can be.
func (ps *PowerStates) Pinned(id cluster.NodeID) string {
	n, ok := ps.nodes.byID[id]
	if !ok {
		return "the node is not known"
	}
	if len(n.strangers) > 0 {
		return fmt.Sprintf("it holds %s that vjob does not manage, such as %s", cluster.Count(len(n.strangers), "machine"), n.strangers[0])
	}
	if job, reserved := ps.ContainerOn(id); reserved {
		return fmt.Sprintf("container %s has room there", job)
	}
	if ps.store.shared(id, ps.nodes) {
		return ""
	}
	for _, job := range slices.Sorted(maps.Keys(ps.gangs.live)) {
		for _, m := range ps.gangs.live[job].rec.Members {
			if m.Image != nil && m.Image.Node == id {
				return fmt.Sprintf("vjob %s has an image there that no other node can read", job)
			}
		}
	}
	return ""
}
