package guard_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"vjob/api/guard"
)

func TestPool(t *testing.T) {
	p := guard.NewPool(8, 3)
	for i, c := range []struct {
		holder     string
		privileged bool
		want       error
	}{
		{"a", false, nil},
		{"a", false, nil},
		{"a", false, nil},
		{"a", false, guard.ErrShare},
		{"b", false, nil},
		{"b", false, nil},
		{"b", false, nil},
		{"c", false, nil},
		{"c", false, guard.ErrFull}, // the eighth is reserved
		{"root", true, nil},
		{"root", true, guard.ErrFull},
	} {
		if err := p.Acquire(c.holder, c.privileged); !errors.Is(err, c.want) {
			t.Errorf("place %d for %s: %v, want %v", i, c.holder, err, c.want)
		}
	}
	p.Release("a")
	if err := p.Acquire("a", true); err != nil {
		t.Errorf("a place that was given back: %v", err)
	}
}

// No sequence of takes and gives exceeds a bound, or refuses a place that is free.
func TestPoolKeepsItsBounds(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	const total, each = 16, 5
	p := guard.NewPool(total, each)
	held, used := map[string]int{}, 0
	for range 10_000 {
		holder := string(rune('a' + rng.IntN(6)))
		privileged := holder == "a"
		most := total - total/8
		if privileged {
			most = total
		}
		if rng.IntN(2) == 0 && held[holder] > 0 {
			p.Release(holder)
			held[holder]--
			used--
			continue
		}
		free := used < most && held[holder] < each
		if err := p.Acquire(holder, privileged); (err == nil) != free {
			t.Fatalf("%s with %d of %d: %v", holder, held[holder], used, err)
		}
		if free {
			held[holder]++
			used++
		}
	}
}

func TestAddressKey(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:80":             "192.0.2.1",
		"[::ffff:192.0.2.1]:80":    "192.0.2.1",
		"[2001:db8:1:2:3::4]:80":   "2001:db8:1:2::/64",
		"[fe80:0:0:1::4%eth0]:443": "fe80:0:0:1::/64",
		"@":                        "@",
	} {
		if got := guard.AddressKey(remote); got != "address "+want {
			t.Errorf("%s counts under %s, want %s", remote, got, want)
		}
	}
}

// ends are both ends of a connection.
type ends struct {
	client net.Conn
	server *guard.Conn // nil: refused
}

// host is a listener with the connections that it has accepted.
type host struct {
	t *testing.T
	net.Listener
	accepted chan net.Conn
}

const refusal = "no place"

func newHost(t *testing.T, network string, total, each int) *host {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		address = filepath.Join(t.TempDir(), "s")
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var seconds atomic.Int64
	conns := guard.NewConns(total, each, func() time.Time { return time.Unix(seconds.Add(1), 0) })
	h := &host{t: t, Listener: l, accepted: make(chan net.Conn)}
	guarded := conns.Listen(l, []byte(refusal))
	go func() {
		for {
			conn, err := guarded.Accept()
			if err != nil {
				return
			}
			h.accepted <- conn
		}
	}()
	return h
}

// dial opens connections; one that is refused has no server end.
func (h *host) dial(n int) []ends {
	h.t.Helper()
	list := make([]ends, n)
	for i := range list {
		client, err := (&net.Dialer{}).DialContext(h.t.Context(), h.Addr().Network(), h.Addr().String())
		if err != nil {
			h.t.Fatal(err)
		}
		h.t.Cleanup(func() { _ = client.Close() })
		list[i].client = client
		refused := make(chan string, 1)
		go func() {
			text, _ := io.ReadAll(client)
			refused <- string(text)
		}()
		select {
		case conn := <-h.accepted:
			list[i].server = guard.ConnOf(conn)
			h.t.Cleanup(func() { _ = conn.Close() })
		case text := <-refused:
			if text != refusal {
				h.t.Errorf("a refused connection is sent %q", text)
			}
		}
	}
	return list
}

// closed reports whether the server has closed a connection.
func closed(e ends) bool { return e.server.SetDeadline(time.Time{}) != nil }

func TestOldestStrangerMakesRoom(t *testing.T) {
	h := newHost(t, "tcp", 100, 3)
	list := h.dial(3)
	list[0].server.Authenticate()
	list[2].server.Hold() // a stranger's request protects nothing
	list = append(list, h.dial(3)...)
	for i, want := range []bool{false, true, true, true, false, false} {
		if got := closed(list[i]); got != want {
			t.Errorf("connection %d is closed: %v, want %v", i, got, want)
		}
	}
}

func TestLongestIdleMakesRoom(t *testing.T) {
	h := newHost(t, "tcp", 100, 3)
	list := h.dial(3)
	for _, e := range list {
		e.server.Hold()
		e.server.Authenticate()
	}
	if e := h.dial(1)[0]; e.server != nil {
		t.Error("a connection is taken while all others are busy for known callers")
	}
	list[1].server.Release()
	list[0].server.Release()
	list = append(list, h.dial(1)...)
	for i, want := range []bool{false, true, false, false} {
		if got := closed(list[i]); got != want {
			t.Errorf("connection %d is closed: %v, want %v", i, got, want)
		}
	}
	_ = list[2].server.Close()
	_ = list[2].server.Close() // again
	if e := h.dial(1)[0]; e.server == nil || closed(list[3]) {
		t.Error("a closed connection leaves no place")
	}
}

// On a unix socket the user is known, and root and the user of the server have the last
// places.
func TestSocketPeers(t *testing.T) {
	h := newHost(t, "unix", 8, 8)
	list := h.dial(8)
	for _, e := range list {
		if !e.server.Authenticated() || !e.server.Peer.Privileged() || e.server.Peer.Key == "" {
			t.Fatalf("peer %+v, known: %v", e.server.Peer, e.server.Authenticated())
		}
		e.server.Hold()
	}
	if e := h.dial(1)[0]; e.server != nil {
		t.Error("a ninth connection of 8 is taken")
	}
	tcp := newHost(t, "tcp", 8, 8)
	list = tcp.dial(7)
	for _, e := range list {
		e.server.Hold()
		e.server.Authenticate()
	}
	if e := tcp.dial(1)[0]; e.server != nil {
		t.Error("the reserved place goes to a peer without privileges")
	}
}
