package libvirt

import (
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// portOf is the TCP port of a libvirt URI; 0 if the connection does not use TCP or uses ssh.
func portOf(uri string) int {
	u, err := url.Parse(uri)
	if err != nil {
		return 0
	}
	_, transport, _ := strings.Cut(u.Scheme, "+")
	var port int
	switch {
	case transport == "tcp":
		port = 16509
	case transport == "tls", transport == "" && u.Host != "":
		port = 16514
	default:
		return 0
	}
	if given, err := strconv.Atoi(u.Port()); err == nil {
		port = given
	}
	return port
}

// probeByKernel turns on TCP keepalive for the connections of this process to a port, as often
// as libvirt would probe. libvirt does not expose its sockets, so all sockets of the process to
// that port are set: an extra one does no harm.
func probeByKernel(port int, t Timeouts) {
	if port == 0 {
		return
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return // best effort
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && peerPort(fd) == port {
			probeSocket(fd, t)
		}
	}
}

// peerPort is the TCP port that a file descriptor is connected to; 0 without one.
func peerPort(fd int) int {
	peer, err := syscall.Getpeername(fd)
	if err != nil {
		return 0
	}
	switch a := peer.(type) {
	case *syscall.SockaddrInet4:
		return a.Port
	case *syscall.SockaddrInet6:
		return a.Port
	}
	return 0
}

// tcpUserTimeout is Linux's TCP_USER_TIMEOUT, for which syscall has no name.
const tcpUserTimeout = 0x12

func probeSocket(fd int, t Timeouts) {
	const tcp = syscall.IPPROTO_TCP
	for _, o := range []struct{ level, name, value int }{
		{tcp, syscall.TCP_KEEPIDLE, t.KeepaliveSeconds},
		{tcp, syscall.TCP_KEEPINTVL, t.KeepaliveSeconds},
		{tcp, syscall.TCP_KEEPCNT, t.KeepaliveCount},
		{tcp, tcpUserTimeout, int(t.silence().Milliseconds())}, // the same limit for unacknowledged data
		{syscall.SOL_SOCKET, syscall.SO_KEEPALIVE, 1},
	} {
		_ = syscall.SetsockoptInt(fd, o.level, o.name, o.value) // best effort
	}
}
