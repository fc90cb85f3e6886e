package db_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/db"
	"vjob/tests/storetest"
)

// arrays has vjob 1, array 2 of four and array 6 of two; 2, 3 and 6 have ended.
func arrays(t *testing.T) *db.DB {
	t.Helper()
	d := newDB(t)
	submitted(t)(d.Submit(t.Context(), storetest.Submission("single", 1)))
	s := storetest.Submission("sweep", 2)
	s.Array = make([]string, 4)
	submitted(t)(d.Submit(t.Context(), s))
	s = storetest.Submission("", 1)
	s.Owner, s.Array = "bob", []string{"a", "b"}
	submitted(t)(d.Submit(t.Context(), s))
	for _, id := range []cluster.VJobID{2, 3, 6} {
		end := journal.VJobChange{ID: id, State: cluster.Failed, Outcome: cluster.Broken, Version: 1}
		if err := d.Commit(t.Context(), journal.Step{VJobs: []journal.VJobChange{end}}); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// A folded list has one row for each array, whatever the other conditions of the filter.
func TestFold(t *testing.T) {
	d := arrays(t)
	for _, c := range []struct {
		name   string
		filter journal.Filter
		want   string
		total  int
	}{
		{"all", journal.Filter{Fold: true}, "1 2[1-4 2 waiting 2 failed] 6[1-2 1 waiting 1 failed]", 3},
		{"live", journal.Filter{Fold: true, Live: true}, "1 4[1-4 2 waiting 2 failed] 7[1-2 1 waiting 1 failed]", 3},
		{"failed", journal.Filter{Fold: true, States: []cluster.State{cluster.Failed}}, "2[1-4 2 waiting 2 failed] 6[1-2 1 waiting 1 failed]", 2},
		{"of bob", journal.Filter{Fold: true, Owner: "bob"}, "6[1-2 1 waiting 1 failed]", 1},
		{"a page", journal.Filter{Fold: true, Newest: true, Cursor: 6, Limit: 1}, "2[1-4 2 waiting 2 failed]", 0},
		{"behind an array of which the first has ended", journal.Filter{Fold: true, Live: true, Cursor: 2}, "7[1-2 1 waiting 1 failed]", 0},
		{"an array", journal.Filter{Array: 2}, "2 3 4 5", 4},
		{"what lives of it", journal.Filter{Array: 2, Live: true}, "4 5", 2},
		{"an array, folded", journal.Filter{Array: 6, Fold: true}, "6[1-2 1 waiting 1 failed]", 1},
		{"not an array", journal.Filter{Array: 1, Fold: true}, "", 0},
		{"not folded", journal.Filter{}, "1 2 3 4 5 6 7", 7},
	} {
		rows, total, err := d.VJobs(t.Context(), c.filter)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, row := range rows {
			if i > 0 {
				got += " "
			}
			got += row.ID.String()
			if f := row.Fold; f != nil {
				got += fmt.Sprintf("[%d-%d %d waiting %d failed]", f.First, f.Last, f.States[cluster.Waiting], f.States[cluster.Failed])
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" || total != c.total {
			t.Errorf("%s: %d of %d (-want +got):\n%s", c.name, total, c.total, diff)
		}
	}
}

// The vjobs of an array share the spec of their VMs: a VM gets a row of its own only with its
// first place.
func TestVMsOfAnArrayAreKeptOnce(t *testing.T) {
	d := newDB(t)
	s := storetest.Submission("sweep", 20)
	s.Array = make([]string, 10)
	first := submitted(t)(d.Submit(t.Context(), s))
	rows := func(what string, want int) {
		t.Helper()
		var got int
		if err := d.Query(t.Context(), "SELECT count(*) FROM vms", &got); err != nil || got != want {
			t.Errorf("%s: %d rows, %v, want %d", what, got, err, want)
		}
		if diff := cmp.Diff(s.VJobs(first.ID), loaded(t, d).VJobs); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	rows("submitted", 0)
	g := loaded(t, d).Gangs[3]
	commit := func() {
		t.Helper()
		if err := d.Commit(t.Context(), journal.Step{Gangs: []gang.Record{g}}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(g, loaded(t, d).Gangs[3]); diff != "" {
			t.Errorf("the gang (-want +got):\n%s", diff)
		}
	}
	g.Cause = cluster.Because("looked at")
	commit()
	rows("one that has no places", 0)
	g.Phase, g.Members[7].Next = gang.Creating, "n1"
	commit()
	rows("one with a place", 20)
	g.Phase, g.Members = gang.Absent, make([]gang.Member, 20)
	commit()
	rows("without it again", 20)
}

func BenchmarkSubmitArray(b *testing.B) {
	const n = 10_000
	b.Run(fmt.Sprintf("vjobs=%d", n), func(b *testing.B) {
		s := storetest.Submission("", 1)
		for i := range n {
			s.Array = append(s.Array, fmt.Sprint("parameter ", i))
		}
		d := newDB(b)
		for b.Loop() {
			submitted(b)(d.Submit(b.Context(), s))
		}
	})
}

// A page of live vjobs is read without sorting all of them, on whatever page it is.
func TestPagesOfLiveVJobsAreNotSorted(t *testing.T) {
	d := newDB(t)
	for _, f := range []journal.Filter{{Live: true}, {Live: true, Fold: true}, {Live: true, Fold: true, Newest: true}, {Live: true, Fold: true, Cursor: 7}} {
		f.Limit = 1000
		steps, err := d.PagePlan(t.Context(), f)
		if err != nil || len(steps) == 0 || strings.Contains(strings.Join(steps, "\n"), "ORDER BY") {
			t.Errorf("%+v: %q, %v", f, steps, err)
		}
	}
}
