package db_test

import (
	"crypto/sha256"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/db"
	"vjob/tests/storetest"
)

// Accounts and tokens of earlier schemas stay valid; numbers of deleted tokens are not reused; a
// role over the network does not apply on the socket.
func TestMigrateAccounts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vjob.db")
	d := must[*db.DB](t)(db.OpenWith(path, schemas(t, 11, nil)))
	hash := sha256.Sum256([]byte("secret"))
	err := errors.Join(
		d.Exec(t.Context(), "INSERT INTO users (name, role) VALUES ('ann', 'admin'), ('bob', 'user')"),
		d.Exec(t.Context(), "INSERT INTO tokens (id, user, sha256, created_ns) VALUES (3, 'bob', ?, 1), (9, 'ann', zeroblob(32), 1)", hash[:]),
		d.Exec(t.Context(), "DELETE FROM tokens WHERE id = 9"),
		d.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	d = must[*db.DB](t)(db.Open(path))
	defer func() { _ = d.Close() }()
	want := []journal.User{{ID: 1, Name: "ann", Role: journal.RoleAdmin}, {ID: 2, Name: "bob", Role: journal.RoleUser, Local: true}}
	if diff := cmp.Diff(want, must[[]journal.User](t)(d.Users(t.Context()))); diff != "" {
		t.Errorf("users (-want +got):\n%s", diff)
	}
	u, token, err := d.UserByToken(t.Context(), hash, storetest.Start)
	if err != nil || u.Name != "bob" || token.ID != 3 {
		t.Errorf("the token of before: %+v %+v %v", u, token, err)
	}
	next := must[int64](t)(d.CreateToken(t.Context(), journal.NewToken{User: "ann", Hash: sha256.Sum256(nil)}, by(storetest.Start)))
	if next != 10 {
		t.Errorf("the next token is %d", next)
	}
	if _, err := d.Admit(t.Context(), journal.LocalUser{Name: "ann", UID: 1000, Open: true}, storetest.Start); !errors.Is(err, cluster.ErrForbidden) {
		t.Errorf("the local user ann: %v", err)
	}
	if err := d.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// Nothing changes the audit list, and only what was pruned is deleted.
func TestAuditIsKept(t *testing.T) {
	d, ctx, start := newDB(t), t.Context(), storetest.Start
	for i, action := range []journal.AuditAction{journal.AuditStart, journal.AuditBackup, journal.AuditRules} {
		a := journal.Audit{At: start.Add(time.Duration(i) * time.Hour), By: "root", From: "uid 0", Action: action, Text: "t"}
		if i < 2 {
			if err := d.WriteAudit(ctx, a); err != nil {
				t.Fatal(err)
			}
		} else if err := d.Commit(ctx, journal.Step{Audit: []journal.Audit{a}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, attack := range []string{"UPDATE audit SET by_name = 'eve'", "DELETE FROM audit", "DELETE FROM audit WHERE id = 3"} {
		if err := d.Exec(ctx, attack); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v", attack, err)
		}
	}
	if sum := must[journal.Pruned](t)(prune(ctx, d, journal.Horizon{Audit: start.Add(time.Hour)})); sum != (journal.Pruned{Audit: 1}) {
		t.Errorf("pruned %+v", sum)
	}
	left := must[[]journal.Audit](t)(d.Audit(ctx, journal.AuditFilter{}))
	if len(left) != 2 || left[0].Action != journal.AuditRules || left[1].Action != journal.AuditBackup || left[1].ID != 2 {
		t.Errorf("left: %+v", left)
	}
	if one := must[[]journal.Audit](t)(d.Audit(ctx, journal.AuditFilter{Before: 3, Limit: 1, By: "root"})); len(one) != 1 || one[0].ID != 2 {
		t.Errorf("a page: %+v", one)
	}
}

// A failed action leaves no entry, and a successful one always leaves one.
func TestAuditIsOfTheSameTransaction(t *testing.T) {
	d, ctx, now := newDB(t), t.Context(), storetest.Start
	user := journal.User{Name: "bob", Role: journal.RoleUser}
	disabled := true
	_ = d.CreateUser(ctx, user, by(now))
	_ = d.CreateUser(ctx, user, by(now))                                           // a conflict
	_ = d.ChangeUser(ctx, "eve", journal.UserChange{Disabled: &disabled}, by(now)) // none
	_ = d.RevokeToken(ctx, "bob", 7, by(now))                                      // none
	_, _ = d.CreateToken(ctx, journal.NewToken{User: "bob", Replaces: 7}, by(now)) // none
	_, _ = d.DeleteUser(ctx, "eve", by(now))                                       // none
	if list := must[[]journal.Audit](t)(d.Audit(ctx, journal.AuditFilter{})); len(list) != 1 {
		t.Errorf("entries: %+v", list)
	}
}

// Ended tokens of an account do not accumulate, and valid ones are limited.
func TestTokensOfOneAccount(t *testing.T) {
	d, ctx, now := newDB(t), t.Context(), storetest.Start
	if err := d.CreateUser(ctx, journal.User{Name: "bob", Role: journal.RoleUser}, by(now)); err != nil {
		t.Fatal(err)
	}
	create := func(i int, at time.Time) error {
		_, err := d.CreateToken(ctx, journal.NewToken{User: "bob", Hash: [32]byte{byte(i), byte(i >> 8), 1}, Expires: at.Add(time.Hour)}, by(at))
		return err
	}
	for i := range 100 {
		if err := create(i, now); err != nil {
			t.Fatal(err)
		}
	}
	if err := create(100, now); !errors.Is(err, cluster.ErrConflict) {
		t.Errorf("one more: %v", err)
	}
	for i := range 50 {
		if err := create(200+i, now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		if err := create(300+i, now.Add(2*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if list := must[[]journal.Token](t)(d.Tokens(ctx, "bob")); len(list) != 120 || list[0].ID != 51 {
		t.Errorf("%d tokens, the first %d", len(list), list[0].ID)
	}
}

// Concurrent first requests create one account.
func TestFirstRequestsAtOnce(t *testing.T) {
	d := newDB(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			u, err := d.Admit(t.Context(), journal.LocalUser{Name: "ann", UID: 1000, Open: true}, storetest.Start)
			if err != nil || u.ID != 1 || u.UID == nil || *u.UID != 1000 {
				t.Errorf("account %+v, %v", u, err)
			}
		})
	}
	all.Wait()
	if list := must[[]journal.Audit](t)(d.Audit(t.Context(), journal.AuditFilter{})); len(list) != 1 {
		t.Errorf("entries %+v", list)
	}
}
