package simulated

import (
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// appKey names one run of a vjob's application: a boot from scratch starts
// another one.
type appKey struct {
	VJob        cluster.VJobID
	Incarnation int
}

// app is what the members of a vjob have told each other. Messages that have
// arrived stay so: a gang is paused as a whole before it is saved.
type app struct {
	Key     appKey       `json:"key"`
	Members int          `json:"members"`       // as told by the machines, or as many as were seen
	Reached map[int]int  `json:"reached"`       // steps that each rank has ended
	Ended   map[int]bool `json:"ended"`         // ranks whose programs are over
	Over    bool         `json:"over"`          // every step of every member is done
	Level   bool         `json:"level"`         // lockstep: every member runs and has what it would use
	Num     int64        `json:"num,omitempty"` // lockstep: then it goes on at Num/Den of full speed
	Den     int64        `json:"den,omitempty"`
	touched bool
}

// app returns the application of a copy's vjob.
func (c *Cluster) app(m *machine) *app {
	key := appKey{m.VM.VJob, m.Mem.Stamp.Incarnation}
	a, ok := c.apps[key]
	if !ok {
		a = &app{Key: key, Reached: map[int]int{}, Ended: map[int]bool{}}
		c.apps[key] = a
	}
	a.Members = max(a.Members, m.Mem.Spec.Members, m.VM.Rank+1)
	return a
}

// speed is how fast a lockstep application goes on while it is level.
func (a *app) speed() (num, den int64) {
	if a.Den == 0 {
		return 1, 1
	}
	return a.Num, a.Den
}

func (m *machine) program() *cluster.Program { return m.Mem.Spec.Payload.Program }

func (m *machine) lockstep() bool { p := m.program(); return p != nil && p.Lockstep }

// step returns the step of the program at which the guest is.
func (m *machine) step() (s cluster.Step, ok bool) {
	p := m.program()
	if p == nil || m.Mem.Stage == stopping || m.Mem.Step >= len(p.Steps) {
		return cluster.Step{}, false
	}
	return p.Steps[m.Mem.Step], true
}

// blocked reports whether the guest's step waits for another member's.
func (m *machine) blocked(c *Cluster) bool {
	s, ok := m.step()
	if !ok || len(s.After) == 0 || m.lockstep() {
		return false
	}
	a := c.app(m)
	for _, ref := range s.After {
		if a.Reached[ref.Rank] <= ref.Index {
			return true
		}
	}
	return false
}

// demand is the CPU that the guest needs now. One without a program needs all
// that it has reserved; one that boots shows what it will need first.
func (m *machine) demand(c *Cluster) cluster.MilliCPU {
	switch s, ok := m.step(); {
	case m.State == hypervisor.CopyDead:
		return 0
	case m.program() == nil:
		return m.Mem.Spec.Reserved.CPU
	case !ok || m.blocked(c):
		return 0
	default:
		return s.CPU
	}
}

// pace is how fast the guest goes through its step: num/den of full speed.
func (m *machine) pace(c *Cluster) (num, den int64) {
	switch s, ok := m.step(); {
	case m.State != hypervisor.CopyRunning:
		return 0, 1
	case m.Mem.Stage != working:
		return 1, 1
	case m.program() == nil:
		return c.shareOf(m)
	case !ok || m.blocked(c):
		return 0, 1
	case m.lockstep():
		if a := c.app(m); a.Level {
			return a.speed()
		}
		return 0, 1
	case s.CPU == 0:
		return 1, 1
	}
	return c.shareOf(m)
}

// remaining is what is left of the stage or step, at full speed.
func (m *machine) remaining() (left time.Duration, finite bool) {
	if m.Mem.Stage != working {
		return m.Mem.Length - m.Mem.Done, true
	}
	s, ok := m.step()
	return s.Duration - m.Mem.Done, ok
}

// accrue counts what a guest has done since it was last counted.
func (c *Cluster) accrue(m *machine) {
	passed := c.now - m.Settled
	m.Settled = c.now
	if passed <= 0 || m.State != hypervisor.CopyRunning {
		return
	}
	done := scale(passed, m.Num, m.Den)
	m.Mem.Ran += passed
	m.Mem.Done += done
	used := m.Need
	if m.Mem.Stage != working { // a guest boots as fast as ever, under its cap
		used = m.wants()
	}
	m.CPUTime += scale(done, int64(used), int64(cluster.CPU))
}

// repace gives a guest the pace that it has now and plans the end of its step.
func (c *Cluster) repace(m *machine) {
	c.accrue(m)
	m.Num, m.Den = m.pace(c)
	m.Version++
	if left, finite := m.remaining(); finite && m.Num > 0 {
		c.plan(scaleUp(left, m.Den, m.Num), event{Kind: evGuest, VM: m.VM, Node: m.Node, Version: m.Version})
	}
}

// progress takes a running guest through all the steps whose end it has reached.
func (c *Cluster) progress(m *machine) {
	if c.on(m.Node, m.VM) != m {
		return
	}
	c.accrue(m)
	for m.State == hypervisor.CopyRunning {
		left, finite := m.remaining()
		if m.Mem.Stage == working && !finite && c.finished(m) {
			m.Mem.Stage, m.Mem.Done, m.Mem.Length = stopping, 0, c.spread(c.cfg.Profile.Shutdown)
			if exit := m.program().Exit; exit != nil {
				c.print(m, "%s%d", cluster.ExitMark, *exit)
			}
			c.print(m, "shutting down")
			continue
		}
		if !finite || left > 0 || m.Mem.Stage == working && m.blocked(c) {
			break
		}
		if c.pass(m) {
			return // the guest is no more
		}
	}
	if need := m.demand(c); need != m.Need {
		m.Need = need
		c.unsettle(m)
	}
	c.repace(m)
}

// finished reports whether the guest has nothing left to do, and neither have
// the other members.
func (c *Cluster) finished(m *machine) bool {
	if m.program() == nil {
		return false
	}
	a := c.app(m)
	if a.Over {
		return true
	}
	if _, more := m.step(); more {
		return false
	}
	c.reach(a, m)
	return a.Over
}

// pass ends a stage or a step of a guest; it returns true when the guest left.
func (c *Cluster) pass(m *machine) bool {
	switch m.Mem.Stage {
	case booting:
		m.Mem.Stage, m.Mem.Done = working, 0
		c.print(m, "booted")
		if m.lockstep() {
			c.markApp(c.app(m))
		}
	case stopping:
		c.guestLeaves(m, hypervisor.CauseShutdown)
		return true
	default:
		c.print(m, "step %d done", m.Mem.Step)
		m.Mem.Step++
		m.Mem.Done = 0
		c.reach(c.app(m), m)
	}
	return false
}

// reach tells the other members how far one has come.
func (c *Cluster) reach(a *app, m *machine) {
	rank := m.VM.Rank
	_, more := m.step()
	if m.Mem.Step <= a.Reached[rank] && (more || a.Ended[rank]) {
		return
	}
	a.Reached[rank] = max(a.Reached[rank], m.Mem.Step)
	a.Ended[rank] = a.Ended[rank] || !more
	a.Over = a.over()
	for rank := range a.Members {
		for _, peer := range c.where[cluster.VMID{VJob: a.Key.VJob, Rank: rank}] {
			if peer != m && peer.Mem.Stamp.Incarnation == a.Key.Incarnation && peer.State == hypervisor.CopyRunning {
				c.touch(peer)
			}
		}
	}
}

// over reports whether every member has told that its program is over.
func (a *app) over() bool {
	for rank := range a.Members {
		if !a.Ended[rank] {
			return false
		}
	}
	return true
}

// guestLeaves removes a copy whose guest is no more.
func (c *Cluster) guestLeaves(m *machine, cause hypervisor.Cause) {
	h := c.hosts[m.Node]
	c.cancelJobs(m, failed(hypervisor.ErrNoSuchVM, "%s on %s: domain is not running", m.VM, m.Node))
	c.print(m, "%s", cause)
	c.ended(h, m, cause)
	c.drop(m)
	c.tell(Change{Kind: Ended, VM: m.VM, Node: m.Node, Cause: cause}, &m.Mem)
}
