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
