package gang_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// keeps is what a record keeps, in a few words: "1, 2 used, 3 newer wanted without [0]".
func keeps(rec gang.Record) string {
	list := make([]string, len(rec.Kept))
	for i, k := range rec.Kept {
		list[i] = fmt.Sprint(k.Generation)
		if k.Used {
			list[i] += " used"
		}
		if k.Newer {
			list[i] += " newer"
		}
		if k.Wanted {
			list[i] += " wanted"
		}
		if len(k.Ended) > 0 {
			list[i] += fmt.Sprintf(" without %d", k.Ended)
		}
	}
	return strings.Join(list, ", ")
}

// An order that does not end the vjob for good keeps the images that its VMs have not used.
func TestStoppedGangsKeepImages(t *testing.T) {
	now := start.Add(time.Hour)
	one, two := gang.Kept{Generation: 1}, gang.Kept{Generation: 2}
	wanted := one
	wanted.Wanted = true
	third := func(s *stage) { s.rec.Members[0].Image.ID.Generation = 3 }
	for _, c := range []struct {
		name string
		s    *stage
		then gang.Then
		want string
	}{
		{"saved", on(gang.Saved, 0).imaged(0, 1), gang.ThenWait, "1"},
		{"ended on request", on(gang.Saved, 0).imaged(0, 1), gang.ThenTerminate, ""},
		{"failed", on(gang.Restoring, 0).imaged(0, 1), gang.ThenFail, "1"},
		{"one was not saved yet", on(gang.Saving, 0).imaged(1).with(saves(0, 1)), gang.ThenWait, "1"},
		{"none was", on(gang.Saving, 0), gang.ThenWait, ""},
		{"one is being saved", on(gang.Saving, 0).with(saves(1, 0)), gang.ThenWait, "1"},
		{"saved in images of an earlier generation", on(gang.Saving, 0).imaged(0).with(saves(0, 1)).with(third).with(generation(4)).with(used(2)), gang.ThenWait, "3, 4"},
		{"one has ended", on(gang.Saved, 0).imaged(0).with(ended(1)), gang.ThenWait, "1 without [1]"},
		{"the first has ended", on(gang.Saved, 0).imaged(1).with(ended(0)), gang.ThenWait, "1 without [0]"},
		{"some may run", on(gang.Resuming, 0).with(saves(1, 1)), gang.ThenWait, "1 used"},
		{"some may run again, restored from kept ones", on(gang.Resuming, 0).with(generation(3)).with(used(3)).with(kept(wanted)), gang.ThenWait, "1 used"},
		{"about to be saved", on(gang.Pausing, gang.ThenSave), gang.ThenWait, ""},
		{"none was saved after all", on(gang.Resuming, gang.ThenBack).with(saves(1, 1)), gang.ThenWait, ""},
		{"cleared already", on(gang.Clearing, gang.ThenWait).imaged(0, 1).with(kept(one)), gang.ThenFail, "1"},
		{"saved several times from where it stood", on(gang.Saved, 0).imaged(0, 1).with(generation(3)).with(used(0)), gang.ThenWait, "1, 2, 3"},
		{"one of them is kept already", on(gang.Saved, 0).imaged(0, 1).with(generation(2)).with(used(0)).with(kept(one)), gang.ThenWait, "1, 2"},
		{"others are kept", on(gang.Saved, 0).imaged(0, 1).with(kept(two)), gang.ThenWait, "1, 2"},
		{"restored from kept ones", on(gang.Saving, gang.ThenVerify).imaged(0).with(kept(wanted, two)), gang.ThenWait, "1, 2"},
		{"restored from the second", on(gang.Saving, gang.ThenVerify).imaged(0).with(kept(two, wanted)), gang.ThenWait, "2, 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := keeps(c.s.rec)
			rec, err := c.s.rec.Begin(gang.Aim{Kind: cluster.Stop, Then: c.then, Cause: cluster.Because("requeued")}, now)
			if err != nil {
				t.Fatal(err)
			}
			if got := keeps(rec); got != c.want || rec.Then != c.then {
				t.Errorf("keeps %q and goes on to %q, want %q and %q", got, rec.Then, c.want, c.then)
			}
			if after := keeps(c.s.rec); after != before {
				t.Errorf("the record was changed in place: %q to %q", before, after)
			}
		})
	}
	rec, _ := on(gang.Saved, 0).imaged(0, 1).rec.Begin(gang.Aim{Kind: cluster.Stop, Then: gang.ThenWait, Cause: cluster.Because("requeued")}, now)
	if k := rec.Kept[0]; k.Incarnation != 1 || !k.Since.Equal(now) || k.Cause != "requeued" {
		t.Errorf("what is noted of kept images: %+v", k)
	}
}

// Once all members run, the images are older than the disks.
func TestMembersThatRunUseTheImages(t *testing.T) {
	unpaused, err := on(gang.Paused, 0).rec.Begin(gang.Aim{Kind: cluster.Unpause}, start)
	if err != nil {
		t.Fatal(err)
	}
	booted, err := on(gang.Absent, gang.ThenWait).with(used(0)).rec.Begin(gang.Aim{Kind: cluster.Boot, Next: []cluster.NodeID{"a", "b"}}, start)
	if err != nil {
		t.Fatal(err)
	}
	step := func(s *stage) gang.Record { return gang.Step(s.rec, s.input).Record }
	stands, runs := []string{"0@a paused", "1@b paused"}, []string{"0@a running", "1@b running"}
	for name, c := range map[string]struct {
		rec   gang.Record
		phase gang.Phase
		used  int
	}{
		"restored, and about to run":        {step(on(gang.Restoring, 0).imaged(0, 1).next("a", "b").has(stands...)), gang.Resuming, 0},
		"restored, and one runs":            {step(on(gang.Resuming, 0).has("0@a running", "1@b paused")), gang.Resuming, 0},
		"restored, and all run":             {step(on(gang.Resuming, 0).has(runs...)), gang.Active, 1},
		"restored, and standing":            {step(on(gang.Restoring, gang.ThenStand).has(stands...)), gang.Paused, 0},
		"unpaused":                          {unpaused, gang.Resuming, 0},
		"booted from scratch":               {booted, gang.Creating, 1},
		"not saved after all":               {step(on(gang.Pausing, gang.ThenSave).has(stands...).with(func(s *stage) { s.input.Retreat = "x" })), gang.Resuming, 1},
		"paused, with newer images beside":  {step(on(gang.Paused, 0).has(stands...).generation(3)), gang.Paused, 0},
		"running, with newer images beside": {step(on(gang.Active, 0).has(runs...).generation(3)), gang.Active, 3},
	} {
		if c.rec.Phase != c.phase || c.rec.UsedUpTo != c.used {
			t.Errorf("%s: %s, used up to %d, want %s, %d", name, c.rec.Phase, c.rec.UsedUpTo, c.phase, c.used)
		}
	}
}

// A back-up may be older than several generations of images, in any order: each stays.
func TestEveryNewerGenerationStays(t *testing.T) {
	s := on(gang.Saved, 0).imaged(0, 1).with(ended(1))
	s.rec.Members[1].Image = nil
	s.input.Store.Images = s.input.Store.Images[:1]
	for _, i := range []hypervisor.ImageID{{Generation: 4}, {Generation: 2}, {VM: cluster.VMID{Rank: 1}, Generation: 3}, {Generation: 2}, {Generation: 1}} {
		i.VM.VJob, i.Attempt = 7, 2
		if i.Generation == 1 {
			i.VM.VJob = 8
		}
		s.input.Store.Images = append(s.input.Store.Images, hypervisor.Image{ID: i, Node: "a", Complete: true})
	}
	turn := gang.Step(s.rec, s.input)
	if got := keeps(turn.Record); got != "2 newer without [1], 3 newer without [1], 4 newer without [1]" || len(turn.Chains) > 0 {
		t.Errorf("keeps %q: %s", got, told(turn))
	}
	if turn.Record.Generation != 4 || !turn.Changed || len(turn.Alarms) != 3 {
		t.Errorf("generation %d, changed %t, alarms %q", turn.Record.Generation, turn.Changed, turn.Alarms)
	}
	k, ok := turn.Record.Keeps(4)
	if !ok || !strings.Contains(k.Cause, "generation 4 is newer than the record, which knows 1") || !k.Since.Equal(s.input.Now) {
		t.Errorf("got %+v", k)
	}
}

// Images of other vjobs are no business of a gang, whatever their generation, and while a
// gang is under way no generation is skipped.
func TestGenerationsOfOthers(t *testing.T) {
	other := on(gang.Active, 0).has("0@a running", "1@b running").generation(9)
	for i := range other.input.Store.Images {
		other.input.Store.Images[i].ID.VM.VJob = 8
	}
	check(t, []row{
		{"of another vjob", other, "active: a, b"},
		{"beside a save", on(gang.Saving, 0).has("0@a paused", "1@b paused").generation(2), "saving; save 0@a g1.a1; save 1@b g1.a1 …: a save 1, b save 1 *"},
	})
}

// A gang that is lost finds the images that its record does not explain, in every phase.
func TestLostGangsFindImages(t *testing.T) {
	crashed := gone(1, hypervisor.CauseCrashed)
	for _, c := range []struct {
		name string
		s    *stage
		want string
		held bool
	}{
		{"while it boots", on(gang.Creating, 0).next("a", "b").has("0@a paused").with(crashed).generation(2), "2 newer", true},
		{"while it boots, beside a disk that may be newer", on(gang.Creating, 0).next("a", "b").has("0@a running").with(crashed).generation(2), "2 used newer", false},
		{"while it boots, beside the second disk that may be newer", on(gang.Creating, 0).next("a", "b").has("1@b running").with(gone(0, hypervisor.CauseCrashed)).generation(2), "2 used newer", false},
		{"which were seen before", on(gang.Creating, 0).next("a", "b").has("0@a paused").with(crashed).with(generation(2)).with(kept(gang.Kept{Generation: 2, Newer: true, Since: start})).generation(2), "2 newer", true},
		{"while it resumes", on(gang.Resuming, 0).has("0@a paused").with(crashed).generation(2), "1 used, 2 newer", true},
		{"as the record begins to save what is saved", on(gang.Pausing, gang.ThenSave).with(crashed).generation(1), "1 newer", true},
		{"which it did not do itself", on(gang.Saving, 0).generation(1).with(func(s *stage) { s.input.Store.Images = s.input.Store.Images[:1] }), "1 newer", false},
		{"while it pauses for another reason", on(gang.Pausing, gang.ThenMove).with(crashed).generation(1), "", false},
		{"not what an earlier save left", on(gang.Pausing, gang.ThenSave).with(crashed).with(generation(2)).generation(1), "", false},
		{"nor while kept ones are restored", on(gang.Saving, gang.ThenVerify).with(generation(3)).with(kept(gang.Kept{Generation: 1, Wanted: true})).with(seen(time.Hour)).with(func(s *stage) {
			s.input.StoreAt = s.input.Now
		}).generation(3), "1", false},
		{"while it stands", on(gang.Paused, 0).has("0@a paused").with(crashed).with(saves(1, 1)).generation(1), "1", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.s.input.Sights[0].Absent, c.s.input.Sights[1].Absent = time.Hour, time.Hour
			turn := gang.Step(c.s.rec, c.s.input)
			if turn.Record.Phase != gang.Clearing || turn.Record.Losses != 1 {
				t.Fatalf("it is not lost: %s", told(turn))
			}
			if got := keeps(turn.Record); got != c.want || (turn.Hold != "") != c.held {
				t.Errorf("keeps %q, held %q; want %q, held %t", got, turn.Hold, c.want, c.held)
			}
		})
	}
}

// A gang is lost once, however many of its members are.
func TestLostOnce(t *testing.T) {
	hour := func(s *stage) { s.input.Sights[0].Absent, s.input.Sights[1].Absent = time.Hour, time.Hour }
	twice := []string{"0@a running", "0@c running", "1@b running", "1@d running"}
	for _, c := range []struct {
		name string
		s    *stage
	}{
		{"at rest", on(gang.Active, 0).has(twice...)},
		{"resuming", on(gang.Resuming, 0).has(twice...)},
		{"moving", on(gang.Moving, 0).has(twice...)},
		{"shifting", on(gang.Shifting, 0).next("c", "d").has("0@a paused", "1@b paused")},
		{"saving", on(gang.Saving, 0).with(saves(1, 1)).with(hour)},
		{"restoring", on(gang.Restoring, 0).next("a", "b")},
	} {
		if turn := gang.Step(c.s.rec, c.s.input); turn.Record.Losses != 1 || told(turn) != "clearing(wait) !" {
			t.Errorf("%s: %d losses, %s", c.name, turn.Record.Losses, told(turn))
		}
	}
}

// A vjob fails after more losses than it may have, and not before.
func TestLossesAreCounted(t *testing.T) {
	for losses, want := range map[int]gang.Then{gang.DefaultLimits.MaxLosses - 1: gang.ThenWait, gang.DefaultLimits.MaxLosses: gang.ThenFail} {
		s := on(gang.Active, 0).has("0@a running").with(gone(1, hypervisor.CauseCrashed))
		s.rec.Losses = losses
		if got := gang.Step(s.rec, s.input).Record.Then; got != want {
			t.Errorf("after %d losses it goes on to %q, want %q", losses, got, want)
		}
	}
}

// How a member left tells why its gang is lost.
func TestHowMembersAreLost(t *testing.T) {
	absent := func(d time.Duration) func(*stage) { return func(s *stage) { s.input.Sights[1].Absent = d } }
	fenced := func(s *stage) { s.input.Sights[1].Fenced = true }
	for _, c := range []struct {
		name string
		s    *stage
		want string
	}{
		{"its node is down", on(gang.Active, 0).has("0@a running").with(gone(1, hypervisor.CauseCrashed)).with(fenced), "7.1 was on b, which is down"},
		{"it crashed, as word says at once", on(gang.Active, 0).has("0@a running").with(gone(1, hypervisor.CauseCrashed)).with(absent(0)), "7.1 ended: crashed"},
		{"it crashed while it booted", on(gang.Creating, 0).next("a", "b").has("0@a running").with(gone(1, hypervisor.CauseCrashed)), "7.1 ended: crashed"},
		{"there is no word in time", on(gang.Active, 0).has("0@a running").with(absent(gang.DefaultLimits.DepartureGrace)), "7.1 is no longer on b"},
		{"it ended elsewhere, and not in order", on(gang.Shifting, 0).next("", "c").has("0@a running", "1@b paused").with(gone(1, hypervisor.CauseCrashed)), "7.1 was left paused on b"},
	} {
		turn := gang.Step(c.s.rec, c.s.input)
		if told(turn) != "clearing(wait) !" || !strings.Contains(turn.Record.Cause.String(), c.want) {
			t.Errorf("%s: %s because %q", c.name, told(turn), turn.Record.Cause)
		}
	}
}

// What is said of a gang that does not come back from its images names what is to be done.
func TestWhyImagesAreNotUsed(t *testing.T) {
	failed := errors.New("no such machine")
	for _, c := range []struct {
		name string
		s    *stage
		want string
	}{
		{"no room", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").with(retreat).with(tried(0, 2, failed)), "no room"},
		{"refused", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").with(tried(0, 2, failed)), "7.0 is not restored on c: no such machine"},
		{"rotten", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").with(tried(0, 1, hypervisor.ErrBadImage)), "put a good copy of it back and release vjob 7"},
	} {
		turn := gang.Step(c.s.rec, c.s.input)
		if !strings.Contains(turn.Record.Cause.String(), c.want) || turn.Record.Then != gang.ThenSave {
			t.Errorf("%s: %s because %q", c.name, told(turn), turn.Record.Cause)
		}
	}
	s := on(gang.Saved, 0).imaged(0, 1).has("0@c running", "1@d running")
	if turn := gang.Step(s.rec, s.input); !strings.HasPrefix(turn.Hold, "7.0 runs on c") || len(turn.Alarms) != 1 {
		t.Errorf("held because %q, alarms %q", turn.Hold, turn.Alarms)
	}
}

// Images are restorable when there is a complete one of each member that takes part.
func TestRestorable(t *testing.T) {
	one, used := gang.Kept{Generation: 1}, gang.Kept{Generation: 1, Used: true}
	three := gang.Kept{Generation: 3}
	third := func(s *stage) { s.input.Store.Images[3].ID.Generation = 3 }
	for _, c := range []struct {
		name string
		s    *stage
		want int
	}{
		{"both are there", on(gang.Absent, 0).generation(1).with(kept(one)), 1},
		{"the newest", on(gang.Absent, 0).generation(1).generation(3).with(kept(one, three)), 3},
		{"the newest of which all are there", on(gang.Absent, 0).generation(1).generation(2).with(third).with(kept(one, three)), 1},
		{"not when members have run since", on(gang.Absent, 0).generation(1).with(kept(used)), 0},
		{"not half", on(gang.Absent, 0).stored(0, 1, true).stored(1, 1, false).with(kept(one)), 0},
		{"not without a member", on(gang.Absent, 0).generation(1).with(kept(gang.Kept{Generation: 1, Ended: []int{0, 1}})), 0},
	} {
		if got := c.s.rec.Restorable(c.s.input.Store); got != c.want {
			t.Errorf("%s: generation %d, want %d", c.name, got, c.want)
		}
	}
}

// A gang that is restored begins with nothing but what its images say.
func TestRestoredRecord(t *testing.T) {
	s := on(gang.Absent, gang.ThenWait).generation(1).with(saves(2, 2))
	s.rec.Incarnation, s.rec.Boots, s.rec.Skew = 3, 0, time.Second
	s.rec.Kept = []gang.Kept{{Generation: 1, Incarnation: 1, Ended: []int{1}}, {Generation: 2}}
	now := start.Add(time.Hour)
	rec, err := s.rec.Restore(1, s.input.Store, cluster.Because("restored"), now)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%s(%s): %s; %s", rec.Phase, rec.Then, members(rec), keeps(rec)); got != "saving(verify): ,  ended; 1 wanted without [1], 2" {
		t.Errorf("got %s", got)
	}
	if rec.Incarnation != 1 || rec.Boots != 3 || rec.Skew != 0 || !rec.Since.Equal(now) || rec.Cause.Text != "restored" {
		t.Errorf("incarnation %d of %d boots, skew %s, since %s because %q", rec.Incarnation, rec.Boots, rec.Skew, rec.Since, rec.Cause)
	}
	if got := keeps(s.rec); got != "1 without [1], 2" {
		t.Errorf("the record was changed in place: %s", got)
	}
	s.rec.Kept[0].Incarnation = 0
	if rec, _ := s.rec.Restore(1, s.input.Store, cluster.Because("restored"), now); rec.Incarnation != 3 {
		t.Errorf("the incarnation is not known before the images are sealed, and is %d", rec.Incarnation)
	}
	s.rec.Members, s.rec.Kept[0].Ended = make([]gang.Member, 3), []int{0, 2}
	if rec, _ := s.rec.Restore(1, s.input.Store, cluster.Because("restored"), now); members(rec) != " ended, ,  ended" {
		t.Errorf("two had ended: %s", members(rec))
	}
	for name, change := range map[string]func(*stage){
		"under way": func(s *stage) { s.rec.Phase = gang.Clearing },
		"unknown":   func(s *stage) { s.rec.Kept[0].Generation = 5 },
		"used":      func(s *stage) { s.rec.Kept[0].Used = true },
		"half":      func(s *stage) { s.input.Store.Images = s.input.Store.Images[:1]; s.rec.Kept[0].Ended = nil },
	} {
		s := on(gang.Absent, gang.ThenWait).generation(1).with(kept(gang.Kept{Generation: 1})).with(change)
		if rec, err := s.rec.Restore(1, s.input.Store, cluster.Because("restored"), now); err == nil || fmt.Sprintf("%+v", rec) != fmt.Sprintf("%+v", s.rec) {
			t.Errorf("%s: %v, and the record is %+v", name, err, rec)
		}
	}
}

// Images are sealed in whatever order they are listed, by the latest attempt, for as long as
// that takes.
func TestSealing(t *testing.T) {
	sealed := func(incarnation int) func(*stage) {
		return func(s *stage) {
			for rank := range 2 {
				id := image(rank, 1)
				s.input.Sights[rank].Sealed = map[string]*gang.Image{id.String(): {ID: id, Node: "a", Incarnation: incarnation}}
			}
		}
	}
	wanted := []gang.Kept{{Generation: 1, Wanted: true}, {Generation: 3}}
	verify := func() *stage { return on(gang.Saving, gang.ThenVerify).with(generation(3)).with(kept(wanted...)) }
	absent := func(d time.Duration) func(*stage) {
		return func(s *stage) { s.input.Sights[1].Absent, s.input.StoreAt = d, s.input.Now }
	}
	lag := gang.DefaultLimits.StoreLag
	failed := errors.New("x")
	check(t, []row{
		{"the latest attempt", on(gang.Saving, 0).imaged(0).stored(1, 2, true).stored(1, 1, true).stored(1, 3, false), "saving; seal 1@b g1.a2 …: a image, b"},
		{"of this generation", on(gang.Saving, 0).imaged(0).stored(1, 1, true).generation(2), "saving; seal 1@b g1.a1 …: a image, b"},
		{"of the generation that is restored", verify().generation(3).generation(1), "saving(verify); seal 0@a g1.a1; seal 1@a g1.a1 …: a, b"},
		{"that is the second", verify().with(func(s *stage) { slices.Reverse(s.rec.Kept) }).generation(1), "saving(verify); seal 0@a g1.a1; seal 1@a g1.a1 …: a, b"},
		{"again, without a word", on(gang.Saving, 0).imaged(0).stored(1, 1, true).with(tried(1, 3, failed)), "saving; seal 1@b g1.a1 …: a image, b"},
		{"again, and the vjob is held", on(gang.Saving, 0).imaged(0).stored(1, 1, true).with(tried(1, 4, failed)), "saving; seal 1@b g1.a1 ! … held: a image, b"},
		{"what has a copy still is not saved", on(gang.Saving, 0).imaged(0).has("0@a paused", "1@b paused").with(saves(1, 0)), "saving; save 0@a g1.a2; save 1@b g1.a1 …: a image save 2, b save 1 *"},
		{"no turning back before it is known what is left", on(gang.Saving, 0).has("0@a dead", "1@b paused").with(tried(1, 1, hypervisor.ErrNoSpace)), "saving; destroy 0@a …: a, b"},
		{"an image may be shown late", on(gang.Saving, 0).imaged(0).with(saves(1, 1)).with(absent(lag - 1)), "saving …: a image save 1, b save 1"},
		{"but not later than that", on(gang.Saving, 0).imaged(0).with(saves(1, 1)).with(absent(lag)), "clearing(wait) !: a image save 1, b save 1 *"},
		{"one that is restored as well", verify().with(absent(time.Hour)).with(seen(lag - 1)).with(absent(time.Hour)), "saving(verify) …: a, b"},
		{"and no later", verify().with(seen(lag)).with(absent(0)), "clearing(wait) !: a, b *"},
	})
	for _, c := range []struct {
		name string
		s    *stage
		want string
	}{
		{"the incarnation is known", on(gang.Saving, 0).generation(1).with(sealed(5)), "saved 3"},
		{"restored: the images tell", verify().generation(1).with(sealed(1)), "saved 1; 3, 1 wanted"},
		{"restored: the images do not tell", verify().generation(1).with(sealed(0)), "saved 3; 3, 1 wanted"},
	} {
		c.s.rec.Incarnation = 3
		rec, _, _ := c.s.settled()
		got := fmt.Sprintf("%s %d", rec.Phase, rec.Incarnation)
		if text := keeps(rec); text != "" {
			got += "; " + text
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
