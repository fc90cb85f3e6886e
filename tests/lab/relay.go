//go:build libvirt_dlopen

package lab

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
)

// relay stands between the scheduler and one daemon. While it is cut it takes
// connections and passes nothing on; what was sent meanwhile arrives when it is
// whole again, as it would after a cut in a network. It complains when the scheduler
// uses libvirt in a way that can crash it.
type relay struct {
	listener net.Listener
	daemon   string
	complain func(string)
	running  sync.WaitGroup

	mu     sync.Mutex
	cut    chan struct{} // closed when the cut ends; nil: whole
	conns  map[net.Conn]bool
	closed bool
}

func startRelay(path, daemon string, complain func(string)) (*relay, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, err
	}
	r := &relay{listener: l, daemon: daemon, complain: complain, conns: map[net.Conn]bool{}}
	r.running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			r.running.Go(func() { r.serve(client) })
		}
	})
	return r, nil
}

func (r *relay) serve(client net.Conn) {
	if !r.keep(client) {
		return
	}
	defer r.drop(client)
	r.whole()
	daemon, err := new(net.Dialer).DialContext(context.Background(), "unix", r.daemon)
	if err != nil || !r.keep(daemon) {
		return
	}
	defer r.drop(daemon)
	talk := &dialogue{complain: r.complain}
	r.running.Go(func() {
		r.pass(io.MultiWriter(&messageReader{handle: talk.asked}, daemon), client)
		// As in TCP, the daemon reads all that was sent before it hears of the end.
		if half, ok := daemon.(*net.UnixConn); ok {
			_ = half.CloseWrite()
		}
	})
	r.pass(client, daemon)
}

func (r *relay) pass(to io.Writer, from io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		r.whole()
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// whole waits while the relay is cut.
func (r *relay) whole() {
	r.mu.Lock()
	cut := r.cut
	r.mu.Unlock()
	if cut != nil {
		<-cut
	}
}

func (r *relay) setCut(cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case cut && r.cut == nil && !r.closed:
		r.cut = make(chan struct{})
	case !cut && r.cut != nil:
		close(r.cut)
		r.cut = nil
	}
}

func (r *relay) keep(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		_ = c.Close()
		return false
	}
	r.conns[c] = true
	return true
}

func (r *relay) drop(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, c)
	_ = c.Close()
}

func (r *relay) close() {
	r.setCut(false)
	r.mu.Lock()
	r.closed = true
	_ = r.listener.Close()
	for c := range r.conns {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.running.Wait()
}
