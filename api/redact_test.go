package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"vjob/api"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/scheduler"
)

// Users read no numbers of live vjobs of others; administrators read all.
func TestReasonsNameNoVJobsOfOthers(t *testing.T) {
	statuses := scheduler.Statuses{}
	for id, owner := range map[cluster.VJobID]string{1: "ann", 2: "bob", 3: "ann", 4: "ann", 5: "bob"} {
		statuses[id] = scheduler.VJobStatus{Owner: owner}
	}
	now := &scheduler.Snapshot{VJobs: statuses}
	for _, c := range []struct{ text, bob string }{
		{"waits: in the way is lonely({VM 1.0, VM 1.1}); 2nd in line behind 2", "waits: in the way is lonely({VMs of another user}); 2nd in line behind 2"},
		{"waits: in the way is spread({VM 2.0, VM 2.1}); 1st in line", "waits: in the way is spread({VM 2.0, VM 2.1}); 1st in line"},
		{"suspended to make room for 1: needs 2.5 CPU more", "suspended to make room for a vjob of another user: needs 2.5 CPU more"},
		{"waits: needs 1.5 CPU more; 4th in line behind 1, 2 and 3", "waits: needs 1.5 CPU more; 4th in line behind 2 and 2 more"},
		{"7th in line behind 1, 3, 4 and 3 more", "7th in line behind 6 vjobs of other users"},
		{"4th in line behind 1, 2, 5 and 1 more", "4th in line behind 2, 5 and 2 more"},
		{"waits for vjob 2 to end, and vjobs 1 and 3 have left", "waits for vjob 2 to end, and 2 vjobs of other users have left"},
		{"needs a place beside the reservation of vjob 4 at 12:30", "needs a place beside the reservation of a vjob of another user at 12:30"},
		{"free beside reservation 1", "free beside a reservation of another user"},
		{"free beside reservations 1, 2 and 4 and what runs", "free beside reservations 2 and 2 more and what runs"},
		{"100 W go to reservations 1, 3, and it draws 5 W", "100 W go to 2 reservations of other users, and it draws 5 W"},
		{"vjob 17 has ended; runs on 3 nodes", "vjob 17 has ended; runs on 3 nodes"},
	} {
		if got := api.Shown(c.text, "bob", now); got != c.bob {
			t.Errorf("bob reads %q\nwant      %q", got, c.bob)
		}
		if got := api.Shown(c.text, "", now); got != c.text {
			t.Errorf("an administrator reads %q, want %q", got, c.text)
		}
	}
	const ended = "the work of VM 9.1 ended with exit code 3, and that of VM 8.0"
	if got, want := api.Shown(ended, "bob", now, 9), "the work of VM 9.1 ended with exit code 3, and that of VMs of another user"; got != want {
		t.Errorf("bob reads of vjob 9, an ended one of bob, %q\nwant %q", got, want)
	}
}

// Also refusals that tell of the cluster name no vjobs of others: those of reservations do. What
// a user has sent is not changed, or it would tell that there is such a vjob.
func TestRefusalsNameNoVJobsOfOthers(t *testing.T) {
	b := newFixture(t)
	b.scheduler.statuses()[7] = scheduler.VJobStatus{Owner: "bob"}
	for _, c := range []struct {
		err  error
		user string
		want string
	}{
		{&cluster.FieldError{Field: "reservation", Text: "reservation: only 2 of the 4 CPU are free beside reservation 7"}, "alice", "a reservation of another user"},
		{&cluster.FieldError{Field: "reservation", Text: "reservation: only 2 of the 4 CPU are free beside reservation 7"}, "bob", "beside reservation 7"},
		{&cluster.FieldError{Field: "reservation", Text: "reservation: only 2 of the 4 CPU are free beside reservation 8"}, "bob", "a reservation of another user"},
		{cluster.BadField("after", "vjob 7", "a vjob of yours"), "alice", "vjob 7"},
	} {
		b.scheduler.fail = fmt.Errorf("submit: %w", c.err)
		e := read[wire.Error](t, b.as(c.user, "POST", "/v1/vjobs", small), http.StatusBadRequest)
		if !strings.Contains(e.Error.Message, c.want) {
			t.Errorf("%s reads %q, want %q in it", c.user, e.Error.Message, c.want)
		}
	}
}

// A stored text names VMs of vjobs that have ended since: users see only VMs of their own live vjobs.
func TestShownHidesVMsOfEndedVJobs(t *testing.T) {
	now := &scheduler.Snapshot{VJobs: scheduler.Statuses{1: {Owner: "alice"}}}
	text := "ban({VM 1.0, VM 2.0}, {node n4}) is broken: VM 2.0 ends on node n4"
	if got, want := api.Shown(text, "alice", now), "ban({VMs of another user}, {node n4}) is broken: VMs of another user ends on node n4"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := api.Shown("VM 1.0 ends on node n4", "alice", now); got != "VM 1.0 ends on node n4" {
		t.Errorf("own: %q", got)
	}
	if got := api.Shown(text, "", now); got != text {
		t.Errorf("administrator: %q", got)
	}
}
