//go:build libvirt_dlopen

package lab

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// proxy stands between the daemons: each host reaches the others through it, so
// that one message of a migration can be lost. The memory of migrating machines
// goes past it.
type proxy struct {
	net       network
	listeners []net.Listener // of host i+1
	running   sync.WaitGroup

	mu     sync.Mutex
	armed  map[int]chan struct{}
	conns  map[net.Conn]bool
	closed bool
}

// What the proxy knows of libvirt's RPC: each message is its length, the header,
// and a body that does not matter here.
type rpcHeader struct {
	Length, Program, Version, Procedure, Type, Serial, Status uint32
}

const (
	daemonPort    = "16509"
	proxyPort     = 17000 // + number of the host
	rpcHeaderSize = 28
	rpcMaxMessage = 64 << 20
	remoteProgram = 0x20008086
	rpcReply      = 1
)

// finish are the procedures by which a source asks its destination whether the
// machine has arrived: migrate finish 3, and the same with parameters.
var finish = []uint32{217, 306}

func startProxy(n network, hosts int) (*proxy, error) {
	p := &proxy{net: n, armed: map[int]chan struct{}{}, conns: map[net.Conn]bool{}}
	for number := 1; number <= hosts; number++ {
		var l net.Listener
		err := inside(n.sw(), func() (err error) {
			l, err = new(net.ListenConfig).Listen(context.Background(), "tcp", proxyAddress(number))
			return err
		})
		if err != nil {
			p.close()
			return nil, err
		}
		p.listeners = append(p.listeners, l)
		p.running.Go(func() { p.accept(l, number) })
	}
	return p, nil
}

func (p *proxy) uri(number int) string {
	return "qemu+tcp://" + proxyAddress(number) + "/system"
}

func proxyAddress(number int) string {
	return net.JoinHostPort(switchAddress, strconv.Itoa(proxyPort+number))
}

// inside runs f on a thread that is in a network namespace for that long: the
// sockets that f makes stay there.
func inside(namespace string, f func() error) error {
	runtime.LockOSThread()
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer home.Close() //nolint:errcheck // only a name
	there, err := os.Open("/run/netns/" + namespace)
	if err != nil {
		return err
	}
	defer there.Close() //nolint:errcheck // only a name
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		return err
	}
	err = f()
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		return errors.Join(err, back) // locked for ever: the thread ends with its goroutine
	}
	runtime.UnlockOSThread()
	return err
}

func (p *proxy) dropFinish(number int) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	done := make(chan struct{})
	p.armed[number] = done
	return done
}

func (p *proxy) keepFinish(number int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.armed, number)
}

func (p *proxy) close() {
	p.mu.Lock()
	p.closed = true
	for _, l := range p.listeners {
		_ = l.Close()
	}
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
}

// keep remembers a connection, so that close can end it.
func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.conns[c] = true
	return true
}

func (p *proxy) done(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
	_ = c.Close()
}

func (p *proxy) accept(l net.Listener, number int) {
	for {
		peer, err := l.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(peer, number) })
	}
}

func (p *proxy) serve(peer net.Conn, number int) {
	if !p.keep(peer) {
		_ = peer.Close()
		return
	}
	defer p.done(peer)
	var daemon net.Conn
	err := inside(p.net.sw(), func() (err error) {
		dialer := net.Dialer{Timeout: 4 * time.Second, KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: 2 * time.Second, Interval: 2 * time.Second, Count: 3,
		}, Control: impatient}
		daemon, err = dialer.Dial("tcp", net.JoinHostPort(address(number), daemonPort))
		return err
	})
	if err != nil || !p.keep(daemon) {
		return
	}
	defer p.done(daemon)
	p.running.Go(func() {
		_, _ = io.Copy(daemon, peer)
		p.done(daemon)
	})
	p.replies(peer, daemon, number)
}

// impatient makes a connection notice soon that its other end has lost power. A
// peer that is just opening its connection has no keepalive of its own yet.
func impatient(_, _ string, c syscall.RawConn) error {
	var err error
	outer := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 8000) // milliseconds
	})
	return errors.Join(outer, err)
}

// replies passes on what a daemon answers, but for the reply that is to be lost.
func (p *proxy) replies(peer, daemon net.Conn, number int) {
	for {
		var head rpcHeader
		if binary.Read(daemon, binary.BigEndian, &head) != nil || head.Length < rpcHeaderSize || head.Length > rpcMaxMessage {
			return
		}
		message := make([]byte, head.Length)
		if _, err := binary.Encode(message, binary.BigEndian, head); err != nil {
			return
		}
		if _, err := io.ReadFull(daemon, message[rpcHeaderSize:]); err != nil {
			return
		}
		reply := head.Program == remoteProgram && head.Type == rpcReply
		if reply && slices.Contains(finish, head.Procedure) && p.fire(number) {
			return
		}
		if _, err := peer.Write(message); err != nil {
			return
		}
	}
}

// fire reports whether the reply of that host is the one to lose.
func (p *proxy) fire(number int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	done, ok := p.armed[number]
	if ok {
		delete(p.armed, number)
		close(done)
	}
	return ok
}
