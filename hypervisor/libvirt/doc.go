// Package libvirt drives real hosts through libvirt: QEMU/KVM machines, named by
// a URI each, with one image directory that all of them and the scheduler see.
//
// Machines are transient and carry our mark in their metadata; their XML is only
// written through libvirtxml, and no word of a user reaches XML, a file name or a
// command line unescaped. Lifecycle events are hints to look, and the source of
// [hypervisor.Ending]; every connection that comes back is followed by a listing.
//
// The calls go through cgo, which knows no context: a call that outlives its
// context goes on in a goroutine of its own while the caller gets
// [hypervisor.ErrTimeout]. Each host has its own connections and limits, so a host
// that hangs delays nobody else.
//
// It gives no answer that it does not have. A copy is whole when libvirt's reason of its
// state does not contradict; a question without an answer is [hypervisor.JobUnknown]. An
// image is bad by its header or checksum, never by what QEMU says of it. A folder of the
// image store without our marker is not read. And it overwrites nothing: an image and an
// overlay get names that were never used, and no call is sent after its context's end.
//
// A limit: [hypervisor.Copy].Lock says that the machine was described with a lease,
// or with a disk that QEMU locks, and not that the lease is held now. A virtlockd
// that is killed and started again has lost all leases of its host, and a second
// copy would be let in. Whether that happened could be told by its start time,
// which must be older than every machine's; but libvirt's remote protocol does not
// show it (virtlockd has an administrative socket, which only its own host
// reaches), nor whether a lease is held. So we rest on no lock for what we decide
// ourselves: a lock is what makes a live migration that is cut at its end safe,
// and what stops a person's second copy, and while the leases are lost neither
// holds. The administrator's part is in docs/admin-guide.md.
//
// It is built with -tags libvirt_dlopen, which needs a C compiler and no libvirt;
// libvirt.so.0 is opened by [New]. Without the tag, New fails and the rest of
// vjob works.
//
// It refuses to know why a call is made: gangs, plans and queues live above.
package libvirt
