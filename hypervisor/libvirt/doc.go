// Package libvirt drives nodes through libvirt: QEMU/KVM machines on hosts that are named by a
// URI each, with one image directory that all of them and the scheduler see.
//
// Machines are transient and carry our mark in their metadata. Their XML is only written
// through libvirtxml, and no text of a user reaches XML, a file name or a command line
// unescaped. Lifecycle events are hints to look, and the source of [hypervisor.Ending]; after
// every reconnection the node is listed.
//
// The calls go through cgo, which cannot be cancelled: a call that outlives its context
// continues in a goroutine of its own while the caller gets [hypervisor.ErrTimeout]. Each node
// has its own connections and limits, so a node that hangs delays no other.
//
// The driver reports only what it knows. A copy is complete unless libvirt's reason for its
// state contradicts; a query without an answer is [hypervisor.JobUnknown]. An image is bad by
// its header or checksum, never by what QEMU says about it. A folder of the image store without
// our marker is not read. Nothing is overwritten: an image and an overlay get names that were
// never used, and no call is sent after the end of its context.
//
// A limit: [hypervisor.Copy].Lock says that the machine was described with a lease, or with a
// disk that QEMU locks, and not that the lease is held now. A virtlockd that was killed and
// restarted has lost all leases of its host and admits a second copy. Its start time, compared
// with those of the machines, would show this; but libvirt's remote protocol tells neither the
// start time (virtlockd has an administrative socket, only for its own host) nor whether a
// lease is held. So the scheduler's own decisions rely on no lock: a lock makes a live
// migration safe that is interrupted at its end, and prevents a second copy that a person
// starts, and while the leases are lost it does neither. The administrator's part is in
// docs/how-to/install-on-libvirt.md.
//
// The build needs -tags libvirt_dlopen and a C compiler, but no libvirt: [New] opens
// libvirt.so.0. Without the tag New fails, and the rest of vjob works.
package libvirt
