package libvirt

import (
	"net"
	"syscall"
	"testing"
)

func TestPortOf(t *testing.T) {
	for uri, want := range map[string]int{
		"qemu+tcp://n1/system":              16509,
		"qemu+tcp://n1:17000/system":        17000,
		"qemu+tls://[fe80::1]:17001/system": 17001,
		"qemu://n1/system":                  16514,
		"qemu+tls://n1/system":              16514,
		"qemu+ssh://root@n1:22/system":      0,
		"qemu:///system":                    0,
		"qemu+unix:///system?socket=/x":     0,
		"://":                               0,
	} {
		if got := portOf(uri); got != want {
			t.Errorf("%s: %d, not %d", uri, got, want)
		}
	}
}

// A connection to the port is probed from then on, others are as they were.
func TestProbeByKernel(t *testing.T) {
	dial := func(at string) *net.TCPConn {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		// No keepalive: that is what is to be set.
		c, err := (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{}, KeepAlive: -1}).DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c.(*net.TCPConn)
	}
	theirs, other := dial("127.0.0.1:0"), dial("127.0.0.1:0")
	probeByKernel(theirs.RemoteAddr().(*net.TCPAddr).Port, Timeouts{KeepaliveSeconds: 7, KeepaliveCount: 2})
	for name, want := range map[int]int{
		syscall.TCP_KEEPIDLE: 7, syscall.TCP_KEEPINTVL: 7, syscall.TCP_KEEPCNT: 2, tcpUserTimeout: 21_000,
	} {
		if got := option(t, theirs, syscall.IPPROTO_TCP, name); got != want {
			t.Errorf("option %d: %d, not %d", name, got, want)
		}
	}
	if on := option(t, theirs, syscall.SOL_SOCKET, syscall.SO_KEEPALIVE); on == 0 {
		t.Error("the connection is not probed")
	}
	if on := option(t, other, syscall.SOL_SOCKET, syscall.SO_KEEPALIVE); on != 0 {
		t.Error("a connection to another port is probed")
	}
}

// Without a port nothing is probed: sockets that are not of TCP have none.
func TestProbeNothing(t *testing.T) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = syscall.Close(pair[0]), syscall.Close(pair[1]) }()
	probeByKernel(0, Timeouts{KeepaliveSeconds: 7, KeepaliveCount: 2})
	if on, err := syscall.GetsockoptInt(pair[0], syscall.SOL_SOCKET, syscall.SO_KEEPALIVE); err != nil || on != 0 {
		t.Errorf("a socket without a port is probed: %d, %v", on, err)
	}
}

// A connection by IPv6 has a port as well.
func TestPeerPort(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here: ", err)
	}
	defer l.Close() //nolint:errcheck // of a test
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // of a test
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	port := 0
	if err := raw.Control(func(fd uintptr) { port = peerPort(int(fd)) }); err != nil || port != l.Addr().(*net.TCPAddr).Port {
		t.Errorf("port %d, %v; want %s", port, err, l.Addr())
	}
}

func option(t *testing.T, c *net.TCPConn, level, name int) int {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	value, failed := 0, error(nil)
	if err := raw.Control(func(fd uintptr) { value, failed = syscall.GetsockoptInt(int(fd), level, name) }); err != nil {
		t.Fatal(err)
	}
	if failed != nil {
		t.Fatal(failed)
	}
	return value
}
