package api_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/user"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"vjob/api"
	"vjob/api/wire"
	"vjob/journal"
)

func TestPeerRoles(t *testing.T) {
	for _, c := range []struct {
		name     string
		uid, own uint32
		want     journal.Role
	}{
		{"root", 0, 990, journal.RoleAdmin},
		{"the daemon's user", 990, 990, journal.RoleAdmin},
		{"anybody", 1000, 990, journal.RoleUser},
		{"anybody, while root serves", 1000, 0, journal.RoleUser},
	} {
		if got := api.NewPeer(c.uid, c.own, "x"); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

func TestSocketNeedsNoToken(t *testing.T) {
	b := newBench(t)
	b.populate()
	socket, address := b.serve()
	me, err := user.Current()
	b.must(err)
	who, err := b.client(socket, "").Whoami(t.Context())
	if err != nil || who != (wire.Identity{Name: me.Username, Role: "admin", Via: "socket"}) {
		t.Errorf("got %+v, %v", who, err)
	}
	// A token speaks louder than the socket, and a wrong one does not fall back.
	if who, err := b.client(socket, "bob").Whoami(t.Context()); err != nil || who.Name != "bob" || who.Role != "user" {
		t.Errorf("got %+v, %v", who, err)
	}
	b.tokens["eve"] = api.NewSecret()
	if who, err := b.client(socket, "eve").Whoami(t.Context()); err == nil {
		t.Errorf("a wrong token on the socket is %+v", who)
	}
	if who, err := b.client(address, "").Whoami(t.Context()); err == nil {
		t.Errorf("loopback without a token is %+v", who)
	}
}

// TestOtherLocalUser connects as another user of the machine, which takes root.
func TestOtherLocalUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT RUN: becoming another user takes root")
	}
	const uid = 54321
	b := newBench(t)
	b.populate()
	socket, _ := b.serve()
	path := strings.TrimPrefix(socket, "unix://")
	b.must(os.Chmod(path[:strings.LastIndex(path[:strings.LastIndex(path, "/")], "/")], 0o755))
	conns := make(chan net.Conn)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid); errno != 0 {
			t.Error(errno)
		}
		for range 4 {
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", path)
			if err != nil {
				t.Error(err)
			}
			conns <- conn
		}
	}()
	ask := func(method, path string) int {
		conn := <-conns
		defer func() { _ = conn.Close() }()
		b.must(conn.SetDeadline(time.Now().Add(10 * time.Second)))
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }, DisableKeepAlives: true}
		req, err := http.NewRequestWithContext(t.Context(), method, "http://vjobd"+path, nil)
		b.must(err)
		res, err := transport.RoundTrip(req)
		b.must(err)
		defer res.Body.Close()
		return res.StatusCode
	}
	for _, c := range []struct {
		method, path string
		want         int
	}{{"GET", "/v1/whoami", 200}, {"GET", "/v1/users", 403}, {"DELETE", "/v1/vjobs/1", 404}} {
		if got := ask(c.method, c.path); got != c.want {
			t.Errorf("%s %s as uid %d: %d, want %d", c.method, c.path, uid, got, c.want)
		}
	}
	b.must(b.loop.CreateUser(t.Context(), journal.User{Name: "uid-54321", Role: journal.RoleAdmin}))
	if got := ask("GET", "/v1/users"); got != 200 {
		t.Errorf("a local user who was made an administrator: %d", got)
	}
}
