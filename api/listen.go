package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// Serve answers requests on the listeners until the context ends; then it takes
// no more, ends the streams, lets the other requests end for a while, and closes
// the listeners. It may be called once.
func (s *Server) Serve(ctx context.Context, listeners ...*Listener) error {
	server := &http.Server{
		Handler: s.handler, ConnContext: withConn,
		ReadHeaderTimeout: s.limits.HeaderTime, ReadTimeout: s.limits.BodyTime, IdleTimeout: s.limits.IdleTime,
		// Until something is written, which has a time of its own.
		WriteTimeout:   s.limits.BodyTime + s.limits.WriteTime,
		MaxHeaderBytes: s.limits.HeaderBytes,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: s.limits.PerCaller, WriteByteTimeout: s.limits.WriteTime, SendPingTimeout: s.limits.IdleTime,
		},
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	server.RegisterOnShutdown(func() { s.stopOnce.Do(func() { close(s.stop) }) })
	failed := make(chan error, len(listeners))
	var serving sync.WaitGroup
	for _, l := range listeners {
		serving.Go(func() {
			if err := server.Serve(s.countConnections(l)); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("serve on %s: %w", l.Addr(), err)
			}
		})
		s.log.LogAttrs(ctx, slog.LevelInfo, "listening", slog.String("address", l.Addr().String()))
	}
	noting, noted := context.WithCancel(context.WithoutCancel(ctx))
	defer noted()
	serving.Go(func() { s.writeUses(noting) })
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limits.StopTime)
	defer cancel()
	if stop := server.Shutdown(late); stop != nil {
		// What is still under way has had its time.
		err = errors.Join(err, server.Close())
	}
	noted()
	serving.Wait()
	s.consoles.Wait()
	return err
}

// countConnections counts the connections of a listener. Beneath TLS a refusal cannot be read, so
// none is sent.
func (s *Server) countConnections(l *Listener) net.Listener {
	if l.config == nil {
		return s.conns.Listen(l.Listener, refusal)
	}
	return tls.NewListener(s.conns.Listen(l.Listener, nil), l.config)
}
