package simulated

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// load is a restore that goes on in the process of its guest although the daemon that
// began it has died: no call of the controller knows of it.
type load struct {
	Op      int64              `json:"op"`
	Image   hypervisor.ImageID `json:"image"`
	Attempt int                `json:"attempt"`
	Refused *failure           `json:"refused,omitempty"` // how it is going to end
}

// whole says that the copy has no job, and all of its memory.
func (c *Cluster) whole(m *machine) {
	m.Job, m.Op, m.Half, m.Load = hypervisor.JobNone, 0, false, nil
}

// undo removes a copy that is not whole, and answers the call that made it.
func (c *Cluster) undo(m *machine, why *failure) {
	op := c.ops[m.Op]
	if op != nil && op.Call.Verb == hypervisor.Migrate {
		c.cancelMigrate(op, why)
		return
	}
	c.whole(m)
	c.drop(m)
	c.tell(Change{Kind: Destroyed, VM: m.VM, Node: m.Node}, &m.Mem)
	if op != nil {
		c.end(op, hypervisor.Receipt{}, why)
	}
}

// leftHalf reports whether a copy that is not whole outlives the daemon of its node. The
// memory of one that was being restored goes on loading; that of one that came in from
// another node never does.
func (c *Cluster) leftHalf(m *machine, op *operation, gone *failure) bool {
	switch {
	case !m.Half || op.Call.Verb == hypervisor.Boot || !c.leavesHalf(m):
		return false
	case m.Job == hypervisor.JobIncoming:
		m.Op = 0
		c.cancelMigrate(op, gone)
		return true
	}
	m.Load = &load{Op: op.Serial, Image: op.Call.Image, Attempt: op.Call.Attempt}
	if op.Cut == cutLoad {
		m.Load.Refused = c.unloadable(m, op)
	}
	m.Op = 0
	c.plan(c.due(op)-c.now, event{Kind: evLoaded, VM: m.VM, Node: m.Node, Op: op.Serial})
	c.end(op, hypervisor.Receipt{}, gone)
	return true
}

// leavesHalf asks the armed faults and chance.
func (c *Cluster) leavesHalf(m *machine) bool {
	i := slices.IndexFunc(c.armed, func(f Fault) bool {
		return f.Kind == HalfLeft && (f.Node == "" || f.Node == m.Node)
	})
	if i >= 0 {
		c.armed = slices.Delete(c.armed, i, i+1)
		return true
	}
	return c.happens(c.cfg.Faults.HalfLeft)
}

// due is when an operation would have its effect.
func (c *Cluster) due(op *operation) moment {
	for i := range c.agenda {
		if e := &c.agenda[i]; e.Kind == evFinish && e.Op == op.Serial {
			return e.At
		}
	}
	return c.now
}

// loaded ends a restore that no daemon watches.
func (c *Cluster) loaded(m *machine) {
	if l := m.Load; l.Refused == nil {
		c.release(m)
		c.tell(Change{Kind: Restored, VM: m.VM, Node: m.Node, Image: l.Image, Attempt: l.Attempt}, &m.Mem)
		return
	}
	c.undo(m, m.Load.Refused)
}

// shown is the job that a look shows. While jobs are hidden, one that is over may still
// be shown, and none is never shown.
func (h *host) shown(m *machine) hypervisor.Job {
	switch {
	case !h.has(JobsHidden):
		return m.Job
	case m.Job == hypervisor.JobNone && m.Was != hypervisor.JobNone:
		return m.Was
	default:
		return hypervisor.JobUnknown
	}
}

// longest is the longest that a call hangs.
const longest = 5 * time.Minute

// hangs is for how long a call hangs: longer than a controller waits for it.
func (c *Cluster) hangs() time.Duration { return longest/5 + c.within(longest-longest/5) }

// wake goes on with a call that hung.
func (c *Cluster) wake(op *operation) {
	op.Hangs = false
	if h := c.hosts[op.Call.Node]; h.has(Freeze) {
		h.queued = append(h.queued, op.Serial)
		return
	}
	c.take(op)
}

// stick creates a copy with a guest that does not run yet. A look shows it as one that is being
// restored: libvirt does not tell the two apart.
func (c *Cluster) stick(m *machine, op *operation) {
	m.State = hypervisor.CopyPaused
	c.add(m)
	c.begin(m, hypervisor.JobRestoring, op)
}

// unstick lets the guest of a boot that hung run at last.
func (c *Cluster) unstick(m *machine, op *operation) *failure {
	if o := c.holder(m.VM, m.Node); o != nil {
		f := locked(op, o)
		c.undo(m, f)
		return f
	}
	c.powerUp(m)
	c.release(m)
	return nil
}

// Left lists the copies that were on a node before the cluster began.
func (c *Cluster) Left(node cluster.NodeID) []Left { return c.hosts[node].Left }

// leave puts the copies on their nodes that were there before.
func (c *Cluster) leave() {
	for _, h := range c.order {
		for _, l := range h.Left {
			m := &machine{VM: l.VM, Node: h.ID, Stubborn: l.Stubborn, Mem: memory{
				Stamp: hypervisor.Stamp{Incarnation: 1}, Spec: &hypervisor.Machine{Name: "left", Reserved: l.Size}, Stage: working,
			}}
			c.add(m)
			c.start(m)
		}
	}
	c.settle()
}
