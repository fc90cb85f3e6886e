package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"strings"
	"syscall"
	"testing"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/daemon"
	"vjob/daemon/settings"
	"vjob/oar/admission"
)

// onNetwork runs a daemon that also listens on loopback, and returns clients for the socket and for a token.
func onNetwork(t *testing.T, change func(*settings.Settings)) (root *client.Client, as func(secret string) *client.Client) {
	t.Helper()
	s := small(t, func(s *settings.Settings) {
		s.Listen.Address = "127.0.0.1:0"
		change(s)
	})
	d, err := daemon.Open(t.Context(), s, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- errors.Join(d.Serve(ctx), d.Close()) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	open := func(c client.Settings) *client.Client {
		c.Retries = -1
		opened, err := client.New(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(opened.Close)
		return opened
	}
	address := "http://" + d.Addresses()[1].String()
	return open(client.Settings{Server: "unix://" + s.Listen.Socket}), func(secret string) *client.Client {
		return open(client.Settings{Server: address, Token: secret})
	}
}

// A rule about groups applies to every way of submission, and refuses users of unknown groups.
func TestGroupRulesHoldForTokens(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	group, err := user.LookupGroupId(me.Gid)
	if err != nil {
		t.Fatal(err)
	}
	root, as := onNetwork(t, func(s *settings.Settings) {
		s.OAR.Admission = []admission.Rule{{Name: "out", When: admission.When{Groups: []string{group.Name}}, Refuse: "not for this group"}}
	})
	job := wire.Submission{Count: 1, Template: &wire.VMSpec{CPUMilli: 1, MemoryMiB: 1}}
	if _, _, err := root.Submit(t.Context(), job, ""); err == nil || !strings.Contains(err.Error(), "not for this group") {
		t.Errorf("on the socket: %v", err)
	}
	for _, c := range []struct {
		user wire.User
		want string // "" is accepted
	}{
		{wire.User{Name: me.Username, Local: true}, "not for this group"}, // linked with the local user
		{wire.User{Name: "ann"}, "those of ann are unknown"},
		{wire.User{Name: "bob", Groups: &[]string{}}, ""},
		{wire.User{Name: "carol", Groups: &[]string{group.Name}}, "not for this group"},
		{wire.User{Name: "dan", Local: true}, "those of dan are unknown"}, // the system knows no dan
	} {
		c.user.Role = "user"
		if _, err := root.CreateUser(t.Context(), c.user); err != nil {
			t.Fatal(err)
		}
		token, err := root.CreateToken(t.Context(), c.user.Name, wire.TokenRequest{})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = as(token.Secret).Submit(t.Context(), job, "")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.user, err, c.want)
		}
	}
}

func TestSocketPermissions(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	group, err := user.LookupGroupId(me.Gid)
	if os.Getuid() == 0 {
		group, err = user.LookupGroupId("1")
	}
	if err != nil {
		t.Fatal(err)
	}
	s := small(t, func(s *settings.Settings) { s.Listen.Mode, s.Listen.Group = "0660", group.Name })
	start(t, s)
	info, err := os.Stat(s.Listen.Socket)
	if err != nil {
		t.Fatal(err)
	}
	if gid := info.Sys().(*syscall.Stat_t).Gid; info.Mode().Perm() != 0o660 || fmt.Sprint(gid) != group.Gid {
		t.Errorf("mode %s, gid %d, want 0660 and %s", info.Mode(), gid, group.Gid)
	}
	for field, change := range map[string]func(*settings.Settings){
		"listen.mode":             func(s *settings.Settings) { s.Listen.Mode = "0066" },
		"listen.group":            func(s *settings.Settings) { s.Listen.Group = "no-such-group" },
		"listen.users":            func(s *settings.Settings) { s.Listen.Users = "some" },
		"accounts.token_lifetime": func(s *settings.Settings) { s.Accounts.TokenLifetime.Duration = 1 },
		"images[0].groups[1]":     func(s *settings.Settings) { s.Images[0].Groups = []string{"physics", "a b"} },
		"retention.audit":         func(s *settings.Settings) { s.Retention.Audit.Duration = 1 },
	} {
		_, err := daemon.Open(t.Context(), small(t, change), slog.New(slog.DiscardHandler))
		if bad, ok := errors.AsType[*cluster.FieldError](err); !ok || bad.Field != field {
			t.Errorf("%v, want the field %s", err, field)
		}
	}
}

// The audit list has each start, and whether the settings have changed since the previous one.
func TestStartsAreAudited(t *testing.T) {
	s := small(t, nil)
	for i, want := range []string{"the first ones", "as before", "settings changed"} {
		if i == 2 {
			s.Limits.Tries++
		}
		c, stop := start(t, s)
		list, err := c.Audit(t.Context(), client.AuditQuery{Action: "start", Limit: 1})
		if err != nil || len(list.Entries) != 1 || !strings.Contains(list.Entries[0].Text, want) {
			t.Errorf("start %d: %+v, %v, want %q", i, list, err, want)
		}
		stop()
	}
}
