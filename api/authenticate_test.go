package api_test

import (
	"os/user"
	"testing"

	"vjob/api"
	"vjob/api/wire"
)

func TestSocketNeedsNoToken(t *testing.T) {
	b := newFixture(t)
	b.populate()
	socket, address := b.serve()
	me, err := user.Current()
	b.must(err)
	caller, err := b.client(socket, "").Whoami(t.Context())
	if err != nil || caller != (wire.Identity{Name: me.Username, Role: "admin", Via: "socket"}) {
		t.Errorf("got %+v, %v", caller, err)
	}
	// A token speaks louder than the socket, and a wrong one does not fall back.
	if caller, err := b.client(socket, "bob").Whoami(t.Context()); err != nil || caller.Name != "bob" || caller.Role != "user" {
		t.Errorf("got %+v, %v", caller, err)
	}
	b.tokens["eve"] = api.NewSecret()
	if caller, err := b.client(socket, "eve").Whoami(t.Context()); err == nil {
		t.Errorf("a wrong token on the socket is %+v", caller)
	}
	if caller, err := b.client(address, "").Whoami(t.Context()); err == nil {
		t.Errorf("loopback without a token is %+v", caller)
	}
}
