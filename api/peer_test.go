package api_test

import (
	"os/user"
	"testing"

	"vjob/api"
	"vjob/api/wire"
)

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
