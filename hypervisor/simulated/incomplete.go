package simulated

import (
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// orphanLoad is a restore that continues in the process of its guest after the death of the
// daemon that began it. No call of the controller belongs to it.
type orphanLoad struct {
	Op      int64              `json:"op"`
	Image   hypervisor.ImageID `json:"image"`
	Attempt int                `json:"attempt"`
	Refused *failure           `json:"refused,omitempty"` // how it will end, if it fails
}

// complete ends the job of a copy that has all of its memory.
func (m *machine) complete() {
	m.Job, m.Op, m.Incomplete, m.Loading = hypervisor.JobNone, 0, false, nil
}

// removeIncomplete removes an incomplete copy and answers the call that created it.
func (c *Cluster) removeIncomplete(m *machine, why *failure) {
	op := c.ops.jobOf(m)
	if op != nil && op.Call.Verb == hypervisor.Migrate {
		c.cancelMigrate(op, why)
		return
	}
	m.complete()
	c.removeCopy(m)
	c.observer.report(Change{Kind: Destroyed, VM: m.VM, Node: m.Node}, &m.Memory)
	if op != nil {
		c.ops.end(op, hypervisor.Receipt{}, why)
	}
}

// survivesDaemon reports whether an incomplete copy survives the death of its node's daemon. A
// restore continues to load; an incoming migration never does.
func (c *Cluster) survivesDaemon(m *machine, op *operation, gone *failure) bool {
	switch {
	case !m.Incomplete || op.Call.Verb == hypervisor.Boot || !c.faults.takeHalfLeft(m):
		return false
	case m.Job == hypervisor.JobIncoming:
		m.Op = 0
		c.cancelMigrate(op, gone)
		return true
	}
	m.Loading = &orphanLoad{Op: op.Serial, Image: op.Call.Image, Attempt: op.Call.Attempt}
	if op.Cut == cutLoad {
		m.Loading.Refused = unloadable(c.nodes.byID[m.Node], op)
	}
	m.Op = 0
	c.clock.schedule(c.clock.due(op)-c.clock.now, event{Kind: evLoaded, VM: m.VM, Node: m.Node, Op: op.Serial})
	c.ops.end(op, hypervisor.Receipt{}, gone)
	return true
}

// loaded ends an orphaned restore.
func (c *Cluster) loaded(m *machine) {
	if l := m.Loading; l.Refused == nil {
		c.endJob(m)
		c.observer.report(Change{Kind: Restored, VM: m.VM, Node: m.Node, Image: l.Image, Attempt: l.Attempt}, &m.Memory)
		return
	}
	c.removeIncomplete(m, m.Loading.Refused)
}

// shownJob is the job that a look shows. While jobs are hidden, it is an earlier job or unknown.
func (n *node) shownJob(m *machine) hypervisor.Job {
	switch {
	case !n.has(JobsHidden):
		return m.Job
	case m.Job == hypervisor.JobNone && m.LastJob != hypervisor.JobNone:
		return m.LastJob
	default:
		return hypervisor.JobUnknown
	}
}

// maxHang bounds how long a call hangs.
const maxHang = 5 * time.Minute

// hangTime draws how long a call hangs: longer than a controller waits for it.
func (c *Cluster) hangTime() time.Duration { return maxHang/5 + c.random.uniform(maxHang-maxHang/5) }

// resumeHung continues a call that hung.
func (c *Cluster) resumeHung(op *operation) {
	op.Hangs = false
	if n := c.nodes.byID[op.Call.Node]; n.has(Freeze) {
		n.queued = append(n.queued, op.Serial)
		return
	}
	c.start(op)
}

// startHungBoot creates a copy with a guest that does not run yet. Looks show it as being
// restored: libvirt does not distinguish the two.
func (c *Cluster) startHungBoot(m *machine, op *operation) {
	m.State = hypervisor.CopyPaused
	c.guests.add(m)
	c.beginJob(m, hypervisor.JobRestoring, op)
}

// finishHungBoot starts the guest of a boot that hung.
func (c *Cluster) finishHungBoot(m *machine, op *operation) *failure {
	if o := c.nodes.lockHolder(m.VM, m.Node); o != nil {
		f := locked(op, o)
		c.removeIncomplete(m, f)
		return f
	}
	c.powerUp(m)
	c.endJob(m)
	return nil
}

// Leftovers lists the copies that were on a node before the start.
func (c *Cluster) Leftovers(node cluster.NodeID) []Leftover { return c.nodes.byID[node].Leftovers }

// addLeftovers creates the copies that were on the nodes before the start.
func (c *Cluster) addLeftovers() {
	for _, n := range c.nodes.sorted {
		for _, l := range n.Leftovers {
			m := &machine{VM: l.VM, Node: n.ID, Unpausable: l.Unpausable, Memory: memory{
				Stamp: hypervisor.Stamp{Incarnation: 1}, Spec: &hypervisor.Machine{Name: "left", Reserved: l.Size}, Stage: working,
			}}
			c.guests.add(m)
			c.guests.run(m)
		}
	}
	c.propagate()
}
