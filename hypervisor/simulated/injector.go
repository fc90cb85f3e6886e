package simulated

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// injector injects faults into nodes, guests and images.
type injector struct {
	touched  *touched
	clock    *clock
	random   *random
	faults   *faultPlan
	outbox   *outbox
	nodes    *nodes
	observer *observer
	store    *imageStore
	ops      *operations
	machines *machines
	executor *executor
	bootTime time.Duration // of a node
}

// Inject injects a fault. ErrNotFound says that its node, VM or image does not exist.
func (c *Cluster) Inject(now time.Time, f Fault) error {
	c.advance(now)
	defer c.propagate()
	return c.injector.inject(f)
}

// EndFault ends a lasting fault of a node.
func (c *Cluster) EndFault(now time.Time, node cluster.NodeID, k FaultKind) {
	c.advance(now)
	if n, ok := c.nodes.byID[node]; ok && k < lastingKinds {
		c.injector.endFault(n, k)
	}
	c.propagate()
}

// Heal ends all lasting faults, disarms the armed ones and stops random faults. Earlier damage
// stays.
func (c *Cluster) Heal(now time.Time) {
	c.advance(now)
	c.injector.heal()
	c.propagate()
}

// inject injects a fault.
func (in *injector) inject(f Fault) error {
	switch {
	case f.Kind < lastingKinds || f.Kind == LockdKilled:
		n, ok := in.nodes.byID[f.Node]
		if !ok {
			return fmt.Errorf("inject %s: node %q: %w", f.Kind, f.Node, cluster.ErrNotFound)
		}
		in.beginFault(n, f)
		return nil
	case f.Kind == GuestCrashed || f.Kind == GuestPanicked:
		return in.killGuest(f)
	case f.Kind == ImageRot:
		i := in.store.images[f.Image]
		if i == nil {
			return fmt.Errorf("inject %s: image %s: %w", f.Kind, f.Image, cluster.ErrNotFound)
		}
		in.store.rot(i)
		return nil
	}
	in.arm(f)
	return nil
}

// heal ends all faults.
func (in *injector) heal() {
	in.faults.healed, in.faults.armed = true, nil
	in.faults.rates = Rates{}
	for _, n := range in.nodes.sorted {
		for k := range lastingKinds {
			in.endFault(n, k)
		}
	}
}

// arm keeps a fault for the next call that it matches; a migration in progress counts.
func (in *injector) arm(f Fault) {
	if f.Kind == MigrateCut || f.Kind == MigrateSplit {
		for _, n := range in.nodes.sorted {
			for _, m := range n.sortedCopies() {
				if m.Job != hypervisor.JobOutgoing || !f.matches(&in.ops.jobOf(m).Call) {
					continue
				}
				op := in.ops.jobOf(m)
				if f.Kind == MigrateSplit {
					in.ops.touch(op)
					op.Cut = cutFinish
					return
				}
				in.machines.cancelMigrate(op, cutInMiddle(op))
				return
			}
		}
	}
	in.faults.armed = append(in.faults.armed, f)
}

// killGuest crashes a guest.
func (in *injector) killGuest(f Fault) error {
	for _, n := range in.nodes.sorted {
		m := n.copies[f.VM]
		if m == nil || f.Node != "" && f.Node != n.ID || m.Job == hypervisor.JobIncoming {
			continue
		}
		if f.Kind == GuestCrashed {
			in.machines.endGuest(m, hypervisor.CauseCrashed)
			return nil
		}
		in.machines.cancelJob(m, newFailure(hypervisor.ErrNoSuchVM, "%s on %s: domain is not running", m.VM, m.Node))
		in.machines.kernelPanic(m)
		return nil
	}
	return fmt.Errorf("inject %s: VM %s: %w", f.Kind, f.VM, cluster.ErrNotFound)
}

// injectRandom injects a random fault of a kind and schedules the next.
func (in *injector) injectRandom(k FaultKind) {
	if in.faults.healed {
		return
	}
	in.faults.planNext(k)
	switch {
	case k < lastingKinds || k == LockdKilled:
		n := in.nodes.sorted[in.random.IntN(len(in.nodes.sorted))]
		in.beginFault(n, Fault{Kind: k, Node: n.ID, For: in.faults.lasting(k)})
	case k == ImageRot:
		if list := in.store.sealed(); len(list) > 0 {
			in.store.rot(list[in.random.IntN(len(list))])
		}
	default:
		in.injectRandomGuest(k)
	}
}

// injectRandomGuest kills a random guest.
func (in *injector) injectRandomGuest(k FaultKind) {
	var list []*machine
	for _, n := range in.nodes.sorted {
		for _, m := range n.sortedCopies() {
			if m.State != hypervisor.CopyDead && m.Job != hypervisor.JobIncoming {
				list = append(list, m)
			}
		}
	}
	if len(list) == 0 {
		return
	}
	m := list[in.random.IntN(len(list))]
	// This cannot fail: the copy exists.
	_ = in.killGuest(Fault{Kind: k, VM: m.VM, Node: m.Node})
}
