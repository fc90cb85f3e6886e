package simulated

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// machine is one copy of a VM on one node.
type machine struct {
	VM       cluster.VMID         `json:"vm"`
	Node     cluster.NodeID       `json:"node"`
	State    hypervisor.CopyState `json:"state"`
	Job      hypervisor.Job       `json:"job"`
	Op       int64                `json:"op"`      // the operation that has the job under way
	Waiters  []int64              `json:"waiters"` // operations that wait for the job's end
	Mem      memory               `json:"mem"`
	Unlocked bool                 `json:"unlocked"`           // its lock vanished with the lock manager (row 17)
	Half     bool                 `json:"half,omitempty"`     // its memory is not whole
	Load     *load                `json:"load,omitempty"`     // what fills its memory although its daemon died
	Stubborn bool                 `json:"stubborn,omitempty"` // it cannot be paused
	Was      hypervisor.Job       `json:"was,omitempty"`      // the last job of its source or of a save

	// What the guest needs and gets at present; see guest.go.
	Need    cluster.MilliCPU `json:"need"`
	Cap     cluster.MilliCPU `json:"cap,omitempty"` // the most that it gets; 0 is no limit
	Num     int64            `json:"num"`           // it progresses at Num/Den
	Den     int64            `json:"den"`           //
	Settled moment           `json:"settled"`       // up to when progress has been counted
	CPUTime time.Duration    `json:"cpu_time"`
	Version int64            `json:"version"` // of the expected end of its step
	touched bool
}

// memory is what a guest remembers: it goes with a copy, or into an image.
type memory struct {
	Stamp hypervisor.Stamp    `json:"stamp"`
	Spec  *hypervisor.Machine `json:"spec"`
	// Epoch is the disk epoch at which this memory last ran. Memory with another
	// epoch than its disk is stale (RELIABILITY I2).
	Epoch   int  `json:"epoch"`
	Corrupt bool `json:"corrupt"`

	Stage  stage         `json:"stage"`
	Length time.Duration `json:"length"` // of booting and of stopping
	Step   int           `json:"step"`   // of the program, while working
	Done   time.Duration `json:"done"`   // of the stage or the step
	Ran    time.Duration `json:"ran"`    // how long it has run: the guest's own clock
}

// Disk is that of a VM in one life: a boot from scratch begins with a new one.
type Disk struct {
	VM          cluster.VMID `json:"vm"`
	Incarnation int          `json:"incarnation"`
}

func (mem *memory) disk(vm cluster.VMID) Disk { return Disk{vm, mem.Stamp.Incarnation} }

func (m *machine) disk() Disk { return m.Mem.disk(m.VM) }

// stage is the part of its life in which a guest is.
type stage uint8

const (
	booting stage = iota
	working
	stopping
)

// on returns the copy of a VM on a node, or nil.
func (c *Cluster) on(node cluster.NodeID, vm cluster.VMID) *machine {
	if h, ok := c.hosts[node]; ok {
		return h.copies[vm]
	}
	return nil
}

// add puts a copy on its node.
func (c *Cluster) add(m *machine) {
	m.Settled, m.Num, m.Den = c.now, 0, 1
	m.Need = m.demand(c)
	h := c.hosts[m.Node]
	h.copies[m.VM] = m
	c.where[m.VM] = append(c.where[m.VM], m)
	c.hint(h)
}

// drop takes a copy off its node. What it was doing must have been ended before.
func (c *Cluster) drop(m *machine) {
	c.accrue(m)
	h := c.hosts[m.Node]
	delete(h.copies, m.VM)
	c.where[m.VM] = slices.DeleteFunc(c.where[m.VM], func(o *machine) bool { return o == m })
	if len(c.where[m.VM]) == 0 {
		delete(c.where, m.VM)
	}
	m.Version++
	c.unsettle(m)
	c.hint(h)
	c.wakeWaiters(m)
}

// start lets a copy execute: the guest sees its disk from now on (+1 epoch).
func (c *Cluster) start(m *machine) {
	m.State, m.Settled = hypervisor.CopyRunning, c.now
	c.epochs[m.disk()]++
	m.Mem.Epoch = c.epochs[m.disk()]
	c.unsettle(m)
	c.touch(m)
}

// stop keeps a copy from executing.
func (c *Cluster) stop(m *machine, s hypervisor.CopyState) {
	c.accrue(m)
	m.State, m.Num, m.Den = s, 0, 1
	m.Version++
	c.unsettle(m)
}

// unsettle says that the copy's node and application must be looked at again.
func (c *Cluster) unsettle(m *machine) {
	c.markHost(c.hosts[m.Node])
	if m.lockstep() {
		c.markApp(c.app(m))
	}
	c.hint(c.hosts[m.Node])
}

func (c *Cluster) markHost(h *host) {
	if !h.touched {
		h.touched = true
		c.dirty.hosts = append(c.dirty.hosts, h)
	}
}

func (c *Cluster) markApp(a *app) {
	if !a.touched {
		a.touched = true
		c.dirty.apps = append(c.dirty.apps, a)
	}
}

// touch says that a guest may have reached the end of what it does.
func (c *Cluster) touch(m *machine) {
	if !m.touched {
		m.touched = true
		c.dirty.guests = append(c.dirty.guests, m)
	}
}

// begin gives the copy a job.
func (c *Cluster) begin(m *machine, j hypervisor.Job, op *operation) {
	m.Job, m.Op = j, op.Serial
	switch j {
	case hypervisor.JobSaving, hypervisor.JobOutgoing:
		m.Was = j
	case hypervisor.JobRestoring, hypervisor.JobIncoming:
		m.Half = true
	case hypervisor.JobNone, hypervisor.JobUnknown:
	}
	c.hint(c.hosts[m.Node])
}

// release ends the copy's job and lets in whoever waited for that.
func (c *Cluster) release(m *machine) {
	c.whole(m)
	c.hint(c.hosts[m.Node])
	c.wakeWaiters(m)
}

// holder returns a copy elsewhere whose lock keeps m's VM from running on node.
func (c *Cluster) holder(vm cluster.VMID, node cluster.NodeID) *machine {
	if !c.cfg.Locks {
		return nil
	}
	for _, o := range c.where[vm] {
		if o.Node != node && o.State == hypervisor.CopyRunning && !o.Unlocked {
			return o
		}
	}
	return nil
}
