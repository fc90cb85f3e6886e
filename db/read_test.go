package db_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/db"
	"vjob/tests/storetest"
)

// crowd has vjobs 1 to 6 of alice and bob, two of which have ended.
func crowd(t *testing.T) *db.DB {
	t.Helper()
	d := newDB(t)
	for i := range 6 {
		s := storetest.Submission(fmt.Sprintf("j%d", i+1), i+1)
		s.Owner = []string{"alice", "bob"}[i%2]
		submitted(t)(d.Submit(t.Context(), s))
	}
	change := func(id cluster.VJobID, s cluster.State) {
		job := must[journal.Kept](t)(d.VJob(t.Context(), id)).VJob
		if err := job.Become(s, cluster.Because("why")); err != nil {
			t.Fatal(err)
		}
		step := journal.Step{
			VJobs: []journal.VJobChange{storetest.Change(job)},
			Events: []journal.Event{
				storetest.StateEvent(job),
				{At: storetest.Start, Kind: journal.EventNode, Node: "n1", Text: "down", Plan: 7},
			},
		}
		if err := d.Commit(t.Context(), step); err != nil {
			t.Fatal(err)
		}
	}
	change(2, cluster.Terminated)
	change(3, cluster.Failed)
	change(4, cluster.Booting)
	return d
}

func TestListVJobs(t *testing.T) {
	d := crowd(t)
	for _, c := range []struct {
		name   string
		filter journal.Filter
		want   []cluster.VJobID
		total  int
	}{
		{"all", journal.Filter{}, []cluster.VJobID{1, 2, 3, 4, 5, 6}, 6},
		{"newest", journal.Filter{Newest: true, Limit: 2}, []cluster.VJobID{6, 5}, 6},
		{"page", journal.Filter{Cursor: 2, Limit: 3}, []cluster.VJobID{3, 4, 5}, 0},
		{"last page", journal.Filter{Cursor: 5, Limit: 3}, []cluster.VJobID{6}, 0},
		{"beyond", journal.Filter{Cursor: 9, Limit: 3}, nil, 0},
		{"cursor alone", journal.Filter{Cursor: 4}, []cluster.VJobID{5, 6}, 0},
		{"newest behind a cursor", journal.Filter{Newest: true, Cursor: 3, Owner: "bob"}, []cluster.VJobID{2}, 0},
		{"one", journal.Filter{VJob: 4}, []cluster.VJobID{4}, 1},
		{"owner", journal.Filter{Owner: "bob"}, []cluster.VJobID{2, 4, 6}, 3},
		{"live", journal.Filter{Live: true}, []cluster.VJobID{1, 4, 5, 6}, 4},
		{"live of an owner", journal.Filter{Live: true, Owner: "bob"}, []cluster.VJobID{4, 6}, 2},
		{"states", journal.Filter{States: []cluster.State{cluster.Failed, cluster.Booting}}, []cluster.VJobID{3, 4}, 2},
		{"name", journal.Filter{Name: "j5"}, []cluster.VJobID{5}, 1},
		{"hostile name", journal.Filter{Name: "x' OR 1=1 --"}, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, total, err := d.VJobs(t.Context(), c.filter)
			if err != nil {
				t.Fatal(err)
			}
			var got []cluster.VJobID
			for _, r := range rows {
				got = append(got, r.ID)
				if r.VMs != nil || r.Size != int(r.ID) || r.Reserved.Memory != 512*cluster.MiB(r.ID) {
					t.Errorf("vjob %s: size %d, reserved %s, %d VMs", r.ID, r.Size, r.Reserved, len(r.VMs))
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" || total != c.total {
				t.Errorf("total %d, want %d; (-want +got):\n%s", total, c.total, diff)
			}
		})
	}
	if _, err := d.VJob(t.Context(), 99); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("an unknown vjob: %v", err)
	}
}

func TestListEvents(t *testing.T) {
	d := crowd(t) // events 1-6 submissions, then pairs of a state and a node
	for _, c := range []struct {
		name   string
		filter journal.EventFilter
		want   []int64
	}{
		{"all", journal.EventFilter{}, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
		{"after", journal.EventFilter{After: 10}, []int64{11, 12}},
		{"first", journal.EventFilter{After: 3, Limit: 2}, []int64{4, 5}},
		{"latest", journal.EventFilter{Limit: 3, Latest: true}, []int64{10, 11, 12}},
		{"latest after", journal.EventFilter{After: 11, Limit: 3, Latest: true}, []int64{12}},
		{"vjob", journal.EventFilter{VJob: 4}, []int64{4, 11}},
		{"plan", journal.EventFilter{Plan: 7}, []int64{8, 10, 12}},
		{"owner", journal.EventFilter{Owner: "bob"}, []int64{2, 4, 6, 7, 11}},
		{"owner and foreign vjob", journal.EventFilter{Owner: "bob", VJob: 1}, nil},
		{"owner, latest", journal.EventFilter{Owner: "bob", Limit: 1, Latest: true}, []int64{11}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []int64
			for _, e := range must[[]journal.Event](t)(d.Events(t.Context(), c.filter)) {
				got = append(got, e.Seq)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, query := range []string{"DELETE FROM events", "UPDATE events SET text = ''"} {
		if err := d.Exec(t.Context(), query); err == nil {
			t.Errorf("%s: no error", query)
		}
	}
	if err := d.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCheckFindsUntrueTables(t *testing.T) {
	d := crowd(t)
	if err := d.Exec(t.Context(), "UPDATE vjobs SET state = 'running' WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	wants(t, d.Check(t.Context()), "vjob 1", "waiting", "running")
}

func TestListPlans(t *testing.T) {
	d := newDB(t)
	for id := range journal.PlanID(5) {
		if err := d.Commit(t.Context(), journal.Step{Plans: []journal.Plan{{ID: id + 1, At: storetest.Start, State: journal.PlanDone}}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		limit  int
		before journal.PlanID
		want   []journal.PlanID
	}{{0, 0, []journal.PlanID{5, 4, 3, 2, 1}}, {2, 0, []journal.PlanID{5, 4}}, {2, 4, []journal.PlanID{3, 2}}, {9, 1, nil}} {
		var got []journal.PlanID
		for _, p := range must[[]journal.PlanRow](t)(d.Plans(t.Context(), journal.PlanFilter{Limit: c.limit, Before: c.before})) {
			got = append(got, p.ID)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("limit %d before %d (-want +got):\n%s", c.limit, c.before, diff)
		}
	}
	if _, err := d.Plan(t.Context(), 9); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("an unknown plan: %v", err)
	}
}

// by is an audit entry of an administrator.
func by(at time.Time) journal.Audit { return journal.Audit{At: at, By: "root", From: "uid 0"} }

func deleted(_ string, err error) error { return err }

func TestAccounts(t *testing.T) {
	d, ctx, now := newDB(t), t.Context(), storetest.Start
	for _, u := range []journal.User{{Name: "bob", Role: journal.RoleUser}, {Name: "ann", Role: journal.RoleAdmin}} {
		if err := d.CreateUser(ctx, u, by(now)); err != nil {
			t.Fatal(err)
		}
	}
	for want, err := range map[error]error{
		cluster.ErrConflict: d.CreateUser(ctx, journal.User{Name: "bob", Role: journal.RoleAdmin}, by(now)),
		cluster.ErrInvalid:  d.CreateUser(ctx, journal.User{Name: "eve", Role: "root"}, by(now)),
		cluster.ErrNotFound: deleted(d.DeleteUser(ctx, "eve", by(now))),
	} {
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	want := []journal.User{{ID: 2, Name: "ann", Role: journal.RoleAdmin, Created: now}, {ID: 1, Name: "bob", Role: journal.RoleUser, Created: now}}
	if diff := cmp.Diff(want, must[[]journal.User](t)(d.Users(ctx))); diff != "" {
		t.Errorf("users (-want +got):\n%s", diff)
	}
	if u := must[journal.User](t)(d.User(ctx, "ann")); u.Role != journal.RoleAdmin {
		t.Errorf("ann is %s", u.Role)
	}
	if _, err := d.User(ctx, "eve"); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("eve: %v", err)
	}

	s := storetest.Submission("bobs", 1)
	s.Owner = "bob"
	job := submitted(t)(d.Submit(ctx, s))
	if err := deleted(d.DeleteUser(ctx, "bob", by(now))); !errors.Is(err, cluster.ErrConflict) {
		t.Errorf("delete a user with a live vjob: %v", err)
	}
	hash := sha256.Sum256([]byte("secret"))
	must[int64](t)(d.CreateToken(ctx, journal.NewToken{User: "bob", Hash: hash}, by(now)))
	end := journal.Step{VJobs: []journal.VJobChange{{ID: job.ID, State: cluster.Terminated, Version: 1}}}
	if err := errors.Join(d.Commit(ctx, end), deleted(d.DeleteUser(ctx, "bob", by(now)))); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.UserByToken(ctx, hash, now); !errors.Is(err, cluster.ErrUnauthenticated) {
		t.Errorf("the token of a deleted user: %v", err)
	}
}

func TestTokens(t *testing.T) {
	d, ctx, now := newDB(t), t.Context(), storetest.Start
	if err := d.CreateUser(ctx, journal.User{Name: "bob", Role: journal.RoleUser}, by(now)); err != nil {
		t.Fatal(err)
	}
	hash := func(s string) [sha256.Size]byte { return sha256.Sum256([]byte(s)) }
	forever := must[int64](t)(d.CreateToken(ctx, journal.NewToken{User: "bob", Hash: hash("a")}, by(now)))
	hour := must[int64](t)(d.CreateToken(ctx, journal.NewToken{User: "bob", Hash: hash("b"), Expires: now.Add(time.Hour)}, by(now)))
	if _, err := d.CreateToken(ctx, journal.NewToken{User: "eve", Hash: hash("c")}, by(now)); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("an unknown token: %v", err)
	}
	if _, err := d.CreateToken(ctx, journal.NewToken{User: "bob", Hash: hash("a")}, by(now)); !errors.Is(err, cluster.ErrConflict) {
		t.Errorf("a secret twice: %v", err)
	}
	check := func(what, secret string, at time.Time, good bool) {
		t.Helper()
		u, _, err := d.UserByToken(ctx, hash(secret), at)
		if good && (err != nil || u.Name != "bob" || u.Role != journal.RoleUser) {
			t.Errorf("%s: %v %v", what, u, err)
		}
		if !good && !errors.Is(err, cluster.ErrUnauthenticated) {
			t.Errorf("%s: %v", what, err)
		}
	}
	check("good", "a", now, true)
	check("good for an hour", "b", now.Add(time.Hour-1), true)
	check("expired", "b", now.Add(time.Hour), false)
	check("unknown", "x", now, false)
	if err := errors.Join(d.RevokeToken(ctx, "bob", forever, by(now)), d.RevokeToken(ctx, "bob", forever, by(now))); err != nil {
		t.Fatal(err)
	}
	check("revoked", "a", now, false)
	if err := d.RevokeToken(ctx, "bob", 99, by(now)); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("revoke nothing: %v", err)
	}
	want := []journal.Token{
		{ID: forever, User: "bob", Created: now, Revoked: true},
		{ID: hour, User: "bob", Created: now, Expires: now.Add(time.Hour)},
	}
	if diff := cmp.Diff(want, must[[]journal.Token](t)(d.Tokens(ctx, "bob"))); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}

func TestDeleteNode(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	nodes := []cluster.Node{{ID: "host"}, {ID: "target"}, {ID: "images"}, {ID: "free"}}
	must[[]cluster.NodeID](t)(d.SaveNodes(ctx, nodes))
	job := submitted(t)(d.Submit(ctx, storetest.Submission("x", 2)))
	g := must[journal.Kept](t)(d.VJob(ctx, job.ID)).Gang
	g.Phase = gang.Moving
	g.Members[0] = gang.Member{Node: "host", Next: "target"}
	g.Members[1] = gang.Member{Image: &gang.Image{Node: "images"}}
	g.Members[1].Image.ID.VM = job.VMs[1].ID
	if err := d.Commit(ctx, journal.Step{Gangs: []gang.Record{g}}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []cluster.NodeID{"host", "target", "images"} {
		if err := d.DeleteNode(ctx, id); !errors.Is(err, cluster.ErrConflict) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if err := d.DeleteNode(ctx, "free"); err != nil {
		t.Error(err)
	}
	if err := d.DeleteNode(ctx, "free"); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("again: %v", err)
	}
	g.Phase, g.Members = gang.Absent, []gang.Member{{Node: "host"}, {}} // it was there, and is no more
	if err := errors.Join(d.Commit(ctx, journal.Step{Gangs: []gang.Record{g}}), d.DeleteNode(ctx, "host")); err != nil {
		t.Error(err)
	}
}

// Notified returns vjobs with addresses only, with their terms.
func TestNotified(t *testing.T) {
	d := newDB(t)
	for i := range 4 {
		s := storetest.Submission(fmt.Sprintf("j%d", i+1), 2)
		s.Notify = nil
		if i%2 == 1 {
			s.Notify = []string{"mail:alice@example.org"}
		}
		submitted(t)(d.Submit(t.Context(), s))
	}
	rows := must[[]journal.Row](t)(d.Notified(t.Context(), []cluster.VJobID{3, 2, 1, 99}))
	if len(rows) != 1 || rows[0].ID != 2 || rows[0].Owner != "alice" || !cmp.Equal(rows[0].Notify, []string{"mail:alice@example.org"}) {
		t.Errorf("%+v", rows)
	}
	if rows := must[[]journal.Row](t)(d.Notified(t.Context(), nil)); len(rows) != 0 {
		t.Errorf("for an empty list: %+v", rows)
	}
}

// What it costs to find that 500 vjobs of 9 VMs have no addresses.
func BenchmarkNotified(b *testing.B) {
	d := newDB(b)
	ids := make([]cluster.VJobID, 500)
	for i := range ids {
		s := storetest.Submission(fmt.Sprint(i), 9)
		s.Notify = nil
		submitted(b)(d.Submit(b.Context(), s))
		ids[i] = cluster.VJobID(i + 1)
	}
	b.Run("each whole", func(b *testing.B) {
		for b.Loop() {
			for _, id := range ids {
				if _, err := d.VJob(b.Context(), id); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("together", func(b *testing.B) {
		for b.Loop() {
			if rows, err := d.Notified(b.Context(), ids); err != nil || len(rows) > 0 {
				b.Fatal(rows, err)
			}
		}
	})
}
