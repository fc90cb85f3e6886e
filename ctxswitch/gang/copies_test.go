package gang_test

import (
	"errors"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

func silent(rank int, nodes ...cluster.NodeID) func(*stage) {
	return func(s *stage) { s.input.Sights[rank].Blind = nodes }
}

func gone(rank int, cause hypervisor.Cause) func(*stage) {
	return func(s *stage) { s.input.Sights[rank].Gone, s.input.Sights[rank].Cause = true, cause }
}

// exited is the end of a guest that told its exit code.
func exited(rank, code int) func(*stage) {
	return func(s *stage) {
		gone(rank, hypervisor.CauseShutdown)(s)
		s.input.Sights[rank].Exit = cluster.Exited(code)
	}
}

// commanded gives every guest a command.
func commanded(s *stage) {
	for i := range s.input.VJob.VMs {
		s.input.VJob.VMs[i].Payload = &cluster.Payload{Command: []string{"work"}}
	}
}

func success(rule cluster.Success) func(*stage) {
	return func(s *stage) { s.input.VJob.Success = rule }
}

func retreat(s *stage) { s.input.Retreat = "no room" }

// Beside a silent node only a gang that was being paused lets members go on, and only
// those that are seen.
func TestSilentNodes(t *testing.T) {
	quick := seen(time.Second)
	check(t, []row{
		{"while it boots", on(gang.Creating, 0).next("a", "b").has("0@a running").with(silent(1, "b")), "creating …: a>a, b>b"},
		{"while it pauses", on(gang.Pausing, gang.ThenSave).has("0@a paused").with(silent(1, "b")).with(quick), "resuming(back) …: a, b *"},
		{"while a pause is under way", on(gang.Pausing, gang.ThenSave).has("0@a paused").with(silent(1, "b")).with(busy(1)).with(quick), "pausing(save) …: a, b"},
		{"while a pause takes too long", on(gang.Pausing, gang.ThenSave).has("0@a paused").with(silent(1, "b")).with(busy(1)), "resuming(back) …: a, b *"},
		{"while it goes back", on(gang.Resuming, gang.ThenBack).has("0@a paused").with(silent(1, "b")), "resuming(back); unpause 0@a …: a, b"},
		{"a copy of the same member is seen", on(gang.Resuming, gang.ThenBack).has("0@a paused", "1@c paused").with(silent(1, "b")), "resuming(back); unpause 0@a …: a, b"},
		{"and a call is open on it", on(gang.Resuming, gang.ThenBack).has("0@a running", "1@c paused").with(silent(1, "b")).with(busy(1)), "resuming(back) …: a, b"},
		{"all that is seen runs", on(gang.Resuming, gang.ThenBack).has("0@a running").with(silent(1, "b")), "resuming(back) …: a, b"},
		{"no copy of the other is seen either", on(gang.Resuming, gang.ThenBack).with(silent(1, "b")), "resuming(back) …: a, b"},
		{"while it resumes from images", on(gang.Resuming, 0).has("0@a paused").with(silent(1, "b")), "resuming …: a, b"},
		{"while it is saved after an abort", on(gang.Saving, gang.ThenBack).has("0@a paused").with(silent(1, "b")), "saving(back) …: a, b"},
		{"while it moves", on(gang.Moving, 0).next("c", "").has("0@a paused").with(silent(1, "b")), "moving …: a>c, b"},
	})
}

// Every silent node is named once, in order.
func TestSilentNodesAreNamed(t *testing.T) {
	s := on(gang.Active, 0).with(silent(0, "d", "b")).with(silent(1, "c", "b"))
	want := "keeps still: b, c, d may hold a copy and does not answer"
	if got := gang.Step(s.rec, s.input).Wait; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Of several copies of a member one is left, and a phase goes on with one of each.
func TestSeveralCopies(t *testing.T) {
	check(t, []row{
		{"of three the one that runs", on(gang.Active, 0).has("0@a paused", "0@c paused", "0@d running", "1@b running"), "active; destroy 0@a; destroy 0@c: a, b"},
		{"one that is dead goes first", on(gang.Active, 0).has("0@a running", "0@c dead", "1@b running"), "active; destroy 0@c: a, b"},
		{"though it is at the destination", on(gang.Paused, 0).has("0@a paused", "0@c dead", "1@b paused"), "paused; destroy 0@c: a, b"},
		{"of paused ones the destination", on(gang.Paused, 0).has("0@a paused", "0@c paused", "1@b paused"), "paused; destroy 0@a: a, b"},
		{"wherever it stands in the order of nodes", on(gang.Paused, 0).with(func(s *stage) { s.rec.Members[0].Node = "d" }).has("0@c paused", "0@d paused", "1@b paused"), "paused; destroy 0@d: d, b"},
		{"the running one stays though it is at the source", on(gang.Active, 0).has("0@a running", "0@c paused", "1@b running"), "active; destroy 0@c: a, b"},
		{"members after it are put right too", on(gang.Active, 0).has("0@a paused", "0@c running", "1@b paused"), "active; destroy 0@a; unpause 1@b: a, b"},
		{"and after one with a job", on(gang.Active, 0).has("0@a running outgoing", "0@c paused incoming", "1@b paused"), "active; unpause 1@b …: a, b"},
		{"and after one that is dead", on(gang.Active, 0).has("0@a running", "0@c dead", "1@b paused"), "active; destroy 0@c; unpause 1@b: a, b"},
		{"one comes in, and whether the other sends it is not known", on(gang.Active, 0).has("0@a paused incoming", "0@c running unknown", "1@b running"), "active …: a, b"},
		{"one comes in that no other sends, and members after it are put right", on(gang.Active, 0).has("0@a paused incoming", "0@c running", "1@b paused"), "active; abort 0@a; unpause 1@b: a, b"},
		{"pausing is given up", on(gang.Pausing, gang.ThenSave).has("0@a running", "0@c running", "1@b running"), "resuming(back): a, b *"},
		{"restoring leaves one", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").has("0@b paused", "0@c paused", "1@d paused"), "restoring; destroy 0@b …: a>c image, b>d image"},
		{"resuming leaves one", on(gang.Resuming, 0).has("0@a paused", "0@c running", "1@b running"), "resuming; destroy 0@a …: a, b"},
		{"resuming lets others go on beside them", on(gang.Resuming, 0).has("0@a paused", "0@c running", "1@b paused"), "resuming; destroy 0@a; unpause 1@b …: a, b"},
		{"moving leaves one", on(gang.Moving, 0).next("c", "d").has("0@a paused", "0@c paused", "1@b paused"), "moving; destroy 0@a; migrate 1@b>d …: a>c, b>d"},
		{"late copies of a gang that is saved", on(gang.Saved, 0).imaged(0, 1).has("0@c paused", "0@d paused", "1@c paused"), "saved; destroy 0@c; destroy 0@d; destroy 1@c: a image, b image"},
		{"a boot that was given up", on(gang.Absent, 0).has("0@a running", "0@c running", "1@b paused"), "absent; destroy 0@a; destroy 0@c; destroy 1@b: a, b"},
	})
}

// A copy in a state that its phase does not expect is brought to the one that it does.
func TestUnexpectedStates(t *testing.T) {
	isolated := func(s *stage) { s.rec.Members[1].Node = "c" }
	check(t, []row{
		{"boots paused", on(gang.Creating, 0).next("a", "b").has("0@a paused", "1@b running"), "creating; unpause 0@a …: a>a, b>b"},
		{"runs while it is saved", on(gang.Saving, 0).has("0@a running", "1@b paused"), "saving; pause 0@a; save 1@b g1.a1 …: a, b save 1 *"},
		{"runs while it is restored", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").has("0@c running", "1@d paused"), "restoring; pause 0@c …: a>c image, b>d image"},
		{"runs although it is saved", on(gang.Saved, 0).imaged(0, 1).has("1@c running"), "saved; pause 1@c ! held: a image, c image *"},
		{"and is where it was found before", on(gang.Saved, 0).imaged(0, 1).has("1@c running").with(isolated), "saved; pause 1@c ! held: a image, c image"},
		{"one is found, the other was found before", on(gang.Saved, 0).imaged(0, 1).has("0@c running", "1@c running").with(isolated), "saved; pause 0@c; pause 1@c ! held: c image, c image *"},
		{"runs elsewhere before a member of lower rank", on(gang.Resuming, 0).has("0@a paused unknown", "1@c running"), "resuming …: a, c"},
		{"runs while it is moved", on(gang.Moving, 0).next("c", "").has("0@a running", "1@b paused"), "moving; pause 0@a …: a>c, b"},
		{"is gone while it is shifted", on(gang.Shifting, 0).next("c", "").has("1@b running").with(gone(0, hypervisor.CauseShutdown)), "shifting: a ended, b *"},
		{"paused by a shift, the next is not moved yet", on(gang.Shifting, 0).next("c", "d").has("0@a paused", "1@b running").with(gone(0, hypervisor.CauseShutdown)), "shifting; destroy 0@a; migrate 1@b>d …: a>c, b>d"},
		{"runs, and no member is locked", on(gang.Resuming, 0).has("0@a running", "1@b running").with(tried(1, 1, hypervisor.ErrLocked)), "active: a, b *"},
		{"two run beside one that is locked", on(gang.Resuming, 0).has("0@a paused", "1@b running").with(tried(0, 1, hypervisor.ErrLocked)), "resuming; pause 1@b …: a, b"},
		{"one of them rests from a call", on(gang.Resuming, 0).has("0@a paused", "1@b running").with(tried(0, 1, hypervisor.ErrLocked)).with(busy(1)).with(func(s *stage) { s.input.Sights[1].BacksOff = true }), "resuming; pause 1@b …: a, b"},
		{"one of them is called", on(gang.Resuming, 0).has("0@a paused", "1@b running").with(tried(0, 1, hypervisor.ErrLocked)).with(busy(1)), "resuming …: a, b"},
		{"one of them has two copies", on(gang.Resuming, 0).has("0@a paused", "1@b running", "1@c paused").with(tried(0, 1, hypervisor.ErrLocked)), "resuming; destroy 1@c; unpause 0@a ! …: a, b"},
		{"still runs beside a call on it", on(gang.Resuming, gang.ThenBack).has("0@a running", "1@b paused").with(busy(0)), "resuming(back) …: a, b"},
		{"every member with an open call", on(gang.Resuming, gang.ThenBack).has("0@a paused", "1@b paused").with(busy(0)).with(busy(1)), "resuming(back); unpause 0@a; unpause 1@b …: a, b"},
		{"an open call on a member that is not seen", on(gang.Resuming, gang.ThenBack).has("1@b paused").with(busy(0)), "resuming(back) …: a, b"},
		{"no such thing on the way from images", on(gang.Resuming, 0).has("0@a paused", "1@b running").with(busy(0)), "resuming …: a, b"},
	})
}

// What cannot be done is given up, or waits for room.
func TestGivingUp(t *testing.T) {
	noSpace := func(s *stage) {
		s.input.Space = func(map[cluster.NodeID]cluster.MiB) string { return "full" }
	}
	full := func(s *stage) { s.full = true }
	more := func(rank int) func(*stage) { return func(s *stage) { s.input.Sights[rank].More = true } }
	check(t, []row{
		{"no room to boot in", on(gang.Creating, 0).next("a", "b").has("0@a running").with(retreat), "clearing(wait): a>a, b>b *"},
		{"does not boot", on(gang.Creating, 0).next("a", "b").has("1@b running").with(tried(0, 2, errors.New("x"))), "clearing(wait): a>a, b>b *"},
		{"one more try to boot", on(gang.Creating, 0).next("a", "b").has("1@b running").with(tried(0, 1, errors.New("x"))), "creating; boot 0@a …: a>a, b>b"},
		{"pausing is not wanted any more", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b running").with(retreat), "resuming(back): a, b *"},
		{"though all are paused", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b paused").with(retreat), "resuming(back): a, b *"},
		{"does not pause", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b running").with(tried(1, 2, errors.New("x"))), "resuming(back): a, b *"},
		{"a pause takes too long", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b running").with(busy(1)), "resuming(back): a, b *"},
		{"one more try to pause", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b running").with(tried(1, 1, errors.New("x"))), "pausing(save); pause 1@b: a, b"},
		{"space counts before the first pause only of a gang that is saved", on(gang.Pausing, gang.ThenMove).next("c", "").has("0@a running", "1@b running").with(noSpace), "pausing(move); pause 0@a then pause 1@b: a>c, b"},
		{"saving is not wanted any more", on(gang.Saving, 0).has("0@a paused", "1@b paused").with(retreat), "restoring: a>a, b>b *"},
		{"not while one is saved", on(gang.Saving, 0).has("0@a paused saving", "1@b paused").with(retreat), "saving …: a, b"},
		{"members that have ended are not brought back", on(gang.Saving, 0).with(ended(0)).has("1@b paused").with(retreat), "restoring: a ended, b>b *"},
		{"too many tries to save", on(gang.Saving, 0).has("0@a paused", "1@b paused").with(tried(0, 2, errors.New("x"))), "restoring: a>a, b>b *"},
		{"the last try to save is under way", on(gang.Saving, 0).has("0@a paused", "1@b paused").with(tried(0, 2, errors.New("x"))).with(busy(0)), "saving; save 1@b g1.a1 …: a, b save 1 *"},
		{"one more try to save", on(gang.Saving, 0).has("0@a paused", "1@b paused").with(tried(0, 1, errors.New("x"))), "saving; save 0@a g1.a1; save 1@b g1.a1 …: a save 1, b save 1 *"},
		{"its last try goes on", on(gang.Saving, 0).has("0@a paused saving", "1@b paused").with(tried(0, 2, errors.New("x"))), "saving; save 1@b g1.a1 …: a, b save 1 *"},
		{"it runs, and is paused first", on(gang.Saving, 0).has("0@a running", "1@b paused").with(tried(0, 2, errors.New("x"))), "saving; pause 0@a; save 1@b g1.a1 …: a, b save 1 *"},
		{"that of one that has ended is no matter", on(gang.Saving, 0).has("0@a paused", "1@b paused").with(ended(0)).with(tried(0, 2, errors.New("x"))), "saving; save 1@b g1.a1 …: a ended, b save 1 *"},
		{"space is asked for of one that stands only", on(gang.Saving, 0).has("0@a paused", "1@b paused").with(noSpace), "saving; save 0@a g1.a1; save 1@b g1.a1 …: a save 1, b save 1 *"},
		{"and only while nothing is under way", on(gang.Saving, gang.ThenStand).has("0@a paused", "1@b paused").with(noSpace).with(busy(0)), "saving(stand); save 1@b g1.a1 …: a, b save 1 *"},
		{"no slot to restore with", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").has("0@c paused").with(full), "restoring …: a>c image, b>d image"},
		{"no slot to migrate with", on(gang.Moving, 0).next("c", "").has("0@a paused", "1@b paused").with(full), "moving …: a>c, b"},
		{"one more try to migrate", on(gang.Moving, 0).next("c", "").has("0@a paused", "1@b paused").with(tried(0, 1, errors.New("x"))), "moving; migrate 0@a>c …: a>c, b"},
		{"the first stays, the second travels", on(gang.Moving, 0).next("c", "d").has("0@a paused", "1@b paused").with(tried(0, 2, errors.New("x"))), "moving; migrate 1@b>d ! …: a, b>d *"},
		{"another hop follows", on(gang.Moving, 0).next("c", "").has("0@c paused", "1@b paused").with(more(0)), "moving …: c, b *"},
		{"another hop follows where it has arrived before", on(gang.Moving, 0).has("0@a paused", "1@b paused").with(more(0)), "moving …: a, b"},
		{"and the other members wait for it", on(gang.Moving, 0).has("0@a paused", "1@b paused").with(more(1)), "moving …: a, b"},
		{"the first travels, the second is there", on(gang.Moving, 0).next("c", "d").has("0@a paused", "1@d paused"), "moving; migrate 0@a>c …: a>c, d *"},
		{"the first travels, the second stays", on(gang.Moving, 0).next("c", "").has("0@a paused", "1@b paused"), "moving; migrate 0@a>c …: a>c, b"},
	})
}
