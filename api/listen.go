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
	"time"

	"vjob/cluster"
)

// Listen opens a listener for [Server.Serve]. The address is unix:///path, or
// host:port (a tcp:// in front is allowed). Beyond loopback TLS is needed: with
// none the error says what to set. config may be nil; its lowest version is
// raised to TLS 1.2.
func Listen(ctx context.Context, address string, config *tls.Config) (net.Listener, error) {
	if path, ok := strings.CutPrefix(address, "unix://"); ok {
		return listenUnix(ctx, path)
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
		return listener, nil
	}
	config = config.Clone()
	config.MinVersion = max(config.MinVersion, tls.VersionTLS12)
	config.NextProtos = []string{"h2", "http/1.1"}
	return tls.NewListener(listener, config), nil
}

// isLoopback reports whether the host can only be reached from this machine.
// Names other than localhost could be anything.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// listenUnix opens a socket that every local user may connect to: who they are is
// told by the kernel. A socket that nobody answers on any more is replaced.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if !filepath.IsAbs(path) {
		return nil, cluster.BadField("listen", "unix://"+path, "an absolute path")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		return nil, errors.Join(fmt.Errorf("listen on %s: %w", path, err), listener.Close())
	}
	return listener, nil
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
		return fmt.Errorf("listen on %s: something that is no socket is in the way: %w", path, cluster.ErrConflict)
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
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	for _, l := range listeners {
		if err := checkListener(l); err != nil {
			return err
		}
	}
	server := &http.Server{
		Handler: s.handler, ConnContext: withPeer,
		ReadHeaderTimeout: s.limits.HeaderTime, ReadTimeout: s.limits.BodyTime, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: s.limits.HeaderBytes,
		ErrorLog:       slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	server.RegisterOnShutdown(func() { s.stopOnce.Do(func() { close(s.stop) }) })
	failed := make(chan error, len(listeners))
	var serving sync.WaitGroup
	for _, l := range listeners {
		serving.Go(func() {
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("serve on %s: %w", l.Addr(), err)
			}
		})
		s.log.LogAttrs(ctx, slog.LevelInfo, "listening", slog.String("address", l.Addr().String()))
	}
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
	serving.Wait()
	s.lines.Wait()
	return err
}

// checkListener refuses plain TCP beyond loopback, whoever opened the listener.
func checkListener(l net.Listener) error {
	if plain, ok := l.(*net.TCPListener); ok {
		if addr, ok := plain.Addr().(*net.TCPAddr); !ok || !addr.IP.IsLoopback() {
			return cluster.BadField("listen", l.Addr().String(), "loopback, a unix socket, or TLS")
		}
	}
	return nil
}
