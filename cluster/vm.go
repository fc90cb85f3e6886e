package cluster

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// VMID identifies a VM by its vjob and its rank there. Ranks count from 0; the members of a gang
// are paused and resumed in order of rank.
type VMID struct {
	VJob VJobID
	Rank int
}

// String is "12.3" for rank 3 of vjob 12.
func (id VMID) String() string {
	text := append(strconv.AppendInt(make([]byte, 0, 24), int64(id.VJob), 10), '.')
	return string(strconv.AppendInt(text, int64(id.Rank), 10))
}

// Compare orders by vjob, then by rank.
func (id VMID) Compare(o VMID) int {
	return cmp.Or(cmp.Compare(id.VJob, o.VJob), cmp.Compare(id.Rank, o.Rank))
}

// MarshalText writes "12.3", so that a VMID can be a JSON string or map key.
func (id VMID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads "12.3".
func (id *VMID) UnmarshalText(b []byte) (err error) {
	*id, err = ParseVMID(string(b))
	return err
}

// ParseVMID reads "12.3".
func ParseVMID(s string) (VMID, error) {
	job, rank, ok := strings.Cut(s, ".")
	j, err1 := strconv.ParseInt(job, 10, 64)
	r, err2 := strconv.Atoi(rank)
	if !ok || err1 != nil || err2 != nil || j < 0 || r < 0 {
		return VMID{}, BadField("vm", s, `a vjob and a rank, such as "12.3"`)
	}
	return VMID{VJobID(j), r}, nil
}

// VM is one member of a vjob, as submitted.
type VM struct {
	ID       VMID
	Reserved Resources // as submitted; memory is always counted in full
	Payload  *Payload  // shared and never changed; nil is an empty one
}

// Work returns the payload, as a copy.
func (v *VM) Work() Payload {
	if v.Payload == nil {
		return Payload{}
	}
	return *v.Payload
}

// Payload is what runs in a VM. Only drivers read it.
type Payload struct {
	Image   string            `json:"image"`             // id in the administrator's catalogue
	Command []string          `json:"command,omitempty"` // run in the guest, through the image's means
	Script  string            `json:"script,omitempty"`  // or a script, run in the same way
	Env     map[string]string `json:"env,omitempty"`     // for the command or script
	Program *Program          `json:"program,omitempty"` // what a simulated guest computes
	// ErrorsApart has what the command or script writes to its standard error apart from its output. [VJob.Payload] sets it.
	ErrorsApart bool `json:"errors_apart,omitempty"`
}

// Program is the work of a simulated guest: steps one after another. The
// application of a vjob ends when every step of every member is done; then all
// its guests shut themselves down.
type Program struct {
	Steps []Step `json:"steps"`
	// Lockstep makes the members share one progress clock, which advances only while every
	// member runs and gets all the CPU that its step needs. Without it each member progresses
	// independently, at its yield.
	Lockstep bool `json:"lockstep,omitempty"`
	// Independent guests shut down after their own steps, not after those of all members.
	Independent bool `json:"independent,omitempty"`
	// Exit is the exit code that the guest tells at the end, from 0 to 255, or [ExitUntold].
	Exit int `json:"exit,omitempty"`
}

// ExitUntold is the exit code of a guest that shuts itself down without telling one.
const ExitUntold = -1

// Step is one phase of a simulated guest's work.
type Step struct {
	CPU      MilliCPU      `json:"cpu_milli"`            // need while the step lasts
	Memory   MiB           `json:"memory_mib,omitempty"` // working set while the step lasts; 0: the guest does not tell
	Network  Rate          `json:"network,omitempty"`    // that the guest sends at full yield; links are not simulated
	Duration time.Duration `json:"duration_ns"`          // at full yield; less CPU takes longer
	After    []StepRef     `json:"after,omitempty"`      // steps of other members that must be done first
	Output   string        `json:"output,omitempty"`     // printed when the step begins; only of interpreted commands
	Errors   string        `json:"errors,omitempty"`     // written to standard error then, if that is kept apart
}

// StepRef names step Index of the member with the given Rank.
type StepRef struct {
	Rank  int `json:"rank"`
	Index int `json:"index"`
}

// VMState is the state of a VM in its life cycle (thesis §6.1.1, figure 6.1).
type VMState uint8

// The states of a VM. Waiting, Paused and Sleeping together are "ready".
const (
	VMWaiting    VMState = iota // never booted, or lost and queued again
	VMRunning                   // on a node
	VMPaused                    // paused on a node: it uses memory and no CPU
	VMSleeping                  // suspended: its memory is an image on disk
	VMTerminated                // ended
)

var vmStates = names[VMState]{
	VMWaiting: "waiting", VMRunning: "running", VMPaused: "paused", VMSleeping: "sleeping", VMTerminated: "terminated",
}

// String is the lower-case name of the state.
func (s VMState) String() string { return vmStates.text(s) }

// parseVMState reads the name of a state; the error lists the valid names.
func parseVMState(s string) (VMState, error) { return vmStates.parse("state", s) }

// MarshalText writes the name of the state.
func (s VMState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name of a state.
func (s *VMState) UnmarshalText(b []byte) (err error) {
	*s, err = parseVMState(string(b))
	return err
}

// ActionKind is what an action does to one VM (thesis table 8.1).
type ActionKind uint8

// The actions on VMs.
const (
	Boot    ActionKind = iota // Waiting → Running
	Stop                      // any → Terminated
	Suspend                   // Running or Paused → Sleeping: pause, then save
	Resume                    // Sleeping → Running: restore, then unpause
	Migrate                   // Running → Running on another node
	Pause                     // Running → Paused, in place
	Unpause                   // Paused → Running, in place
)

var actionKinds = names[ActionKind]{
	Boot: "boot", Stop: "stop", Suspend: "suspend", Resume: "resume", Migrate: "migrate", Pause: "pause", Unpause: "unpause",
}

// String is the lower-case name of the action.
func (k ActionKind) String() string { return actionKinds.text(k) }

// parseActionKind reads the name of an action; the error lists the valid names.
func parseActionKind(s string) (ActionKind, error) { return actionKinds.parse("action", s) }

// MarshalText writes the name of the action.
func (k ActionKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the name of an action.
func (k *ActionKind) UnmarshalText(b []byte) (err error) {
	*k, err = parseActionKind(string(b))
	return err
}

// vmEdges is figure 6.1 of the thesis with suspension in memory.
var vmEdges = map[ActionKind]map[VMState]VMState{
	Boot:    {VMWaiting: VMRunning},
	Stop:    {VMWaiting: VMTerminated, VMRunning: VMTerminated, VMPaused: VMTerminated, VMSleeping: VMTerminated},
	Suspend: {VMRunning: VMSleeping, VMPaused: VMSleeping},
	Resume:  {VMSleeping: VMRunning},
	Migrate: {VMRunning: VMRunning},
	Pause:   {VMRunning: VMPaused},
	Unpause: {VMPaused: VMRunning},
}

// After is the state of a VM after an action; ok is false if the life cycle has no such edge.
func (s VMState) After(k ActionKind) (next VMState, ok bool) {
	next, ok = vmEdges[k][s]
	return next, ok
}
