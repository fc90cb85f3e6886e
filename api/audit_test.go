package api_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"vjob/api"
	"vjob/api/wire"
	"vjob/ctxswitch/journal"
)

// audited are the entries of the audit list without their times, the oldest first.
func (b *fixture) audited() (lines []string) {
	b.tb.Helper()
	list := read[wire.AuditList](b.tb, b.as("root", "GET", "/v1/audit", ""), http.StatusOK)
	for _, e := range list.Entries {
		if e.From == "" || e.At.IsZero() {
			continue // the accounts of the bench
		}
		lines = append([]string{strings.Join([]string{e.By, e.From, e.Action, e.Object, e.Text}, "|")}, lines...)
	}
	return lines
}

// Each administrative act leaves an entry, an event and a line in the log, with what was done,
// by which account and from where.
func TestAudit(t *testing.T) {
	var log bytes.Buffer
	now := epoch
	b := newFixture(t, func(c *api.Config) {
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
		c.Now = func() time.Time { return now }
		c.TokenLife = 24 * time.Hour
	})
	b.populate()
	for _, call := range [][3]string{
		{"POST", "/v1/users", `{"name":"carol","role":"user","groups":["staff"]}`},
		{"PATCH", "/v1/users/carol", `{"role":"admin","disabled":true}`},
		{"POST", "/v1/users/carol/tokens", `{"name":"laptop"}`},
		{"POST", "/v1/users/carol/tokens/4/rotate", ""},
		{"DELETE", "/v1/users/carol/tokens/5", ""},
		{"DELETE", "/v1/users/carol", ""},
		{"GET", "/v1/backup", ""},
		{"PATCH", "/v1/nodes/n1", `{"state":"draining"}`},
	} {
		if res := b.as("root", call[0], call[1], call[2]); res.Code >= 300 {
			t.Fatalf("%v: %d %s", call, res.Code, res.Body)
		}
	}
	want := []string{
		`root|192.0.2.1|user.create|carol|role user, not local, groups ["staff"]`,
		`root|192.0.2.1|user.change|carol|role admin, disabled`,
		`root|192.0.2.1|token.create|token 4 of carol|expires 2026-11-22T08:00:00Z`,
		`root|192.0.2.1|token.rotate|token 5 of carol|expires 2026-11-22T08:00:00Z, in place of token 4`,
		`root|192.0.2.1|token.revoke|token 5 of carol|`,
		`root|192.0.2.1|user.delete|carol|`,
		`root|192.0.2.1|backup||the whole database`,
	}
	got := b.audited()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	events := read[wire.EventList](t, b.as("root", "GET", "/v1/events", ""), 200).Events
	texts := ""
	for _, e := range events {
		if e.Kind == "audit" {
			texts += e.Text + "\n"
		}
	}
	if !strings.Contains(texts, "user.delete carol, by root, from 192.0.2.1\n") {
		t.Errorf("the events tell\n%s", texts)
	}
	for _, part := range []string{"msg=audit action=user.delete object=carol", "by=root from=192.0.2.1", "action=node object=n1 text=draining"} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("the log lacks %q:\n%s", part, log.String())
		}
	}
	if strings.Contains(log.String()+texts+strings.Join(got, ""), "vjob_") {
		t.Error("a secret is written down")
	}
	if res := b.as("alice", "GET", "/v1/audit", ""); res.Code != http.StatusForbidden {
		t.Errorf("a user reads the audit list: %d", res.Code)
	}
	for _, e := range read[wire.EventList](t, b.as("alice", "GET", "/v1/events", ""), 200).Events {
		if e.Kind == "audit" {
			t.Errorf("a user gets the event %+v", e)
		}
	}
	page := read[wire.AuditList](t, b.as("root", "GET", "/v1/audit?action=user.create&by=root&limit=1", ""), 200)
	if len(page.Entries) != 1 || page.Entries[0].Object != "carol" {
		t.Errorf("a page: %+v", page)
	}
	if res := b.as("root", "GET", fmt.Sprintf("/v1/audit?before=%d&limit=0", page.Entries[0].ID), ""); res.Code != http.StatusBadRequest {
		t.Errorf("a page of nothing: %d", res.Code)
	}
}

// Failed logins are noted, and an attack cannot fill the list with them.
func TestFailedLogins(t *testing.T) {
	now := epoch
	b := newFixture(t, func(c *api.Config) {
		c.Limits.UnauthenticatedPerSecond = 1e6
		c.Now = func() time.Time { return now }
	})
	attempt := func() {
		t.Helper()
		if res := b.as("", "GET", "/v1/whoami", "", "Authorization", "Bearer "+api.NewSecret()); res.Code != 401 && res.Code != 429 {
			t.Fatal(res.Code)
		}
	}
	for range 500 {
		attempt()
	}
	b.as("", "GET", "/v1/whoami", "") // no credentials, no login
	if got := b.audited(); len(got) != 1 || got[0] != "|192.0.2.1|login.failed||a token that is not valid" {
		t.Errorf("got %q", got)
	}
	now = now.Add(time.Minute)
	attempt()
	if got := b.audited(); len(got) != 2 {
		t.Errorf("a minute later: %q", got)
	}
}

// Users manage their own tokens: they expire, within what the site allows.
func TestOwnTokens(t *testing.T) {
	now := epoch
	b := newFixture(t, func(c *api.Config) {
		c.Now = func() time.Time { return now }
		c.TokenLife = 90 * 24 * time.Hour
	})
	for body, want := range map[string]int{
		`{"never":true}`:                           403,
		`{"expires_in_seconds":7776001}`:           403,
		`{"expires_in_seconds":5,"never":true}`:    400,
		`{"name":"a b"}`:                           400,
		`{"name":"short","expires_in_seconds":60}`: 201,
	} {
		if res := b.as("alice", "POST", "/v1/users/alice/tokens", body); res.Code != want {
			t.Errorf("%s: %d %s, want %d", body, res.Code, res.Body, want)
		}
	}
	made := read[wire.Token](t, b.as("alice", "POST", "/v1/users/alice/tokens", `{"name":"laptop"}`), 201)
	if made.Expires == nil || !made.Expires.Equal(epoch.AddDate(0, 0, 90)) {
		t.Errorf("it expires %v", made.Expires)
	}
	if ever := read[wire.Token](t, b.as("root", "POST", "/v1/users/alice/tokens", `{"never":true}`), 201); ever.Expires != nil {
		t.Errorf("an administrator's expires %v", ever.Expires)
	}
	// A token that never expires does after its owner has rotated it.
	first := read[wire.TokenList](t, b.as("alice", "GET", "/v1/users/alice/tokens", ""), 200).Tokens[0]
	rotated := read[wire.Token](t, b.as("alice", "POST", fmt.Sprintf("/v1/users/alice/tokens/%d/rotate", first.ID), ""), 201)
	if first.Expires != nil || rotated.Expires == nil {
		t.Errorf("%+v became %+v", first, rotated)
	}
	if res := b.as("alice", "GET", "/v1/whoami", ""); res.Code != 401 {
		t.Errorf("the token that was rotated: %d", res.Code)
	}
	b.tokens["alice"] = rotated.Secret
	if res := b.as("alice", "POST", fmt.Sprintf("/v1/users/alice/tokens/%d/rotate", first.ID), ""); res.Code != 409 {
		t.Errorf("a revoked token is rotated: %d", res.Code)
	}
	now = epoch.AddDate(0, 0, 90)
	if res := b.as("alice", "GET", "/v1/whoami", ""); res.Code != 401 {
		t.Errorf("after 90 days: %d", res.Code)
	}
}

// A user cannot fill the database with tokens and their entries.
func TestManyTokens(t *testing.T) {
	b := newFixture(t, func(c *api.Config) { c.Now = func() time.Time { return epoch } })
	made := 0
	for range 50 {
		if res := b.as("alice", "POST", "/v1/users/alice/tokens", `{}`); res.Code == 201 {
			made++
		} else if res.Code != http.StatusTooManyRequests {
			t.Fatal(res.Code, res.Body)
		}
	}
	if made != 20 {
		t.Errorf("%d tokens in an instant", made)
	}
}

// When a token was last used is written beside the requests, at the latest when the server ends.
func TestLastUse(t *testing.T) {
	b := newFixture(t, func(c *api.Config) { c.Now = func() time.Time { return epoch.Add(time.Hour) } })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	listener, err := api.Listen(ctx, "127.0.0.1:0", nil)
	b.must(err)
	done := make(chan error, 1)
	go func() { done <- b.Serve(ctx, listener) }()
	b.as("alice", "GET", "/v1/whoami", "")
	used := func() (at time.Time) {
		t.Helper()
		tokens, err := b.scheduler.Tokens(t.Context(), "alice")
		b.must(err)
		return tokens[0].Used
	}
	if at := used(); !at.IsZero() {
		t.Errorf("a request has written its use, %s", at)
	}
	stop()
	b.must(<-done)
	if at := used(); !at.Equal(epoch.Add(time.Hour)) {
		t.Errorf("used %s", at)
	}
}

// Images that are for some can be booted and seen by them only.
func TestImagesForSome(t *testing.T) {
	b := newFixture(t, func(c *api.Config) {
		c.Catalogue = catalogue{
			{ID: "open"}, {ID: "licensed", Users: []string{"bob"}, Groups: []string{"staff"}, Default: true},
		}
	})
	b.must(b.scheduler.CreateUser(t.Context(), journal.User{Name: "carol", Role: journal.RoleUser, Groups: []string{"staff"}}, journal.Audit{}))
	b.tokens["carol"] = b.token("carol", time.Time{})
	for name, may := range map[string]bool{"alice": false, "bob": true, "carol": true, "root": true} {
		seen := len(read[wire.ImageList](t, b.as(name, "GET", "/v1/images", ""), 200).Images)
		if seen != map[bool]int{false: 1, true: 2}[may] {
			t.Errorf("%s sees %d images", name, seen)
		}
		for body, allowed := range map[string]bool{
			`{"count":1,"template":{"cpu_milli":1,"memory_mib":1,"image":"licensed"}}`: may,
			`{"count":1,"template":{"cpu_milli":1,"memory_mib":1}}`:                    may, // the default image
			`{"count":1,"template":{"cpu_milli":1,"memory_mib":1,"image":"open"}}`:     true,
		} {
			want := map[bool]int{false: 403, true: 201}[allowed]
			if res := b.as(name, "POST", "/v1/vjobs", body); res.Code != want {
				t.Errorf("%s %s: %d %s, want %d", name, body, res.Code, res.Body, want)
			}
		}
	}
}
