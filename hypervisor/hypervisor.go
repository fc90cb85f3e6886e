// Package hypervisor is the seam between decisions and machines: what can be
// seen on a node (Observer) and what can be asked of it (Actuator). Drivers live
// below it: hypervisor/simulated and hypervisor/libvirt; hypervisor/conformance
// is the suite that both pass.
//
// One law shapes it: a reply is never the truth, an observation is. The error of
// a call does not say that nothing happened, and its success does not say that
// the result will last. Whoever calls looks at both ends afterwards.
//
// It refuses to know why a call is made; gangs, plans and queues live above.
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

// Errors of calls and looks. They tell a person and a retry policy what went
// wrong; none of them is proof that the call had no effect.
var (
	// ErrUnreachable: the node did not answer. What it holds is unknown.
	ErrUnreachable = errors.New("node unreachable")
	// ErrTimeout: the call did not end before its deadline, or its connection broke while
	// it was under way. It may still happen, minutes later.
	ErrTimeout = errors.New("no answer before the deadline")
	// ErrNoSuchVM: the node holds no copy of the VM.
	ErrNoSuchVM = errors.New("no such VM")
	// ErrExists: the node holds a copy of the VM already.
	ErrExists = errors.New("VM exists already")
	// ErrNoSpace: the image store is full.
	ErrNoSpace = errors.New("no space for the image")
	// ErrNoRoom: the node cannot give the VM its memory.
	ErrNoRoom = errors.New("no memory for the VM")
	// ErrBadImage: what was read is incomplete, or differs from what was sealed. A
	// hypervisor that refuses to load an image says [ErrRefused]: another node may load it.
	ErrBadImage = errors.New("image unusable")
	// ErrNoImage: the image cannot be read now; it may be there again later.
	ErrNoImage = errors.New("image cannot be read")
	// ErrLocked: a lock shows that another copy runs elsewhere.
	ErrLocked = errors.New("locked by another copy")
	// ErrRefused: the hypervisor will not do this; the text says why.
	ErrRefused = errors.New("refused by the hypervisor")
)

// Driver is a cluster of hypervisors. All methods are safe for concurrent use.
type Driver interface {
	Observer
	Actuator
	// Console opens what the guest of a VM has printed since its first boot. A VM
	// that never printed is cluster.ErrNotFound.
	Console(ctx context.Context, vm cluster.VMID) (io.ReadCloser, error)
	// Sweep removes what is kept for VMs of vjobs that are not live: disks, seeds,
	// leases, and what was noted of images that are gone. Consoles are kept until
	// keepConsoles after their last change. Whatever is younger than [SweepAge] is
	// left alone, since its vjob may be newer than what the caller knows; so is
	// whatever belongs to a VM that the driver can see, as a copy or as an image:
	// the caller may have lost its knowledge of it. Nothing is touched that does
	// not bear a name of ours, and images never: they are discarded one by one. An
	// error means that something was kept that could have gone; the next sweep
	// tries again.
	Sweep(ctx context.Context, live func(cluster.VJobID) bool, keepConsoles time.Duration) error
	// Close lets running calls end and joins everything that the driver started.
	Close() error
}

// SweepAge is how old something must be at least to be swept.
const SweepAge = 10 * time.Minute

// Observer looks at nodes.
type Observer interface {
	// Look lists everything of ours that a node holds, in full. An error means
	// that nothing is known, never that nothing is there.
	Look(ctx context.Context, node cluster.NodeID) (View, error)
	// LookStore lists every image that can be read now. A store without the mark of this
	// installation is an error: another file system may be mounted there, or none.
	LookStore(ctx context.Context) (Store, error)
	// Hints names nodes on which something changed. A hint is a reason to look
	// and nothing more: hints get lost, repeated and delayed.
	Hints() <-chan cluster.NodeID
}

// Actuator carries out calls.
type Actuator interface {
	// Do carries out one call and returns when the hypervisor has answered or
	// the context has ended. After the context's end the call may still happen.
	Do(ctx context.Context, call Call) (Receipt, error)
}

// View is what one node held at the time of one look.
type View struct {
	Node      cluster.NodeID
	Copies    []Copy   // in order of VMs
	Endings   []Ending // guests that ended by themselves since the driver remembers, oldest first
	Strangers []string // machines without our mark, in order; never touched
	Warnings  []string // what administrators should know of the node, such as that VMs are not confined
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

// Copy is one machine of ours on one node. During a migration, or after one that
// was cut, the same VM has a copy on both ends.
type Copy struct {
	VM    cluster.VMID
	Stamp Stamp
	State CopyState
	Job   Job
	// CPU is what the guest needs now, as well as the driver can tell; what it
	// gets may be less.
	CPU cluster.MilliCPU
	// CPUTime is the CPU time used since this copy was created.
	CPUTime time.Duration
	// Cap is the most CPU that it gets; 0 is as much as there is.
	Cap cluster.MilliCPU
	// Size is what it takes of its node; zero where the driver cannot tell.
	Size cluster.Resources
	// Lock reports that a lock prevents a second copy from running: only then is
	// the VM migrated while it runs.
	Lock bool
}

// CopyState is whether a copy executes.
type CopyState uint8

// The states of a copy.
const (
	CopyRunning CopyState = iota
	CopyPaused
	CopyDead // the guest crashed or was shut off; only its shell is left
)

// String is the lower-case name.
func (s CopyState) String() string { return [...]string{"running", "paused", "dead"}[s] }

// Job is a long operation that the hypervisor has under way on a copy, whatever
// asked for it. While there is one, or may be, the fate of the copy is open.
type Job uint8

// The jobs.
const (
	JobNone Job = iota
	JobSaving
	JobRestoring // its memory is being read: it is not whole yet
	JobOutgoing  // migrating away
	JobIncoming  // migrating in: it is not whole yet
	JobUnknown   // the hypervisor has not said whether there is one
)

// String is the lower-case name.
func (j Job) String() string {
	return [...]string{"none", "saving", "restoring", "outgoing", "incoming", "unknown"}[j]
}

// Ending tells how a guest left. Drivers learn it from events, so it can be
// missing; then the cause is unknown.
type Ending struct {
	VM    cluster.VMID
	Stamp Stamp
	Cause Cause
	At    time.Time
}

// Cause is why a guest is no more.
type Cause uint8

// The causes.
const (
	CauseUnknown  Cause = iota
	CauseShutdown       // it shut itself down: the work is done
	CauseCrashed        // it, or the process that ran it, died
)

// String is the lower-case name.
func (c Cause) String() string { return [...]string{"unknown", "shutdown", "crashed"}[c] }

// Stamp is written into a machine when it is created and stays with it through
// saves and migrations: it tells our own copies from stale ones.
type Stamp struct {
	Incarnation int   // how many times the vjob has been booted from scratch, from 1
	Epoch       int64 // which start of the scheduler created it
}

// ImageID names one attempt to save one VM. The name is used once: saving never
// overwrites.
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
	// Free is the space left where each node saves. Nodes that share a file
	// system show the same Pool.
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

// Space is room for images.
type Space struct {
	Pool string // the file system; equal names share the room
	Free cluster.MiB
}

// Spaces is the room for images where each node saves; nil: no store has been seen.
type Spaces map[cluster.NodeID]Space

// Lack says what is missing on the store of a node for images, by the sums that they and
// others before them need of each pool; "" if they fit.
func (s Spaces) Lack(at cluster.NodeID, images, before map[string]cluster.MiB) string {
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
	Node     cluster.NodeID // where it lies: resuming there is local; if that node is silent, one that can reach it
	Bytes    int64
	Complete bool      // the save that wrote it said that it was finished
	Written  time.Time // last change of the file
}

// Verb says what a call does.
type Verb uint8

// The verbs. Every one may be repeated: the second time it finds its work done
// and says so with an error or not at all.
const (
	Boot     Verb = iota // create the VM on Node, running
	Shutdown             // ask the guest to shut itself down
	Destroy              // end the copy at once
	Pause                // stop its CPUs; memory stays
	Unpause              // let it go on
	Save                 // write a paused copy to Image and remove the copy
	Seal                 // make Image and its checksum durable: see Receipt; once more, verify it: ErrBadImage
	Restore              // verify Image against Checksum, then create a paused copy of it on Node
	Revoke               // forbid the Restore attempts up to Attempt; one that has opened Image may still end well
	Discard              // delete Image
	Migrate              // move the copy from Node to To; paused stays paused
	Abort                // cancel the job under way on the copy; one that is not whole yet ends
	Cap                  // let the copy get at most Cap of CPU from now on
)

// String is the lower-case name.
func (v Verb) String() string {
	return [...]string{
		"boot", "shutdown", "destroy", "pause", "unpause", "save",
		"seal", "restore", "revoke", "discard", "migrate", "abort", "cap",
	}[v]
}

// MarshalText writes the name of the verb.
func (v Verb) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the name of a verb.
func (v *Verb) UnmarshalText(b []byte) error {
	for w := Boot; w <= Cap; w++ {
		if w.String() == string(b) {
			*v = w
			return nil
		}
	}
	return cluster.BadField("verb", string(b), "a hypervisor verb")
}

// OpID numbers calls for ever: the key of their intent and of their result.
type OpID int64

// Call is one thing asked of a node. Which fields count depends on the verb.
type Call struct {
	Op       OpID
	Verb     Verb
	VM       cluster.VMID
	Node     cluster.NodeID
	To       cluster.NodeID // Migrate
	Rate     cluster.Rate   // Migrate: the most that is sent; 0 is no limit. A wish: not all drivers can
	Image    ImageID        // Save, Seal, Restore, Revoke, Discard
	Checksum string         // Restore: what Seal found
	Attempt  int            // Restore, Revoke: each attempt to restore has a number of its own
	// Cap is the most CPU that a copy gets from now on, whatever node it goes to: Boot,
	// Restore, Cap. 0 is as much as there is; less than [LeastCap] counts as that.
	Cap     cluster.MilliCPU
	Stamp   Stamp    // Boot
	Machine *Machine // Boot
}

// LeastCap is the smallest cap: what hypervisors can tell from nothing.
const LeastCap = 10 * cluster.CPU / 1000

// Machine is what Boot creates.
type Machine struct {
	Name     string // for people: "sim-run/3"; never an identity
	Members  int    // how many VMs the vjob has, so that a guest knows its peers; 0 when not told
	Reserved cluster.Resources
	Payload  cluster.Payload
}

// Receipt is what a call that ended well brings back.
type Receipt struct {
	Bytes       int64  // Seal
	Checksum    string // Seal
	Incarnation int    // Seal: of the copy that was saved; 0 where the driver cannot tell
}
