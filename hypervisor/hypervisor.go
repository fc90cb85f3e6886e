// Package hypervisor is the interface to the nodes: what can be observed on a node (Observer)
// and what calls it accepts (Actuator). The drivers are hypervisor/simulated and
// hypervisor/libvirt; both pass the suite tests/conformance.
//
// A reply is never the truth, an observation is. The error of a call does not mean that nothing
// happened, and its success does not mean that the result will last. So callers look at both
// ends after a call.
package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
)

// Errors of calls and looks. They say what went wrong, for messages and retries; none of them
// proves that the call had no effect.
var (
	// ErrUnreachable means that the node did not answer. What it holds is unknown.
	ErrUnreachable = errors.New("node unreachable")
	// ErrTimeout means that the call did not end before its deadline, or that its connection
	// broke meanwhile. The call may still take effect, minutes later.
	ErrTimeout = errors.New("no answer before the deadline")
	// ErrNoSuchVM means that the node holds no copy of the VM.
	ErrNoSuchVM = errors.New("no such VM")
	// ErrExists means that the node already holds a copy of the VM.
	ErrExists = errors.New("VM exists already")
	// ErrNoSpace means that the image store is full.
	ErrNoSpace = errors.New("no space for the image")
	// ErrNoMemory means that the node lacks memory for the VM.
	ErrNoMemory = errors.New("no memory for the VM")
	// ErrBadImage means that the image is incomplete or differs from what was sealed. If a
	// hypervisor refuses to load an image, the error is [ErrRefused]: another node may load it.
	ErrBadImage = errors.New("image unusable")
	// ErrNoImage means that the image cannot be read now. It may be readable later.
	ErrNoImage = errors.New("image cannot be read")
	// ErrLocked means that another copy holds the lock: it runs on another node.
	ErrLocked = errors.New("locked by another copy")
	// ErrRefused means that the hypervisor refuses the call; the text says why.
	ErrRefused = errors.New("refused by the hypervisor")
)

// Driver is a cluster of hypervisors. All methods are safe for concurrent use.
type Driver interface {
	Observer
	Actuator
	// Console opens the output of the guests of a VM since its first boot. A console only grows. Without any output
	// the error is cluster.ErrNotFound.
	Console(ctx context.Context, vm cluster.VMID) (io.ReadCloser, error)
	// Errors opens what the work of the guests of a VM has written to its standard error, where its payload
	// keeps that apart. It is as [Driver.Console] otherwise.
	Errors(ctx context.Context, vm cluster.VMID) (io.ReadCloser, error)
	// Sweep removes what is stored for VMs of vjobs that are not live: disks, seeds, leases, and
	// the notes of deleted images. Consoles, with errors, stay until keepConsoles after their last change.
	// Sweep keeps everything younger than [SweepAge], since its vjob may be newer than the
	// knowledge of the caller, and everything of a VM with a visible copy or image, since the
	// caller may have lost its record. It touches only objects with a name of ours, and never
	// images: these are discarded one by one. An error means that something was kept that could
	// have been removed; the next sweep tries again.
	Sweep(ctx context.Context, live func(cluster.VJobID) bool, keepConsoles time.Duration) error
	// Close waits for running calls and for all goroutines of the driver.
	Close() error
}

// SweepAge is the least age of what a sweep removes.
const SweepAge = 10 * time.Minute

// Observer looks at nodes.
type Observer interface {
	// Look lists all copies on a node. An error means that they are unknown, never that the node
	// is empty. Of each missing guest that the node does not hold, and of which no event told the end,
	// the view also has the ending if the console does: see [Guest].
	Look(ctx context.Context, node cluster.NodeID, missing ...Guest) (View, error)
	// LookStore lists every image that can be read now. A store without the mark of this
	// installation is an error: the wrong file system may be mounted there, or none.
	LookStore(ctx context.Context) (Store, error)
	// Hints sends the names of nodes on which something changed. A hint is only a reason to
	// look: hints are lost, repeated and delayed.
	Hints() <-chan cluster.NodeID
}

// Actuator carries out calls.
type Actuator interface {
	// Do carries out one call. It returns when the hypervisor has answered or the context has
	// ended; in that case the call may still take effect.
	Do(ctx context.Context, call Call) (Receipt, error)
}

// View is what one node held at the time of one look.
type View struct {
	Node      cluster.NodeID
	Copies    []Copy   // in order of VMs
	Endings   []Ending // guests that ended by themselves, as far as the driver remembers, oldest first
	Unmanaged []string // unmanaged machines, those without our mark, in order; never touched
	Warnings  []string // for administrators, such as that VMs are not confined
	Software  string   // versions of the hypervisor, for administrators; "" if unknown
	// Platforms are what VMs can be on the node; nil if unknown. Views of a node share them until they
	// change.
	Platforms []Platform
}

// Copy returns the node's copy of a VM.
func (v *View) Copy(id cluster.VMID) (Copy, bool) {
	for _, c := range v.Copies {
		if c.VM == id {
			return c, true
		}
	}
	return Copy{}, false
}

// Copy is one machine of ours on one node. During a migration, or after an interrupted one, a VM
// has a copy on both nodes.
type Copy struct {
	VM    cluster.VMID
	Stamp Stamp
	State CopyState
	Job   Job
	// CPU is the current demand of the guest: what it uses, and what it would use beside that if
	// it never waited for a processor (VMware 2012, eq. 1). So the copies on a node may demand
	// more than the node has. Drivers that cannot see contention report what the guest uses.
	CPU cluster.MilliCPU
	// CPUTime is the CPU time used since this copy was created.
	CPUTime time.Duration
	// Memory is the working set of the guest; 0 if the guest does not tell.
	Memory cluster.MiB
	// Traffic is what the guest has received and sent since this copy was created; zero for a VM without a network.
	// The copying of its memory in a migration does not count.
	Traffic Traffic
	// Cap is the most CPU that the copy gets; 0 is no limit.
	Cap cluster.MilliCPU
	// Weight is the part of the copy when CPU is short; 0 if the node does not tell. See
	// [DefaultWeight].
	Weight int
	// Size is what the copy takes from its node; zero if unknown.
	Size cluster.Resources
	// Lock reports that a lock prevents a second copy from running. VMs without a lock are
	// migrated only while paused.
	Lock bool
	// Hardware is what the VM was booted with; nil if unknown.
	Hardware *Hardware
}

// Traffic is what has passed the network devices of a VM, in bytes.
type Traffic struct{ Received, Sent int64 }

// CopyState is the execution state of a copy.
type CopyState uint8

// The states of a copy.
const (
	CopyRunning CopyState = iota
	CopyPaused
	CopyDead // the guest crashed or was shut off, and the machine is left
)

// String is the lower-case name.
func (s CopyState) String() string { return [...]string{"running", "paused", "dead"}[s] }

// Job is a long operation of the hypervisor on a copy, whatever started it. Until it has ended
// the future of the copy is open.
type Job uint8

// The jobs.
const (
	JobNone Job = iota
	JobSaving
	JobRestoring // its memory is being read: the copy is incomplete
	JobOutgoing  // migrating away
	JobIncoming  // migrating in: the copy is incomplete
	JobUnknown   // the hypervisor has not told whether there is a job
)

// String is the lower-case name.
func (j Job) String() string {
	return [...]string{"none", "saving", "restoring", "outgoing", "incoming", "unknown"}[j]
}

// Guest is one start of a VM from scratch. What it prints follows on the console of the VM what earlier guests have
// printed. If that has an exit status, its work has ended, whatever became of the guest.
type Guest struct {
	VM          cluster.VMID
	Incarnation int
}

// Ending is how a guest ended. Drivers learn it from events, so it may be missing; then the cause
// is unknown.
type Ending struct {
	VM    cluster.VMID
	Stamp Stamp
	Cause Cause
	Exit  cluster.ExitStatus // of a guest that shut itself down
	At    time.Time
}

// Cause is why a guest ended.
type Cause uint8

// The causes.
const (
	CauseUnknown  Cause = iota
	CauseShutdown       // the guest shut itself down: its work is done
	CauseCrashed        // the guest, or its process, died
)

// String is the lower-case name.
func (c Cause) String() string { return [...]string{"unknown", "shutdown", "crashed"}[c] }

// Stamp is written into a machine when it is created and stays with it through saves and
// migrations. It distinguishes current copies from stale ones.
type Stamp struct {
	Incarnation int   // how many times the vjob has been booted from scratch, from 1
	Epoch       int64 // which start of the scheduler created it
}

// ImageID identifies one attempt to save one VM. It is used once: saving never overwrites.
type ImageID struct {
	VM         cluster.VMID
	Generation int // how many times the vjob has been suspended, from 1
	Attempt    int // from 1
}

// String is "12.3.g2.a1".
func (id ImageID) String() string {
	return fmt.Sprintf("%s.g%d.a%d", id.VM, id.Generation, id.Attempt)
}

// ParseImageID reads "12.3.g2.a1".
func ParseImageID(s string) (ImageID, error) {
	parts := strings.Split(s, ".")
	bad := cluster.BadField("image", s, `a name such as "12.3.g2.a1"`)
	if len(parts) != 4 {
		return ImageID{}, bad
	}
	vm, err := cluster.ParseVMID(parts[0] + "." + parts[1])
	gen, err1 := number(parts[2], "g")
	attempt, err2 := number(parts[3], "a")
	if err != nil || err1 != nil || err2 != nil {
		return ImageID{}, bad
	}
	return ImageID{vm, gen, attempt}, nil
}

func number(s, prefix string) (int, error) {
	digits, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return 0, strconv.ErrSyntax
	}
	return strconv.Atoi(digits)
}

// Store is what the image store held at the time of one look.
type Store struct {
	Images []Image // in order of names
	// Free is the free space where each node saves. Nodes that share a file system have the
	// same Pool.
	Free Spaces
}

// Find returns an image by name.
func (s *Store) Find(id ImageID) (Image, bool) {
	for _, i := range s.Images {
		if i.ID == id {
			return i, true
		}
	}
	return Image{}, false
}

// Space is the free space for images in a pool.
type Space struct {
	Pool string // the file system; equal names share the space
	Free cluster.MiB
}

// Spaces is the free space for images where each node saves. It is nil before the first look.
type Spaces map[cluster.NodeID]Space

// Shortage returns why images do not fit on the store of a node, or "" if they do. images and before
// are the space that they, and other images before them, need in each pool.
func (s Spaces) Shortage(at cluster.NodeID, images, before map[string]cluster.MiB) string {
	space, known := s[at]
	need, free := images[space.Pool], max(0, space.Free-before[space.Pool])
	switch {
	case s == nil:
		return "the image store has not been seen"
	case !known:
		return fmt.Sprintf("the image store of %s has not been seen", at)
	case need <= free:
		return ""
	default:
		return fmt.Sprintf("the images need %s on the image store of %s, %s more than is free", need, at, need-free)
	}
}

// Image is one file in the image store.
type Image struct {
	ID       ImageID
	Node     cluster.NodeID // where it is local; if that node is silent, another one that can reach it
	Bytes    int64
	Complete bool      // its save marked it as complete
	Written  time.Time // last change of the file
	Hardware *Hardware // of the VM that was saved; nil if unknown
}

// Verb is what a call does.
type Verb uint8

// The verbs. Each may be repeated: if its work is done already, it may return an error.
const (
	Boot     Verb = iota // create the VM on Node, running
	Shutdown             // ask the guest to shut itself down
	Destroy              // end the copy at once
	Pause                // stop its CPUs; memory stays
	Unpause              // start its CPUs again
	Save                 // write a paused copy to Image and remove the copy
	Seal                 // make Image and its checksum durable: see Receipt; repeated, verify it: ErrBadImage
	Restore              // verify Image against Checksum, then create a paused copy of it on Node
	Revoke               // forbid the Restore attempts up to Attempt; one that has opened Image may still succeed
	Discard              // delete Image
	Migrate              // move the copy from Node to To; paused stays paused
	Abort                // cancel the job of the copy; an incomplete copy ends
	Tune                 // give the copy another Cap and Weight
)

// String is the lower-case name.
func (v Verb) String() string {
	return [...]string{
		"boot", "shutdown", "destroy", "pause", "unpause", "save",
		"seal", "restore", "revoke", "discard", "migrate", "abort", "tune",
	}[v]
}

// MarshalText writes the name of the verb.
func (v Verb) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the name of a verb. Journals before weights have "cap" for [Tune].
func (v *Verb) UnmarshalText(b []byte) error {
	if string(b) == "cap" {
		*v = Tune
		return nil
	}
	for w := Boot; w <= Tune; w++ {
		if w.String() == string(b) {
			*v = w
			return nil
		}
	}
	return cluster.BadField("verb", string(b), "a hypervisor verb")
}

// OpID is the unique number of a call: the key of its intent and of its result.
type OpID int64

// Call is one operation on a node. Its verb determines which fields count.
type Call struct {
	Op       OpID
	Verb     Verb
	VM       cluster.VMID
	Node     cluster.NodeID
	To       cluster.NodeID // Migrate
	Rate     cluster.Rate   // Migrate: the bandwidth limit; 0 is no limit. Some drivers ignore it
	Image    ImageID        // Save, Seal, Restore, Revoke, Discard
	Checksum string         // Restore: from the receipt of Seal
	Attempt  int            // Restore, Revoke: the number of the attempt
	// Cap is the most CPU that a copy gets from now on, on every node: Boot, Restore, Tune. 0 is
	// no limit; less than [MinCap] counts as MinCap.
	Cap cluster.MilliCPU
	// Weight is the part of a copy when CPU is short, from now on: Boot, Restore, Tune. 0 leaves
	// the weight that the copy has; a boot without a weight gets that of the hypervisor.
	Weight  int
	Stamp   Stamp    // Boot
	Machine *Machine // Boot
}

// MinCap is the smallest cap that hypervisors support.
const MinCap = 10 * cluster.CPU / 1000

// Weights, as of Linux control groups (cpu.weight): while the copies on a node demand more CPU
// than it has, each gets a part in proportion to its weight, and never more than its demand.
const (
	MinWeight     = 1
	DefaultWeight = 100
	MaxWeight     = 10_000
)

// Machine is what Boot creates.
type Machine struct {
	Name     string // for display: "sim-run/3"; never an identity
	Members  int    // how many VMs the vjob has, so that a guest knows its peers; 0 if unknown
	Reserved cluster.Resources
	Payload  cluster.Payload
}

// Receipt is the result of a successful call.
type Receipt struct {
	Bytes       int64  // Seal
	Checksum    string // Seal
	Incarnation int    // Seal: of the saved copy; 0 if unknown
}
