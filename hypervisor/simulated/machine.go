package simulated

import (
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

	// What the guest demands and gets now; see guest.go.
	Demand    cluster.MilliCPU `json:"need"`
	Cap       cluster.MilliCPU `json:"cap,omitempty"` // 0 is no limit
	Num       int64            `json:"num"`           // rate of progress: Num/Den
	Den       int64            `json:"den"`           //
	AccruedAt simTime          `json:"settled"`       // up to when progress has been counted
	CPUTime   time.Duration    `json:"cpu_time"`
	Version   int64            `json:"version"` // of the expected end of its step
	dirty     bool
}

// memory is the memory of a guest: it belongs to a copy or an image.
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

// Disk is the disk of one incarnation of a VM: a boot from scratch creates a new one.
type Disk struct {
	VM          cluster.VMID `json:"vm"`
	Incarnation int          `json:"incarnation"`
}

func (mem *memory) disk(vm cluster.VMID) Disk { return Disk{vm, mem.Stamp.Incarnation} }

func (m *machine) disk() Disk { return m.Memory.disk(m.VM) }

// stage is the stage of a guest's life.
type stage uint8

const (
	booting stage = iota
	working
	stopping
)
