package gang_test

import (
	"errors"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// turned is a turn in a few words, with what has become of the members: "…" when it says
// what it waits for, "held" when the vjob is to be held, "*" when the record has changed.
func turned(t gang.Turn) string {
	text := told(t)
	if t.Wait != "" {
		text += " …"
	}
	if t.Hold != "" {
		text += " held"
	}
	text += ": " + members(t.Record)
	if t.Changed {
		text += " *"
	}
	return text
}

func ended(ranks ...int) func(*stage) {
	return func(s *stage) {
		for _, rank := range ranks {
			s.rec.Members[rank].Ended = true
		}
	}
}

func busy(rank int) func(*stage) { return func(s *stage) { s.input.Sights[rank].Busy = true } }

func tried(rank, n int, err error) func(*stage) {
	return func(s *stage) { s.input.Sights[rank].Tries, s.input.Sights[rank].Err = n, err }
}

func seen(at time.Duration) func(*stage) {
	return func(s *stage) { s.input.Now = s.rec.Since.Add(at) }
}

func late(rank int) func(*stage) { return func(s *stage) { s.input.Sights[rank].Late = true } }

// row is an input and what a step makes of it.
type row struct {
	name string
	s    *stage
	want string
}

func check(t *testing.T, rows []row) {
	t.Helper()
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			if got := turned(gang.Step(c.s.rec, c.s.input)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// What a phase leaves in the record is all that the next one knows.
func TestMembersAfterAPhase(t *testing.T) {
	check(t, []row{
		{"booted", on(gang.Creating, 0).next("c", "d").has("0@c running", "1@d running"), "active: c, d *"},
		{"paused to be saved", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b paused"), "saving: a, b *"},
		{"paused to be moved", on(gang.Pausing, gang.ThenMove).next("c", "").has("0@a paused", "1@b paused"), "moving: a>c, b *"},
		{"a pause given up leaves members where they are", on(gang.Pausing, gang.ThenMove).next("c", "d").has("0@a paused", "1@b running").with(tried(1, 2, errors.New("x"))), "resuming(back): a, b *"},
		{"found elsewhere while it is paused", on(gang.Pausing, gang.ThenSave).has("0@c running", "1@b paused"), "pausing(save); pause 0@c: c, b"},
		{"stands with no image", on(gang.Pausing, gang.ThenStand).imaged(0).has("0@a paused", "1@b paused"), "paused: a, b *"},
		{"one more attempt to save", on(gang.Saving, 0).has("0@a paused", "1@b paused").with(func(s *stage) { s.rec.Members[0].Save = 1 }), "saving; save 0@a g1.a2; save 1@b g1.a1 …: a save 2, b save 1 *"},
		{"no attempt without a slot", on(gang.Saving, 0).has("0@a paused", "1@b paused").with(func(s *stage) { s.full = true }), "saving …: a, b"},
		{"saved: nowhere", on(gang.Saving, 0).next("a", "b").imaged(0, 1), "saved:  image,  image *"},
		{"stands again without space", on(gang.Saving, gang.ThenStand).has("0@a paused", "1@b paused").with(func(s *stage) {
			s.input.Space = func(map[cluster.NodeID]cluster.MiB) string { return "full" }
		}), "paused: a, b *"},
		{"restored: the images are used", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").has("0@c paused", "1@d paused"), "resuming: c, d *"},
		{"restored to stand", on(gang.Restoring, gang.ThenStand).imaged(0).next("c", "").has("0@c paused", "1@b paused"), "paused: c, b *"},
		{"resumed where it is found", on(gang.Resuming, 0).has("0@c running", "1@b running"), "active: c, b *"},
		{"resumed: the images are used", on(gang.Resuming, 0).imaged(0, 1).has("0@a running", "1@b running"), "active: a, b *"},
		{"arrived", on(gang.Moving, 0).next("c", "").has("0@c paused", "1@b paused"), "resuming: c, b *"},
		{"one has arrived", on(gang.Shifting, 0).next("c", "d").has("0@c running", "1@b running").with(busy(1)), "shifting …: c, b>d *"},
		{"stays after too many tries", on(gang.Moving, 0).next("c", "").has("0@a paused", "1@b paused").with(tried(0, 2, errors.New("x"))), "resuming !: a, b *"},
		{"found elsewhere at rest", on(gang.Active, 0).has("0@c running", "1@b running"), "active: c, b *"},
		{"found elsewhere while it stands", on(gang.Paused, 0).has("0@c paused", "1@b paused"), "paused: c, b *"},
	})
}

// A member with a guest that has ended takes no further part; the other members go on.
func TestEndedMembersTakeNoPart(t *testing.T) {
	check(t, []row{
		{"first, booting", on(gang.Creating, 0).next("", "d").with(ended(0)).has("1@d running"), "active:  ended, d *"},
		{"first, at rest", on(gang.Active, 0).with(ended(0)).has("1@b paused"), "active; unpause 1@b: a ended, b"},
		{"first, pausing", on(gang.Pausing, gang.ThenSave).with(ended(0)).has("1@b running"), "pausing(save); pause 1@b: a ended, b"},
		{"second, pausing", on(gang.Pausing, gang.ThenSave).with(ended(1)).has("0@a paused"), "saving: a, b ended *"},
		{"first, standing", on(gang.Paused, 0).with(ended(0)).has("1@b paused"), "paused: a ended, b"},
		{"first, saving", on(gang.Saving, 0).with(ended(0)).has("1@b paused"), "saving; save 1@b g1.a1 …: a ended, b save 1 *"},
		{"first, moving", on(gang.Moving, 0).next("", "d").with(ended(0)).has("1@d paused"), "resuming: a ended, d *"},
		{"first, restoring", on(gang.Restoring, 0).imaged(1).next("", "d").with(ended(0)).has("1@d paused"), "resuming: a ended, d *"},
		{"first, resuming", on(gang.Resuming, 0).with(ended(0)).has("1@b paused"), "resuming; unpause 1@b …: a ended, b"},
		{"what is left of it locks no other out", on(gang.Resuming, 0).with(ended(0)).has("0@a paused", "1@b running").with(tried(0, 1, hypervisor.ErrLocked)), "active: a ended, b *"},
		{"nor is it paused with them", on(gang.Resuming, 0).with(ended(0)).has("0@a running", "1@b paused").with(tried(1, 1, hypervisor.ErrLocked)), "resuming; unpause 1@b ! …: a ended, b"},
		{"nor let go on beside a call", on(gang.Resuming, gang.ThenBack).with(ended(0)).has("0@a paused", "1@b running").with(busy(0)), "resuming(back) …: a ended, b"},
		{"space is not asked for it", on(gang.Pausing, gang.ThenSave).with(ended(0)).has("1@b running").with(func(s *stage) {
			s.input.Space = func(need map[cluster.NodeID]cluster.MiB) string {
				if len(need) != 1 || need["b"] != 106 {
					return "wrong"
				}
				return ""
			}
		}), "pausing(save); pause 1@b: a ended, b"},
	})
}

// A member on which a call is under way is left alone, and its phase goes on only when
// the outcome has been seen.
func TestBusyMembersAreLeftAlone(t *testing.T) {
	check(t, []row{
		{"a boot that may have happened", on(gang.Absent, 0).has("0@a running").with(busy(0)), "absent: a, b"},
		{"a copy that runs is not believed", on(gang.Creating, 0).next("a", "b").has("0@a running", "1@b running").with(busy(1)), "creating …: a>a, b>b"},
		{"a copy that is paused", on(gang.Creating, 0).next("a", "b").has("0@a paused", "1@b running").with(busy(0)), "creating …: a>a, b>b"},
		{"no word of an end is wanted", on(gang.Active, 0).has("0@a running").with(busy(1)), "active: a, b"},
		{"at rest", on(gang.Active, 0).has("0@a paused", "1@b running").with(busy(0)), "active: a, b"},
		{"a pause under way", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b paused").with(busy(1)).with(seen(time.Second)), "pausing(save) …: a, b"},
		{"a save under way", on(gang.Saving, 0).has("0@a paused", "1@b paused").with(busy(0)).with(busy(1)), "saving …: a, b"},
		{"a restore under way", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").has("0@c paused", "1@d paused").with(busy(1)), "restoring …: a>c image, b>d image"},
		{"a late restore is not destroyed beside it", on(gang.Saved, 0).imaged(0, 1).has("0@c paused").with(busy(0)), "saved: a image, b image"},
		{"an unpause under way", on(gang.Resuming, 0).has("0@a running", "1@b running").with(busy(1)), "resuming …: a, b"},
		{"a migration under way", on(gang.Moving, 0).next("c", "").has("0@c paused", "1@b paused").with(busy(0)), "moving …: a>c, b"},
		{"a stale copy", on(gang.Active, 0).has("0@a running", "0@c running old", "1@b running").with(busy(0)), "active: a, b"},
		{"only one of two stale copies goes at a time", on(gang.Active, 0).has("0@a paused", "0@c running old", "0@d running old", "1@b running"), "active; destroy 0@c: a, b"},
		{"each member has its own", on(gang.Active, 0).has("0@a running", "1@b running", "1@c running old"), "active; destroy 1@c: a, b"},
	})
}

// A job on a copy is waited for, whichever call began it, and cancelled once it lasts far
// too long.
func TestJobsAreWaitedFor(t *testing.T) {
	check(t, []row{
		{"at rest", on(gang.Active, 0).has("0@a paused saving", "1@b running"), "active …: a, b"},
		{"at rest, late", on(gang.Active, 0).has("0@a running", "1@b paused saving").with(late(1)), "active; abort 1@b …: a, b"},
		{"not while a call is under way", on(gang.Saving, 0).has("0@a paused saving", "1@b paused saving").with(late(1)).with(busy(1)), "saving …: a, b"},
		{"pausing", on(gang.Pausing, gang.ThenSave).has("0@a running", "1@b running outgoing").with(seen(0)), "pausing(save) …: a, b"},
		{"pausing, late", on(gang.Pausing, gang.ThenSave).has("0@a running outgoing", "1@b running").with(late(0)), "resuming(back): a, b *"},
		{"saving, late", on(gang.Saving, 0).has("0@a paused saving", "1@b paused saving").with(late(0)), "saving; abort 0@a …: a, b"},
		{"restoring", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").has("0@c paused incoming", "1@d paused"), "restoring …: a>c image, b>d image"},
		{"restoring, late", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").has("0@c paused incoming", "1@d paused").with(late(0)), "restoring; abort 0@c …: a>c image, b>d image"},
		{"resuming", on(gang.Resuming, 0).has("0@a paused outgoing", "1@b running"), "resuming …: a, b"},
		{"resuming, late", on(gang.Resuming, 0).has("0@a paused outgoing", "1@b running").with(late(0)), "resuming; abort 0@a …: a, b"},
		{"moving", on(gang.Moving, 0).next("c", "").has("0@a paused outgoing", "1@b paused"), "moving …: a>c, b"},
		{"moving, late", on(gang.Moving, 0).next("c", "").has("0@a paused outgoing", "1@b paused").with(late(0)), "moving; abort 0@a …: a>c, b"},
		{"the source of a migration is where it is cancelled", on(gang.Moving, 0).next("c", "").has("0@a paused outgoing", "0@c paused incoming", "1@b paused").with(late(0)), "moving; abort 0@a …: a>c, b"},
		{"on whichever end it is seen first", on(gang.Moving, 0).next("a", "").has("0@a paused incoming", "0@c paused outgoing", "1@b paused").with(late(0)), "moving; abort 0@c …: a>a, b"},
		{"one end has a job: no end is destroyed", on(gang.Active, 0).has("0@a running", "0@c paused saving", "1@b running"), "active …: a, b"},
		{"one end comes in that the other does not send", on(gang.Active, 0).has("0@a running", "0@c paused incoming", "1@b running"), "active; abort 0@c: a, b"},
		{"asked once to go on beside a job", on(gang.Resuming, gang.ThenBack).has("0@a paused saving", "1@b running").with(busy(0)), "resuming(back) …: a, b"},
	})
}
