package gang_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
)

// members is where the members of a record are and go, and what they keep:
// "a>c image save 1, b ended".
func members(rec gang.Record) string {
	list := make([]string, len(rec.Members))
	for i, m := range rec.Members {
		list[i] = string(m.Node)
		if m.Next != "" {
			list[i] += ">" + string(m.Next)
		}
		if m.Image != nil {
			list[i] += " image"
		}
		if m.Save > 0 {
			list[i] += fmt.Sprintf(" save %d", m.Save)
		}
		if m.Ended {
			list[i] += " ended"
		}
	}
	return strings.Join(list, ", ")
}

func TestBegin(t *testing.T) {
	saved := func(s *stage) { s.rec.Members[0].Save, s.rec.Members[1].Save = 2, 2 }
	ended := func(s *stage) { s.rec.Members[1].Ended = true }
	to := []cluster.NodeID{"c", "d"}
	for _, c := range []struct {
		name string
		s    *stage
		aim  gang.Aim
		want string
	}{
		{
			"a boot begins another life", on(gang.Absent, gang.ThenWait).imaged(0, 1).with(saved).with(ended),
			gang.Aim{Kind: cluster.Boot, Next: to},
			"creating i2 g1: >c, >d",
		},
		{
			"a suspension to disk has images of its own", on(gang.Active, 0).with(saved),
			gang.Aim{Kind: cluster.Suspend},
			"pausing(save) i1 g2: a, b",
		},
		{
			"and so has one from memory", on(gang.Paused, 0).with(saved),
			gang.Aim{Kind: cluster.Suspend},
			"saving(stand) i1 g2: a, b",
		},
		{
			"a resumption keeps the images", on(gang.Saved, 0).imaged(0, 1),
			gang.Aim{Kind: cluster.Resume, Next: to},
			"restoring i1 g1: a>c image, b>d image",
		},
		{
			"members that have ended go nowhere", on(gang.Saved, 0).imaged(0).with(ended),
			gang.Aim{Kind: cluster.Resume, Next: to},
			"restoring i1 g1: a>c image, b ended",
		},
		{
			"a move pauses first", on(gang.Active, 0),
			gang.Aim{Kind: cluster.Migrate, Next: to},
			"pausing(move) i1 g1: a>c, b>d",
		},
		{
			"a live move does not", on(gang.Active, 0),
			gang.Aim{Kind: cluster.Migrate, Next: to, Live: true},
			"shifting i1 g1: a>c, b>d",
		},
		{
			"members that the aim does not name stay", on(gang.Active, 0),
			gang.Aim{Kind: cluster.Migrate, Next: to[:1]},
			"pausing(move) i1 g1: a>c, b",
		},
		{
			"a pause moves no member", on(gang.Active, 0),
			gang.Aim{Kind: cluster.Pause, Next: to},
			"pausing(stand) i1 g1: a, b",
		},
		{
			"nor does its end", on(gang.Paused, 0),
			gang.Aim{Kind: cluster.Unpause, Next: to},
			"resuming i1 g1: a, b",
		},
		{
			"an end may come at any time", on(gang.Restoring, 0).imaged(0, 1),
			gang.Aim{Kind: cluster.Stop, Then: gang.ThenExpire},
			"clearing(expire) i1 g1: a image, b image",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := fmt.Sprintf("%+v", c.s.rec)
			now := start.Add(time.Hour)
			c.s.rec.Skew, c.aim.Cause = time.Second, cluster.Because("asked for")
			rec, err := c.s.rec.Begin(c.aim, now)
			c.s.rec.Skew = 0
			if err != nil {
				t.Fatal(err)
			}
			got := rec.Phase.String()
			if rec.Then != gang.ThenNothing {
				got += "(" + rec.Then.String() + ")"
			}
			got += fmt.Sprintf(" i%d g%d: %s", rec.Incarnation, rec.Generation, members(rec))
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if rec.Since != now || rec.Cause.Text != "asked for" || rec.Skew != 0 {
				t.Errorf("entered at %s because %q with skew %s", rec.Since, rec.Cause, rec.Skew)
			}
			if after := fmt.Sprintf("%+v", c.s.rec); after != before {
				t.Errorf("the record was changed in place:\n%s\n%s", before, after)
			}
		})
	}
}

// What an aim is refused for leaves the record as it is, with which its caller goes on.
func TestBeginRefusedChangesNothing(t *testing.T) {
	for kind, from := range map[cluster.ActionKind]gang.Phase{
		cluster.Boot: gang.Creating, cluster.Resume: gang.Restoring, cluster.Suspend: gang.Creating,
		cluster.Migrate: gang.Pausing, cluster.Pause: gang.Pausing, cluster.Unpause: gang.Saving,
	} {
		s := on(from, 0)
		rec, err := s.rec.Begin(gang.Aim{Kind: kind, Next: []cluster.NodeID{"c", "d"}}, start.Add(time.Hour))
		if !errors.Is(err, cluster.ErrConflict) {
			t.Errorf("%s of a gang that is %s: got %v, want a conflict", kind, from, err)
		}
		if got, want := fmt.Sprintf("%+v", rec), fmt.Sprintf("%+v", s.rec); got != want {
			t.Errorf("%s of a gang that is %s changes the record:\n%s\n%s", kind, from, want, got)
		}
	}
}

func TestHop(t *testing.T) {
	s := on(gang.Moving, 0).next("c", "")
	rec := s.rec.Hop(0, "d")
	if got := members(rec); got != "a>d, b" || rec.Phase != gang.Moving || rec.VJob != 7 {
		t.Errorf("sent on: %s %+v", got, rec)
	}
	if got := members(s.rec); got != "a>c, b" {
		t.Errorf("the record was changed in place: %s", got)
	}
}

func TestWhole(t *testing.T) {
	ended := func(s *stage) { s.rec.Members[1].Ended = true }
	for _, c := range []struct {
		name string
		s    *stage
		want bool
	}{
		{"both", on(gang.Saved, 0).imaged(0, 1), true},
		{"one without", on(gang.Saved, 0).imaged(0), false},
		{"none", on(gang.Saved, 0), false},
		{"one has ended", on(gang.Saved, 0).imaged(0).with(ended), true},
	} {
		if got := c.s.rec.Whole(); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
	}
}
