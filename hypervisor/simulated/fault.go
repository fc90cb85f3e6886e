package simulated

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// FaultKind names a fault.
type FaultKind uint8

// The faults. The lasting ones trouble a node until they end; the armed ones wait
// for the next call that they fit; the others strike at once.
const (
	// PowerLoss: the node's copies are gone, images that it saved and that nobody
	// sealed may be torn. Lasting: the power comes back, the node is empty.
	PowerLoss FaultKind = iota
	// Freeze: the node's daemon stops (SIGSTOP). Looks time out; calls queue, and
	// ARE executed when it goes on; guests run. Lasting.
	Freeze
	// Partition: no way between the controller and the node; VMs, and calls under
	// way there, go on. Lasting.
	Partition
	// DaemonKilled: libvirtd dies with the calls that it carries out: rows 6a, 6b,
	// M3, M4, M7. Guests run on. Lasting, until it is started again.
	DaemonKilled
	// StoreGone: the image store is not mounted on the node. Lasting.
	StoreGone
	// DiskFull: what the node saves finds no space at its end (row 6d). Lasting.
	DiskFull
	// StoreForeign: another file system, or none, is mounted where the image store of
	// the node should be: it lacks the mark of the installation. Lasting.
	StoreForeign
	// StoreFails: most calls and looks that use the image store of the node end with
	// EIO, ESTALE or ENOSPC. Lasting.
	StoreFails
	// StoreStale: looks show what the node saved as it was when this began: a cached
	// directory. Lasting.
	StoreStale
	// StoreSlow: the node needs minutes to read an image. Lasting.
	StoreSlow
	// JobsHidden: looks cannot tell which jobs are under way on the node. Lasting.
	JobsHidden
	// LoadRefused: the hypervisor of the node does not load images, whole as they are.
	// Lasting.
	LoadRefused

	// LockdKilled: the locks of the node's running copies vanish (row 17).
	LockdKilled
	// GuestCrashed: the process of the guest dies, the copy is gone.
	GuestCrashed
	// GuestPanicked: the guest dies, its shell is left: a dead copy.
	GuestPanicked
	// ImageRot: some bits of an image flip. Nobody notices but a checksum (E5b).
	ImageRot

	// CallFails: the next call has no effect. Armed.
	CallFails
	// CallLost: the next call takes effect, its answer is an error. Armed.
	CallLost
	// CallSilent: the next call takes effect, no answer ever comes. Armed.
	CallSilent
	// CallSlow: the next call takes ten times as long. Armed.
	CallSlow
	// SaveFull: the next save finds the disk full and removes its file. Armed.
	SaveFull
	// SaveFullLeft: likewise, and a partial file stays. Armed.
	SaveFullLeft
	// MigrateCut: the migration under way, or the next one, fails in its memory
	// phase; the source keeps the VM. Armed.
	MigrateCut
	// MigrateSplit: the migration under way, or the next one, loses its last reply
	// (M10-M14). Armed.
	MigrateSplit
	// BootFails: the node does not come up the next time that it is switched on.
	// Armed.
	BootFails
	// CallLate: the next call that uses the image store hangs for minutes, then has its
	// effect. Armed.
	CallLate
	// BootStuck: the copy of the next boot hangs for minutes before its guest runs. Armed.
	BootStuck
	// HalfLeft: the next daemon that is killed leaves a copy behind that is not whole:
	// of a restore, which goes on loading, or of a migration to it. Armed.
	HalfLeft

	faultKinds = iota
	// lastingKinds is how many kinds, the first ones, are lasting.
	lastingKinds = LoadRefused + 1
)

var faultNames = [...]string{
	"power-loss", "freeze", "partition", "daemon-killed", "store-gone", "disk-full",
	"store-foreign", "store-fails", "store-stale", "store-slow", "jobs-hidden", "load-refused",
	"lockd-killed", "guest-crashed", "guest-panicked", "image-rot",
	"call-fails", "call-lost", "call-silent", "call-slow", "save-full", "save-full-left", "migrate-cut", "migrate-split", "boot-fails",
	"call-late", "boot-stuck", "half-left",
}

// String is the lower-case name.
func (k FaultKind) String() string { return faultNames[k] }

// FaultNamed returns a kind of fault by its name; the error lists the right ones.
func FaultNamed(name string) (FaultKind, error) {
	for k, n := range faultNames {
		if n == name {
			return FaultKind(k), nil
		}
	}
	return 0, cluster.BadField("fault", name, "one of "+strings.Join(faultNames[:], ", "))
}

// slowFactor is how much longer a slow call takes.
const slowFactor = 10

// Fault is one fault to inject.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// Node is where a node's fault happens. For an armed one it is the node of the
	// call, or "" for any; for a guest's, where the copy is, or "" for the first.
	Node cluster.NodeID `json:"node,omitempty"`
	// VM is whose guest, or whose call; the zero VM is anybody's call.
	VM cluster.VMID `json:"vm"`
	// Verb limits CallFails, CallLost, CallSilent and CallSlow; nil is any verb.
	Verb *hypervisor.Verb `json:"verb,omitempty"`
	// Image is what ImageRot damages.
	Image hypervisor.ImageID `json:"image"`
	// For is how long a lasting fault lasts; 0 is until it is mended.
	For time.Duration `json:"for_ns,omitempty"`
}

// Inject lets a fault happen. An error says that it has nothing to strike.
func (c *Cluster) Inject(now time.Time, f Fault) error {
	c.run(now)
	defer c.settle()
	switch {
	case f.Kind < lastingKinds || f.Kind == LockdKilled:
		h, ok := c.hosts[f.Node]
		if !ok {
			return fmt.Errorf("inject %s: node %q: %w", f.Kind, f.Node, cluster.ErrNotFound)
		}
		c.troubleNode(h, f)
		return nil
	case f.Kind == GuestCrashed || f.Kind == GuestPanicked:
		return c.killGuest(f)
	case f.Kind == ImageRot:
		i := c.images[f.Image]
		if i == nil {
			return fmt.Errorf("inject %s: image %s: %w", f.Kind, f.Image, cluster.ErrNotFound)
		}
		c.rot(i)
		return nil
	}
	c.arm(f)
	return nil
}

// Mend ends a lasting fault of a node.
func (c *Cluster) Mend(now time.Time, node cluster.NodeID, k FaultKind) {
	c.run(now)
	if h, ok := c.hosts[node]; ok && k < lastingKinds {
		c.mend(h, k)
	}
	c.settle()
}

// Heal ends all lasting faults, disarms the armed ones and lets no random one
// happen any more. Damage that was done stays.
func (c *Cluster) Heal(now time.Time) {
	c.run(now)
	c.healed, c.armed = true, nil
	c.cfg.Faults = Rates{}
	for _, h := range c.order {
		for k := range lastingKinds {
			c.mend(h, k)
		}
	}
	c.settle()
}

// arm keeps a fault for a call; a migration under way is one already.
func (c *Cluster) arm(f Fault) {
	if f.Kind == MigrateCut || f.Kind == MigrateSplit {
		for _, h := range c.order {
			for _, m := range h.sorted() {
				if m.Job != hypervisor.JobOutgoing || !f.fits(&c.ops[m.Op].Call) {
					continue
				}
				op := c.ops[m.Op]
				if f.Kind == MigrateSplit {
					op.Cut = cutFinish
					return
				}
				c.cancelMigrate(op, cutInMiddle(op))
				return
			}
		}
	}
	c.armed = append(c.armed, f)
}

func cutInMiddle(op *operation) *failure {
	return failed(hypervisor.ErrUnreachable, "migrate %s to %s: client socket is closed", op.Call.VM, op.Call.To)
}

// fits reports whether an armed fault is meant for a call.
func (f *Fault) fits(call *hypervisor.Call) bool {
	return (f.Node == "" || f.Node == call.Node) &&
		(f.VM == cluster.VMID{} || f.VM == call.VM) &&
		(f.Verb == nil || *f.Verb == call.Verb) &&
		f.suits(call.Verb)
}

// suits reports whether a kind of fault can happen to a verb.
func (f *Fault) suits(v hypervisor.Verb) bool {
	switch f.Kind {
	case SaveFull, SaveFullLeft:
		return v == hypervisor.Save
	case MigrateCut, MigrateSplit:
		return v == hypervisor.Migrate
	case BootFails, HalfLeft:
		return false // it is no call that is spoilt
	case BootStuck:
		return v == hypervisor.Boot
	case CallLate:
		return v == hypervisor.Restore || v == hypervisor.Seal || v == hypervisor.Revoke || v == hypervisor.Discard
	default:
		return true
	}
}

// spoil lets armed and random faults act on a call that a node takes up. The
// failure is that of a call without effect.
func (c *Cluster) spoil(op *operation) *failure {
	fails := false
	c.armed = slices.DeleteFunc(c.armed, func(f Fault) bool {
		if !f.fits(&op.Call) {
			return false
		}
		fails = fails || f.Kind == CallFails
		op.mark(f.Kind)
		return true
	})
	for _, r := range c.cfg.Faults.calls() {
		f := Fault{Kind: r.kind}
		if f.suits(op.Call.Verb) && c.happens(r.chance) {
			fails = fails || r.kind == CallFails
			op.mark(r.kind)
		}
	}
	if fails {
		return refuse(op, "internal error")
	}
	return nil
}

// mark notes what is going to happen to the call.
func (op *operation) mark(k FaultKind) {
	switch k {
	case CallLost:
		op.Lost = LostError
	case CallSilent:
		op.Lost = LostSilent
	case CallSlow:
		op.Slow = true
	case SaveFull:
		op.Cut = cutFull
	case SaveFullLeft:
		op.Cut = cutFullLeft
	case MigrateCut:
		op.Cut = cutMiddle
	case MigrateSplit:
		op.Cut = cutFinish
	case CallLate, BootStuck:
		op.Hangs = true
	default: // CallFails leaves nothing to happen later
	}
}

// killGuest ends a guest against its will.
func (c *Cluster) killGuest(f Fault) error {
	for _, h := range c.order {
		m := h.copies[f.VM]
		if m == nil || f.Node != "" && f.Node != h.ID || m.Job == hypervisor.JobIncoming {
			continue
		}
		if f.Kind == GuestCrashed {
			c.guestLeaves(m, hypervisor.CauseCrashed)
			return nil
		}
		c.cancelJobs(m, failed(hypervisor.ErrNoSuchVM, "%s on %s: domain is not running", m.VM, m.Node))
		c.panics(m)
		return nil
	}
	return fmt.Errorf("inject %s: VM %s: %w", f.Kind, f.VM, cluster.ErrNotFound)
}

// panics leaves the shell of a guest.
func (c *Cluster) panics(m *machine) {
	c.print(m, "panic")
	c.stop(m, hypervisor.CopyDead)
	m.Need = 0
	c.ended(c.hosts[m.Node], m, hypervisor.CauseCrashed)
	c.tell(Change{Kind: Ended, VM: m.VM, Node: m.Node, Cause: hypervisor.CauseCrashed}, &m.Mem)
	c.wakeWaiters(m)
}

// rot damages an image.
func (c *Cluster) rot(i *image) {
	i.Rot++
	c.tell(Change{Kind: Spoiled, VM: i.ID.VM, Node: i.Node, Image: i.ID}, &i.Mem)
}
