//go:build libvirt_dlopen && cgo

package libvirt

import (
	"sync"

	"libvirt.org/go/libvirt"
)

// probe lets libvirt notice that the other end of a connection without calls is gone: it
// sends a message after some silence.
func probe(conn *libvirt.Connect, t Timeouts) {
	_ = conn.SetKeepAlive(t.KeepaliveSeconds, uint(t.KeepaliveCount)) // best effort
}

// stopProbing comes before a call on a connection that libvirt probes: see probeCalls.
func stopProbing(conn *libvirt.Connect) {
	_ = conn.SetKeepAlive(0, 0) // best effort
}

// probeCalls is probe for a connection that carries calls. A client before 10.4 that
// sends a probe while a call waits leaves a source behind that points into that call's
// stack; when the next call gets its answer, libvirt writes there, or crashes
// (CVE-2024-4418). There the kernel probes, and the line for events tells that a daemon
// is silent.
func probeCalls(conn *libvirt.Connect, uri string, t Timeouts) {
	if leavesSources() {
		probeByKernel(portOf(uri), t)
	} else {
		probe(conn, t)
	}
}

// leavesSources reports whether libvirt.so.0 has the fault of probeCalls.
var leavesSources = sync.OnceValue(func() bool {
	const mended = 10_004_000
	version, err := libvirt.GetVersion()
	return err != nil || version < mended
})
