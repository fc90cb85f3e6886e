package guard

import (
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Conns bounds the connections of a server, in all and for each peer. At a bound a new
// connection takes the place of one on which nothing is in flight for a known caller: first
// the oldest without a known caller, then the one that has been idle longest. It is safe for concurrent use.
type Conns struct {
	total, perPeer int
	now            func() time.Time

	mu     sync.Mutex
	open   map[*Conn]struct{}
	byPeer map[string]int // connections by peer, no zeros
}

// NewConns bounds connections to so many, of which one peer has at most each.
func NewConns(total, each int, now func() time.Time) *Conns {
	return &Conns{total: total, perPeer: each, now: now, open: map[*Conn]struct{}{}, byPeer: map[string]int{}}
}

// Conn is a connection that counts until it is closed.
type Conn struct {
	net.Conn
	Peer Peer

	of *Conns

	// Under the mutex of the Conns:
	authenticated bool      // a request on it has come from a known caller
	holds         int       // requests in flight on it that have a place
	since         time.Time // of the accept, or of the last hold or release for a known caller
}

// Peer is the other end of a connection.
type Peer struct {
	Key   string // the same for all connections that count together
	Local bool   // over a unix socket
	UID   uint32 // of a local peer, as the kernel says
}

// Privileged reports whether the peer is root or the user of this process.
func (p Peer) Privileged() bool { return p.Local && (p.UID == 0 || p.UID == uint32(os.Getuid())) }

// Listen returns a listener that counts its connections. A connection that is refused is sent
// the refusal, which may be nil, and closed.
func (c *Conns) Listen(l net.Listener, refusal []byte) net.Listener {
	return &listener{Listener: l, conns: c, refusal: refusal}
}

type listener struct {
	net.Listener
	conns   *Conns
	refusal []byte
}

// Accept waits for a connection that has a place.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.conns.admit(conn); c != nil {
			return c, nil
		}
		// The buffer of a new connection is empty, so this does not wait.
		_ = conn.SetWriteDeadline(time.Now().Add(time.Millisecond))
		_, _ = conn.Write(l.refusal)
		_ = conn.Close()
	}
}

// admit gives a connection a place, or returns nil.
func (c *Conns) admit(conn net.Conn) *Conn {
	admitted := &Conn{Conn: conn, Peer: peerOf(conn), of: c, since: c.now()}
	admitted.authenticated = admitted.Peer.Local
	for {
		victim, ok := c.tryAdd(admitted)
		if ok {
			return admitted
		}
		if victim == nil {
			return nil
		}
		_ = victim.Close()
	}
}

// tryAdd counts a connection if it is within the bounds; else victim is the one that can
// be closed for it, which may be nil.
func (c *Conns) tryAdd(conn *Conn) (victim *Conn, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch key := conn.Peer.Key; {
	case c.byPeer[key] >= c.perPeer:
		return c.idlest(key), false
	case len(c.open) >= usableBy(c.total, conn.Peer.Privileged()):
		return c.idlest(""), false
	default:
		c.open[conn] = struct{}{}
		c.byPeer[key]++
		return nil, true
	}
}

// idlest is the connection that is closed first, of the peer, or of all when key is "";
// nil if each is held for a known caller.
func (c *Conns) idlest(key string) (least *Conn) {
	for conn := range c.open {
		if key != "" && conn.Peer.Key != key || conn.authenticated && conn.holds > 0 {
			continue
		}
		if least == nil || conn.idlerThan(least) {
			least = conn
		}
	}
	return least
}

// idlerThan reports whether c is closed rather than the other.
func (c *Conn) idlerThan(other *Conn) bool {
	if c.authenticated != other.authenticated {
		return other.authenticated
	}
	return c.since.Before(other.since)
}

// remove uncounts a connection; doing it again changes nothing.
func (c *Conns) remove(conn *Conn) {
	if _, counted := c.open[conn]; !counted {
		return
	}
	delete(c.open, conn)
	c.byPeer[conn.Peer.Key]--
	if c.byPeer[conn.Peer.Key] == 0 {
		delete(c.byPeer, conn.Peer.Key)
	}
}

// Close closes the connection and gives its place back.
func (c *Conn) Close() error {
	c.of.mu.Lock()
	c.of.remove(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// Authenticate notes that a request on the connection has come from a known caller.
func (c *Conn) Authenticate() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.authenticated = true
}

// Authenticated reports whether it has.
func (c *Conn) Authenticated() bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.authenticated
}

// Hold protects the connection until [Conn.Release], if a caller is known on it. It may be
// called again, and on nil.
func (c *Conn) Hold() { c.hold(1) }

// Release ends what [Conn.Hold] began.
func (c *Conn) Release() { c.hold(-1) }

func (c *Conn) hold(by int) {
	if c == nil {
		return
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.holds += by
	if c.authenticated {
		c.since = c.of.now()
	}
}

// ConnOf is the counted connection beneath one that a server works with. It may be nil.
func ConnOf(conn net.Conn) *Conn {
	for {
		switch c := conn.(type) {
		case *Conn:
			return c
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}

// peerOf is the other end of a connection: its user on a unix socket, else its address.
func peerOf(conn net.Conn) Peer {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return Peer{Key: AddressKey(conn.RemoteAddr().String())}
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return Peer{Key: "socket"}
	}
	var cred *unix.Ucred
	control := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if control != nil || err != nil {
		return Peer{Key: "socket"}
	}
	return Peer{Key: "uid " + strconv.FormatUint(uint64(cred.Uid), 10), Local: true, UID: cred.Uid}
}

// AddressKey is what the connections from a remote host:port count under: the address
// of IPv4, the network of 64 bits of IPv6, which one host has to itself.
func AddressKey(remote string) string {
	parsed, err := netip.ParseAddrPort(remote)
	if err != nil {
		return "address " + remote
	}
	address := parsed.Addr().Unmap().WithZone("")
	if address.Is6() {
		if network, err := address.Prefix(64); err == nil {
			return "address " + network.String()
		}
	}
	return "address " + address.String()
}
