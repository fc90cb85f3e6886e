package simulated

import (
	"strings"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// FaultKind names a fault.
type FaultKind uint8

// The faults. Lasting faults affect a node until they end; armed faults wait for the next call
// that they match; the others have their effect at once.
const (
	// PowerLoss: the node's copies are gone, its unsealed images may be torn. Lasting: the node
	// comes back empty.
	PowerLoss FaultKind = iota
	// Freeze: the node's daemon is stopped (SIGSTOP). Looks time out; calls queue, and are
	// executed when it continues; guests run. Lasting.
	Freeze
	// Partition: the controller cannot reach the node; VMs and calls in progress there continue.
	// Lasting.
	Partition
	// DaemonKilled: libvirtd dies with its calls: rows 6a, 6b, M3, M4, M7. Guests continue.
	// Lasting, until it is started again.
	DaemonKilled
	// StoreGone: the image store is not mounted on the node. Lasting.
	StoreGone
	// DiskFull: saves on the node run out of space at their end (row 6d). Lasting.
	DiskFull
	// StoreForeign: the image store of the node lacks the mark of the installation: another file
	// system is mounted there, or none. Lasting.
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
	// LoadRefused: the hypervisor of the node refuses to load images, even good ones. Lasting.
	LoadRefused

	// LockdKilled: the locks of the node's running copies vanish (row 17).
	LockdKilled
	// GuestCrashed: the process of the guest dies, the copy is gone.
	GuestCrashed
	// GuestPanicked: the guest dies and leaves a dead copy.
	GuestPanicked
	// ImageRot: some bits of an image flip. Only a checksum shows it (E5b).
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
	// SaveFullLeft: the next save finds the disk full and leaves a partial file. Armed.
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
	// HalfLeft: the next daemon that is killed leaves an incomplete copy: of a restore, which
	// continues to load, or of an incoming migration. Armed.
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

// FaultNamed returns the kind of fault with a name; the error lists the valid names.
func FaultNamed(name string) (FaultKind, error) {
	for k, n := range faultNames {
		if n == name {
			return FaultKind(k), nil
		}
	}
	return 0, cluster.BadField("fault", name, "one of "+strings.Join(faultNames[:], ", "))
}

// Fault is one fault to inject.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// Node is the node of a lasting fault. For an armed fault it is the node of the call, or ""
	// for any; for a fault of a guest the node of the copy, or "" for the first.
	Node cluster.NodeID `json:"node,omitempty"`
	// VM is the VM of the guest or of the call; the zero VM matches any call.
	VM cluster.VMID `json:"vm"`
	// Verb limits CallFails, CallLost, CallSilent and CallSlow; nil is any verb.
	Verb *hypervisor.Verb `json:"verb,omitempty"`
	// Image is what ImageRot damages.
	Image hypervisor.ImageID `json:"image"`
	// For is how long a lasting fault lasts; 0 is until [Cluster.EndFault].
	For time.Duration `json:"for_ns,omitempty"`
}

// matches reports whether an armed fault applies to a call.
func (f *Fault) matches(call *hypervisor.Call) bool {
	return (f.Node == "" || f.Node == call.Node) &&
		(f.VM == cluster.VMID{} || f.VM == call.VM) &&
		(f.Verb == nil || *f.Verb == call.Verb) &&
		f.appliesTo(call.Verb)
}

// appliesTo reports whether a kind of fault can affect a verb.
func (f *Fault) appliesTo(v hypervisor.Verb) bool {
	switch f.Kind {
	case SaveFull, SaveFullLeft:
		return v == hypervisor.Save
	case MigrateCut, MigrateSplit:
		return v == hypervisor.Migrate
	case BootFails, HalfLeft:
		return false // these do not affect calls
	case BootStuck:
		return v == hypervisor.Boot
	case CallLate:
		return v == hypervisor.Restore || v == hypervisor.Seal || v == hypervisor.Revoke || v == hypervisor.Discard
	default:
		return true
	}
}
