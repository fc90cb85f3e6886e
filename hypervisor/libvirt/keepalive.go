//go:build libvirt_dlopen && cgo

package libvirt

import (
	"sync"

	"libvirt.org/go/libvirt"
)

// probe turns on libvirt's keepalive messages, so that a dead peer of a connection without
// pending calls is noticed.
func probe(conn *libvirt.Connect, t Timeouts) {
	_ = conn.SetKeepAlive(t.KeepaliveSeconds, uint(t.KeepaliveCount)) // best effort
}

// stopProbing must precede a call on a connection that libvirt probes: see probeCalls.
func stopProbing(conn *libvirt.Connect) {
	_ = conn.SetKeepAlive(0, 0) // best effort
}

// probeCalls is probe for a connection that carries calls. A client before 10.4 that sends a
// probe while a call is pending leaves an event source that points into the stack of that call;
// on the answer to the next call libvirt writes there or crashes (CVE-2024-4418). With such a
// client the kernel probes, and the event connection shows that a daemon is silent.
func probeCalls(conn *libvirt.Connect, uri string, t Timeouts) {
	if hasKeepaliveBug() {
		probeByKernel(portOf(uri), t)
	} else {
		probe(conn, t)
	}
}

// hasKeepaliveBug reports whether libvirt.so.0 has the bug described at probeCalls.
var hasKeepaliveBug = sync.OnceValue(func() bool {
	const fixed = 10_004_000
	version, err := libvirt.GetVersion()
	return err != nil || version < fixed
})
