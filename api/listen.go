package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"vjob/cluster"
)

// Listener is what [Server.Serve] serves: a unix socket, a loopback address, or TLS.
type Listener struct {
	net.Listener
	config *tls.Config // nil: no TLS
}

// Listen opens a listener for [Server.Serve]. The address is unix:///path, or
// host:port (a tcp:// in front is allowed). Beyond loopback TLS is needed: with
// none the error says what to set. config may be nil; its lowest version is
// raised to TLS 1.3.
func Listen(ctx context.Context, address string, config *tls.Config) (*Listener, error) {
	if path, ok := strings.CutPrefix(address, "unix://"); ok {
		return ListenSocket(ctx, path, 0o666, -1)
	}
	hostPort := strings.TrimPrefix(address, "tcp://")
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, cluster.BadField("listen", address, "unix:///path or host:port")
	}
	if config == nil && !isLoopback(host) {
		return nil, cluster.BadField("listen", address,
			"a loopback address such as 127.0.0.1, a unix socket, or TLS: set listen.certificate and listen.key")
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", hostPort)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	if config == nil {
		return &Listener{Listener: listener}, nil
	}
	config = config.Clone()
	config.MinVersion = max(config.MinVersion, tls.VersionTLS13)
	config.NextProtos = []string{"h2", "http/1.1"}
	return &Listener{listener, config}, nil
}

// isLoopback reports whether the host can only be reached from this machine.
// Names other than localhost could be anything.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ListenSocket opens a unix socket with permissions and a group; gid -1 leaves the group as it
// is. A stale socket is replaced.
func ListenSocket(ctx context.Context, path string, mode fs.FileMode, gid int) (*Listener, error) {
	if !filepath.IsAbs(path) {
		return nil, cluster.BadField("listen", "unix://"+path, "an absolute path")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	// Until group and mode are set only the owner can connect.
	closed := func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) { failed = unix.Fchmod(int(fd), 0o600) })
		return errors.Join(err, failed)
	}
	listener, err := (&net.ListenConfig{Control: closed}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	if gid >= 0 {
		err = os.Chown(path, -1, gid)
	}
	if err == nil {
		err = os.Chmod(path, mode)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen on %s: %w", path, err), listener.Close())
	}
	return &Listener{Listener: listener}, nil
}

func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listen on %s: %w", path, err)
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("listen on %s: the file exists and is not a socket: remove it: %w", path, cluster.ErrConflict)
	}
	dialer := net.Dialer{Timeout: time.Second}
	if conn, err := dialer.DialContext(ctx, "unix", path); err == nil {
		_ = conn.Close()
		return fmt.Errorf("listen on %s: another daemon answers there: %w", path, cluster.ErrConflict)
	}
	return os.Remove(path)
}
