package gang_test

import (
	"errors"
	"testing"
	"time"

	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

func noStore(s *stage) { s.input.Store = nil }

func restores(n int) func(*stage) { return func(s *stage) { s.rec.Restores = n } }

// lapsed says that no attempt up to the nth can succeed any more.
func lapsed(n int) func(*stage) {
	return func(s *stage) {
		for rank := range s.input.Sights {
			s.input.Sights[rank].Revoked = n
		}
	}
}

func generation(g int) func(*stage) {
	return func(s *stage) { s.rec.UsedUpTo, s.rec.Generation = s.rec.UsedUpTo+g-s.rec.Generation, g }
}

func used(g int) func(*stage) { return func(s *stage) { s.rec.UsedUpTo = g } }

func kept(list ...gang.Kept) func(*stage) { return func(s *stage) { s.rec.Kept = list } }

func saves(a, b int) func(*stage) {
	return func(s *stage) { s.rec.Members[0].Save, s.rec.Members[1].Save = a, b }
}

// A gang is cleared in order: restores are revoked, then copies go, then images.
func TestClearing(t *testing.T) {
	const end, wait = gang.ThenTerminate, gang.ThenWait
	foreign := func(s *stage) {
		for _, i := range []hypervisor.Image{{ID: image(2, 1)}, {ID: image(5, 1)}, {ID: image(0, 1)}} {
			if i.ID.VM.Rank == 0 {
				i.ID.VM.VJob = 8
			}
			s.input.Store.Images = append(s.input.Store.Images, i)
		}
	}
	check(t, []row{
		{"not while a call is under way", on(gang.Clearing, end).has("0@a paused").with(busy(0)), "clearing(terminate) …: a, b"},
		{"nor while one may still take effect", on(gang.Clearing, end).with(busy(0)), "clearing(terminate) …: a, b"},
		{"the other member meanwhile", on(gang.Clearing, end).has("1@b paused").with(busy(0)), "clearing(terminate); destroy 1@b …: a, b"},
		{"restores are revoked first", on(gang.Clearing, end).imaged(0).has("0@a paused").with(restores(1)), "clearing(terminate); revoke 0@a g1.a1 …: a image, b"},
		{"though no copy is seen", on(gang.Clearing, end).imaged(1).with(restores(1)), "clearing(terminate); revoke 1@b g1.a1 …: a, b image"},
		{"every copy goes", on(gang.Clearing, end).has("0@a paused", "0@c paused", "1@b dead"), "clearing(terminate); destroy 0@a; destroy 0@c; destroy 1@b …: a, b"},
		{"one with a job is not asked", on(gang.Clearing, end).has("0@a running saving"), "clearing(terminate); destroy 0@a …: a, b"},
		{"nor is one where there is no time for it", on(gang.Clearing, end).has("0@a running").with(func(s *stage) { s.input.Limits.StopGrace = 0 }), "clearing(terminate); destroy 0@a …: a, b"},
		{"one that was asked has its time", on(gang.Clearing, end).has("0@a running").with(tried(0, 1, nil)).with(seen(gang.DefaultLimits.StopGrace - 1)), "clearing(terminate) …: a, b"},
		{"and no more", on(gang.Clearing, end).has("0@a running").with(tried(0, 1, nil)).with(seen(gang.DefaultLimits.StopGrace)), "clearing(terminate); destroy 0@a …: a, b"},
		{"not before the store is seen", on(gang.Clearing, end).with(noStore), "clearing(terminate) …: a, b"},
		{"unless nothing was ever saved", on(gang.Clearing, end).with(noStore).with(generation(0)), "absent(terminate): ,  *"},
		{"images that a look shows", on(gang.Clearing, end).stored(0, 1, true).stored(1, 2, false), "clearing(terminate); discard 0@a g1.a1; discard 1@b g1.a2 …: a, b"},
		{"those that the gang was saved in", on(gang.Clearing, end).imaged(0, 1).with(func(s *stage) { s.input.Store.Images = nil }), "clearing(terminate); discard 0@a g1.a1; discard 1@b g1.a1 …: a image, b image"},
		{"those that are kept are forgotten", on(gang.Clearing, wait).imaged(0, 1).with(kept(gang.Kept{Generation: 1})), "absent(wait): ,  *"},
		{"unless the vjob ends in order", on(gang.Clearing, end).stored(0, 1, true).with(kept(gang.Kept{Generation: 1})), "clearing(terminate); discard 0@a g1.a1 …: a, b *"},
		{"what stays changes nothing", on(gang.Clearing, end).stored(0, 1, true).with(generation(2)).with(kept(gang.Kept{Generation: 2, Newer: true})), "clearing(terminate); discard 0@a g1.a1 …: a, b"},
		{"those of others and of no member stay", on(gang.Clearing, end).with(foreign), "absent(terminate): ,  *"},
		{"members that have ended are noted in order", on(gang.Clearing, end).with(ended(1)), "absent(terminate): ,  ended *"},
		{"and begin again otherwise", on(gang.Clearing, wait).with(ended(1)), "absent(wait): ,  *"},
	})
}

// A look that does not show an image may be old: what the gang may have been saved in is
// deleted by name, as long as it takes, until a look can show all there is.
func TestImagesAreDeletedByName(t *testing.T) {
	const end, wait = gang.ThenTerminate, gang.ThenWait
	unseen := func(s *stage) { s.input.Store.Images = nil }
	discarded := func(ids ...hypervisor.ImageID) func(*stage) {
		return func(s *stage) {
			for rank := range s.input.Sights {
				s.input.Sights[rank].Discarded = map[hypervisor.ImageID]bool{}
				for _, id := range ids {
					s.input.Sights[rank].Discarded[id] = true
				}
			}
		}
	}
	looked := func(after time.Duration) func(*stage) {
		return func(s *stage) { s.input.StoreAt = s.rec.Since.Add(after) }
	}
	elsewhere := func(s *stage) { s.input.Store.Images[0].Node = "c" }
	nowhere := func(s *stage) { s.rec.Members[0].Node = "" }
	lag := gang.DefaultLimits.StoreLag
	check(t, []row{
		{"each attempt", on(gang.Clearing, end).with(saves(2, 1)), "clearing(terminate); discard 0@a g1.a1; discard 0@a g1.a2; discard 1@b g1.a1 …: a save 2, b save 1"},
		{"an image once, and the other attempts", on(gang.Clearing, end).imaged(0).with(saves(2, 0)).with(unseen), "clearing(terminate); discard 0@a g1.a1; discard 0@a g1.a2 …: a image save 2, b"},
		{"an image of an earlier generation as well", on(gang.Clearing, end).imaged(0).with(saves(1, 0)).with(unseen).with(generation(2)), "clearing(terminate); discard 0@a g1.a1; discard 0@a g2.a1 …: a image save 1, b"},
		{"again, if it was not deleted", on(gang.Clearing, end).with(saves(1, 1)).with(discarded(image(1, 1))).with(tried(0, 1, errors.New("x"))), "clearing(terminate); discard 0@a g1.a1 …: a save 1, b save 1"},
		{"not beside a call", on(gang.Clearing, end).with(saves(1, 1)).with(busy(0)), "clearing(terminate) …: a save 1, b save 1"},
		{"by the node that shows it", on(gang.Clearing, end).imaged(0).with(elsewhere), "clearing(terminate); discard 0@c g1.a1 …: a image, b"},
		{"by the node that it was saved on", on(gang.Clearing, end).imaged(0).with(unseen).with(nowhere), "clearing(terminate); discard 0@a g1.a1 …:  image, b"},
		{"not what is kept", on(gang.Clearing, wait).with(saves(1, 1)).with(kept(gang.Kept{Generation: 1})), "absent(wait): ,  *"},
		{"until all are", on(gang.Clearing, end).with(saves(2, 0)).with(discarded(image(0, 1), image(0, 2))), "absent(terminate): ,  *"},
		{"a look is too old", on(gang.Clearing, end).with(saves(1, 0)).with(looked(lag - 1)), "clearing(terminate); discard 0@a g1.a1 …: a save 1, b"},
		{"a look shows nothing", on(gang.Clearing, end).with(saves(1, 0)).with(looked(lag)), "absent(terminate): ,  *"},
		{"a look shows one", on(gang.Clearing, end).with(saves(1, 0)).stored(0, 1, false).with(looked(lag)), "clearing(terminate); discard 0@a g1.a1 …: a save 1, b"},
	})
}

// A turn that clears a gang says what it waits for, and why it was cleared in the end.
func TestClearingIsTold(t *testing.T) {
	for _, c := range []struct {
		name string
		s    *stage
		want string
	}{
		{"copies", on(gang.Clearing, gang.ThenWait).has("0@a paused"), "ends its VMs"},
		{"guests", on(gang.Clearing, gang.ThenTerminate).has("0@a running").with(tried(0, 1, nil)).with(seen(0)), "waits for its guests to shut down"},
		{"the store", on(gang.Clearing, gang.ThenWait).with(noStore), "the image store to be seen"},
		{"images", on(gang.Clearing, gang.ThenWait).stored(0, 1, true), "deletes its images"},
		{"nothing", on(gang.Clearing, gang.ThenWait), ""},
		{"the store, while it is saved", on(gang.Saving, 0).imaged(0).with(saves(1, 1)).with(noStore), "the image store to be seen"},
		{"a listing, while it is saved", on(gang.Saving, 0).imaged(0).with(saves(1, 1)), "a complete image of 7.1 to be seen"},
		{"its images", on(gang.Restoring, gang.ThenSave).imaged(0, 1).has("0@c paused"), "returns to its images"},
	} {
		turn := gang.Step(c.s.rec, c.s.input)
		if turn.Wait != c.want || turn.Record.Cause.Text != "test" {
			t.Errorf("%s: waits for %q, and was entered because %q", c.name, turn.Wait, turn.Record.Cause)
		}
	}
}

// Images go only where no call is under way, and where the gang proves that they are of no
// use: its members run, or have ended.
func TestImagesThatGo(t *testing.T) {
	both := func(s *stage) { s.stored(0, 1, true).stored(1, 1, true) }
	all := func(s *stage) { s.stored(0, 1, true).stored(0, 2, true).stored(0, 3, false) }
	unshown := func(s *stage) { s.input.Store.Images = s.input.Store.Images[1:] }
	half := func(s *stage) { s.input.Store.Images[0].Complete = false }
	second := func(s *stage) { s.rec.Members[0].Image = &gang.Image{ID: image(0, 2), Node: "a"} }
	check(t, []row{
		{"those of members that run", on(gang.Active, 0).has("0@a running", "1@b running").with(both), "active; discard 0@a g1.a1; discard 1@b g1.a1: a, b"},
		{"not that of one that is paused", on(gang.Active, 0).has("0@a running", "1@b paused").with(both), "active; unpause 1@b; discard 0@a g1.a1: a, b"},
		{"not beside a call", on(gang.Active, 0).has("0@a running", "1@b running").with(busy(0)).with(both), "active; discard 1@b g1.a1: a, b"},
		{"not beside a second copy", on(gang.Active, 0).has("0@a running", "0@c paused", "1@b running").with(both), "active; destroy 0@c; discard 1@b g1.a1: a, b"},
		{"that of one that has ended", on(gang.Active, 0).has("0@a running").with(ended(1)).with(both), "active; discard 0@a g1.a1; discard 1@b g1.a1: a, b ended"},
		{"not one that is kept", on(gang.Active, 0).has("0@a running", "1@b running").with(both).with(kept(gang.Kept{Generation: 1})), "active: a, b"},
		{"the store is not seen", on(gang.Active, 0).has("0@a running", "1@b running").with(noStore), "active: a, b"},
		{"standing, only halves", on(gang.Paused, 0).has("0@a paused", "1@b paused").with(all), "paused; discard 0@a g1.a3: a, b"},
		{"saved, only halves", on(gang.Saved, 0).imaged(1).with(all).with(second), "saved; discard 0@a g1.a3: a image, b image"},
		{"and what is older than the disks", on(gang.Saved, 0).imaged(1).with(all).with(second).with(used(1)), "saved; discard 0@a g1.a1; discard 0@a g1.a3: a image, b image"},
		{"unless the image is not shown", on(gang.Saved, 0).imaged(0, 1).with(unshown).stored(0, 2, true).stored(0, 3, false).with(used(1)), "saved; discard 0@a g1.a3: a image, b image"},
		{"or half there", on(gang.Saved, 0).imaged(0, 1).with(half).stored(0, 2, true).with(used(1)), "saved: a image, b image"},
		{"of one that has ended, only halves", on(gang.Saved, 0).imaged(0).with(ended(1)).stored(1, 1, true).stored(1, 2, false), "saved; discard 1@b g1.a2: a image, b ended"},
		{"a copy beside no image stays", on(gang.Saved, 0).imaged(0).has("1@c paused"), "saved: a image, b"},
		{"a copy beside a half stays", on(gang.Saved, 0).imaged(0, 1).has("0@c paused").with(half), "saved: a image, b image"},
		{"a copy stays until the store is seen", on(gang.Saved, 0).imaged(0, 1).has("0@c paused").with(noStore), "saved: a image, b image"},
		{"resumed: what its attempts may have left is known until the next save", on(gang.Resuming, 0).has("0@a running", "1@b running").with(saves(1, 2)), "active: a save 1, b save 2 *"},
	})
}

// What keeps a gang from its images leads back to them.
func TestReturning(t *testing.T) {
	failed := errors.New("x")
	back := func() *stage { return on(gang.Restoring, gang.ThenSave).imaged(0, 1).next("c", "d") }
	half := func() *stage {
		return on(gang.Restoring, 0).imaged(0).next("a", "b").has("1@b paused").with(restores(3))
	}
	check(t, []row{
		{"no call is made beside another", back().has("0@c paused").with(busy(0)), "restoring(save) …: a>c image, b>d image"},
		{"every copy goes", back().has("0@c paused", "0@d paused restoring"), "restoring(save); destroy 0@c; destroy 0@d …: a>c image, b>d image"},
		{"one that has ended is no matter", on(gang.Restoring, gang.ThenSave).imaged(0).next("c", "").with(ended(1)).with(busy(1)), "saved:  image,  ended *"},
		{"nowhere in the end", back(), "saved:  image,  image *"},
		{"no room", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").with(retreat), "restoring(save): a>c image, b>d image *"},
		{"not while a call is under way", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").with(tried(0, 2, failed)).with(busy(1)), "restoring …: a>c image, b>d image"},
		{"the last try of one that was not saved", on(gang.Restoring, 0).imaged(0).next("a", "b").has("1@b paused").with(tried(0, 5, failed)), "restoring; revoke 0@a g1.a1 then restore 0@a g1.a1: a>a image, b>b *"},
		{"no attempt outlives the last try", half().with(tried(0, 6, failed)), "restoring; revoke 0@a g1.a1 …: a>a image, b>b"},
		{
			"whichever member it is", on(gang.Restoring, 0).imaged(1).next("a", "b").has("0@a paused").with(restores(3)).with(tried(1, 6, failed)),
			"restoring; revoke 1@b g1.a1 …: a>a, b>b image",
		},
		{"then the others are saved", half().with(tried(0, 7, nil)).with(lapsed(3)), "saving !: a>a image, b>b *"},
	})
}

// Each attempt to restore is revoked by its number.
func TestRevokedAttempts(t *testing.T) {
	s := on(gang.Restoring, 0).imaged(0, 1).next("c", "d").has("0@c paused").with(restores(4)).with(tried(1, 1, errors.New("x")))
	chain := gang.Step(s.rec, s.input).Chains[0]
	if chain[0].Verb != hypervisor.Revoke || chain[0].Attempt != 4 || chain[1].Verb != hypervisor.Restore || chain[1].Attempt != 5 {
		t.Errorf("a new attempt: %+v", chain)
	}
	s = on(gang.Restoring, gang.ThenSave).imaged(0, 1).next("c", "d").with(restores(4))
	for rank, chain := range gang.Step(s.rec, s.input).Chains {
		if c := chain[0]; c.Verb != hypervisor.Revoke || c.Attempt != 4 || c.Image != image(rank, 1) {
			t.Errorf("member %d returns: %+v", rank, c)
		}
	}
}
