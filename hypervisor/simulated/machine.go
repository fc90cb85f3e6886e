package simulated

import (
	"cmp"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// machine is one copy of a VM on one node.
type machine struct {
	VM         cluster.VMID         `json:"vm"`
	Node       cluster.NodeID       `json:"node"`
	State      hypervisor.CopyState `json:"state"`
	Job        hypervisor.Job       `json:"job"`
	Op         int64                `json:"op"`      // the operation of the job
	Waiters    []int64              `json:"waiters"` // operations that wait for the job's end
	Memory     memory               `json:"mem"`
	Unlocked   bool                 `json:"unlocked"`           // its lock vanished with the lock manager (row 17)
	Incomplete bool                 `json:"half,omitempty"`     // its memory is incomplete
	Loading    *orphanLoad          `json:"load,omitempty"`     // a restore that continues without its daemon
	Unpausable bool                 `json:"stubborn,omitempty"` // it cannot be paused
	LastJob    hypervisor.Job       `json:"was,omitempty"`      // the last job of its source or of a save

	execution
}

// execution is what the guest of a copy demands and gets now.
type execution struct {
	Demand    cluster.MilliCPU `json:"need"`
	Cap       cluster.MilliCPU `json:"cap,omitempty"`    // 0 is no limit
	Weight    int              `json:"weight,omitempty"` // 0 is [hypervisor.DefaultWeight]
	Num       int64            `json:"num"`              // rate of progress: Num/Den
	Den       int64            `json:"den"`              //
	AccruedAt simTime          `json:"settled"`          // up to when progress has been counted
	CPUTime   time.Duration    `json:"cpu_time"`
	Sent      int64            `json:"sent,omitempty"` // bytes
	Version   int64            `json:"version"`        // of the expected end of its step
	dirty     bool
}

// memory is the memory of a guest: it belongs to a copy or an image.
type memory struct {
	Stamp hypervisor.Stamp    `json:"stamp"`
	Spec  *hypervisor.Machine `json:"spec"`
	// Hardware is what the guest was booted with; nil if the platforms of its node are unknown.
	Hardware *hypervisor.Hardware `json:"hardware,omitempty"`
	// Epoch is the disk epoch at which this memory last ran. Memory with another
	// epoch than its disk is stale (I2).
	Epoch   int  `json:"epoch"`
	Corrupt bool `json:"corrupt"`

	// Program is what the guest computes for its command or script, derived once, at its boot. It is nil for
	// a payload with a program of its own.
	Program *cluster.Program `json:"program,omitempty"`

	Stage   stage              `json:"stage"`
	Length  time.Duration      `json:"length"`        // of booting and of stopping
	Step    int                `json:"step"`          // of the program, while working
	Done    time.Duration      `json:"done"`          // of the stage or the step
	RunTime time.Duration      `json:"ran"`           // how long it has run: the guest's own clock
	Exit    cluster.ExitStatus `json:"exit,omitzero"` // of its work, once that has ended
}

// stage is a stage in the life of a guest.
type stage uint8

const (
	booting stage = iota
	working
	stopping
)

// Disk is the disk of one incarnation of a VM: a boot from scratch creates a new one.
type Disk struct {
	VM          cluster.VMID `json:"vm"`
	Incarnation int          `json:"incarnation"`
}

func (mem *memory) disk(vm cluster.VMID) Disk { return Disk{vm, mem.Stamp.Incarnation} }

func (m *machine) disk() Disk { return m.Memory.disk(m.VM) }

// orphanLoad is a restore that continues in the process of its guest after the death of the
// daemon that began it. No call of the controller belongs to it.
type orphanLoad struct {
	Op      int64              `json:"op"`
	Image   hypervisor.ImageID `json:"image"`
	Attempt int                `json:"attempt"`
	Refused *failure           `json:"refused,omitempty"` // how it will end, if it fails
}

// size is the memory of the guest.
func (m *machine) size() cluster.MiB { return m.Memory.Spec.Reserved.Memory }

// bytes is the size of an image of the guest.
func (m *machine) bytes() int64 { return int64(m.size()) << 20 }

// runTime is how long the guest has run since its boot: its own clock.
func (m *machine) runTime(now simTime) time.Duration {
	if m.State != hypervisor.CopyRunning {
		return m.Memory.RunTime
	}
	return m.Memory.RunTime + now - m.AccruedAt
}

// program is what the guest computes; nil if it runs until it is stopped.
func (m *machine) program() *cluster.Program {
	return cmp.Or(m.Memory.Program, m.Memory.Spec.Payload.Program)
}

// interprets reports whether the guest runs a command or a script.
func (m *machine) interprets() bool { return m.Memory.Program != nil }

func (m *machine) lockstep() bool { p := m.program(); return p != nil && p.Lockstep }

// step returns the current step of the guest's program.
func (m *machine) step() (s cluster.Step, ok bool) {
	p := m.program()
	if p == nil || m.Memory.Stage == stopping || m.Memory.Step >= len(p.Steps) {
		return cluster.Step{}, false
	}
	return p.Steps[m.Memory.Step], true
}

// remaining is the rest of the stage or step, at full speed.
func (m *machine) remaining() (left time.Duration, finite bool) {
	if m.Memory.Stage != working {
		return m.Memory.Length - m.Memory.Done, true
	}
	s, ok := m.step()
	return s.Duration - m.Memory.Done, ok
}

// accrue adds the progress of a guest since the last call.
func (m *machine) accrue(now simTime) {
	passed := now - m.AccruedAt
	m.AccruedAt = now
	if passed <= 0 || m.State != hypervisor.CopyRunning {
		return
	}
	done := scale(passed, m.Num, m.Den)
	m.Memory.RunTime += passed
	m.Memory.Done += done
	used := m.Demand
	if m.Memory.Stage != working { // boot and shutdown take their time regardless of load
		used = m.cappedDemand()
	}
	m.CPUTime += scale(done, int64(used), int64(cluster.CPU))
	if s, ok := m.step(); ok && m.Memory.Stage == working && s.Network > 0 {
		m.Sent += int64(scale(done, int64(s.Network), int64(time.Second)))
	}
}

// cappedDemand is the CPU that a guest would use: its demand, up to its cap.
func (m *machine) cappedDemand() cluster.MilliCPU {
	if m.Cap > 0 {
		return min(m.Demand, m.Cap)
	}
	return m.Demand
}

// competes reports whether the guest runs and demands CPU.
func (m *machine) competes() bool { return m.State == hypervisor.CopyRunning && m.cappedDemand() > 0 }

// weight is the part of the guest when CPU is short.
func (m *machine) weight() int { return cmp.Or(m.Weight, hypervisor.DefaultWeight) }

// workingSet is the memory that the guest uses, as its program says; 0 if it does not.
func (m *machine) workingSet() cluster.MiB {
	s, _ := m.step()
	return min(s.Memory, m.size())
}

// clearJob ends the job of a copy that has all of its memory, or is about to be removed.
func (m *machine) clearJob() {
	m.Job, m.Op, m.Incomplete, m.Loading = hypervisor.JobNone, 0, false, nil
}
