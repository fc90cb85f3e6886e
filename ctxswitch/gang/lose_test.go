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

// generation adds complete images of both members, of one generation.
func (s *stage) generation(g int) *stage {
	for rank := range 2 {
		id := hypervisor.ImageID{VM: cluster.VMID{VJob: 7, Rank: rank}, Generation: g, Attempt: 1}
		s.input.Store.Images = append(s.input.Store.Images, hypervisor.Image{ID: id, Node: "a", Complete: true})
	}
	return s
}

// settled takes steps until the record does not change any more, and collects the calls
// and what there is to say.
func (s *stage) settled() (rec gang.Record, calls []string, hold string) {
	rec = s.rec
	for range 20 {
		turn := gang.Step(rec, s.input)
		for _, chain := range turn.Chains {
			for _, c := range chain {
				calls = append(calls, fmt.Sprintf("%s %d", c.Verb, c.VM.Rank))
			}
		}
		if turn.Hold != "" {
			hold = turn.Hold
		}
		rec = turn.Record
		if !turn.Changed {
			return rec, calls, hold
		}
	}
	panic("the gang does not come to rest")
}

// However a gang is lost, no complete image goes that its VMs have not provably used.
func TestImagesOutliveALoss(t *testing.T) {
	crashed := func(s *stage) { s.input.Sights[1].Gone, s.input.Sights[1].Cause = true, hypervisor.CauseCrashed }
	for _, c := range []struct {
		name string
		s    *stage
		kept string // generations, and whether they are used
		held bool
	}{
		{"while it is saved", on(gang.Saving, 0).imaged(0).with(func(s *stage) {
			s.rec.Members[1].Save, s.input.Sights[1].Absent = 1, time.Hour
		}), "[1]", false},
		{"while it is saved anew from where it stood", on(gang.Saving, gang.ThenStand).stored(0, 1, true).with(func(s *stage) {
			s.rec.Generation = 2
			for rank := range 2 {
				s.rec.Members[rank].Save, s.input.Sights[rank].Absent = 1, time.Hour
			}
		}), "[1 2]", false},
		{"while it is brought back", on(gang.Restoring, 0).imaged(0).next("a", "b"), "[1]", false},
		{"while it stands, after a save that was given up", on(gang.Paused, 0).has("0@a paused").stored(0, 1, true).with(crashed).with(func(s *stage) {
			s.rec.Members[0].Save, s.rec.Members[1].Save = 1, 1
		}), "[1]", false},
		{"while it resumes", on(gang.Resuming, 0).has("0@a paused").stored(0, 1, true).stored(1, 1, true).with(crashed).with(func(s *stage) {
			s.rec.Members[0].Save, s.rec.Members[1].Save = 1, 1
		}), "[1 used]", false},
		{"while it is unpaused, after a save that was given up and one that was not begun", on(gang.Resuming, 0).has("0@a paused").stored(0, 1, true).with(crashed).with(func(s *stage) {
			s.rec.Generation = 2
		}), "[1 used 2 used]", false},
		{"while it runs", on(gang.Active, 0).has("0@a running").with(crashed), "[]", false},
		{"images newer than the record", on(gang.Active, 0).generation(2), "[2 newer]", true},
		{"images newer than the record, lost too often", on(gang.Active, 0).generation(2).with(func(s *stage) {
			s.rec.Losses = 9
		}), "[2 newer]", true},
		{"images newer than the record, and older than a disk", on(gang.Active, 0).has("0@a running").with(crashed).generation(2), "[2 used newer]", false},
		{"images of an earlier loss", on(gang.Active, 0).has("0@a running").with(crashed).generation(1).with(func(s *stage) {
			s.rec.Generation, s.rec.UsedUpTo, s.rec.Kept = 2, 2, []gang.Kept{{Generation: 1, Since: start}}
		}), "[1]", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec, calls, hold := c.s.settled()
			var kept []string
			for _, k := range rec.Kept {
				text := fmt.Sprint(k.Generation)
				if k.Used {
					text += " used"
				}
				if k.Newer {
					text += " newer"
				}
				kept = append(kept, text)
			}
			if got := fmt.Sprint(kept); got != c.kept {
				t.Errorf("kept %s, want %s", got, c.kept)
			}
			if rec.Losses == 0 || rec.Phase != gang.Clearing && rec.Phase != gang.Absent {
				t.Errorf("the gang is not lost: %s after %d losses", rec.Phase, rec.Losses)
			}
			if slices.ContainsFunc(calls, func(c string) bool { return strings.HasPrefix(c, "discard") }) {
				t.Errorf("images are deleted: %v", calls)
			}
			if held := hold != ""; held != c.held {
				t.Errorf("held: %v (%s), want %v", held, hold, c.held)
			}
			if c.held && rec.Then != gang.ThenWait {
				t.Errorf("it ends as %q", rec.Then)
			}
		})
	}
}

// A gang is not called lost before the image store was seen: it may hold what is missing.
func TestNoLossWithoutAStore(t *testing.T) {
	s := on(gang.Active, 0).has("0@a running").with(func(s *stage) {
		s.input.Sights[1].Gone, s.input.Sights[1].Cause, s.input.Store = true, hypervisor.CauseCrashed, nil
	})
	turn := gang.Step(s.rec, s.input)
	if turn.Changed || len(turn.Chains) > 0 || !strings.Contains(turn.Wait, "the image store to be seen") {
		t.Errorf("got %s, waiting for %q", told(turn), turn.Wait)
	}
}

// Names of images are used once: generations that the record does not know are skipped.
func TestNewerGenerationsAreSkipped(t *testing.T) {
	s := on(gang.Active, 0).has("0@a running", "1@b running").generation(3)
	rec, calls, _ := s.settled()
	if rec.Generation != 3 || len(rec.Kept) != 1 || !rec.Kept[0].Newer || len(calls) > 0 {
		t.Errorf("generation %d, kept %+v, calls %v", rec.Generation, rec.Kept, calls)
	}
}

// What has ended in order leaves nothing but images that its record never knew.
func TestEndingInOrderKeepsOnlyTheNewer(t *testing.T) {
	s := on(gang.Clearing, gang.ThenTerminate).generation(1).generation(2).generation(9)
	s.rec.Kept = []gang.Kept{{Generation: 1, Newer: true, Wanted: true}, {Generation: 2, Newer: true}} // the first was restored
	s.rec.Generation = 2
	for range 3 {
		turn := gang.Step(s.rec, s.input)
		s.rec = turn.Record
		for _, chain := range turn.Chains {
			for _, c := range chain {
				if c.Verb != hypervisor.Discard || c.Image.Generation != 1 {
					t.Errorf("%s %s", c.Verb, c.Image)
				}
				s.input.Store.Images = slices.DeleteFunc(s.input.Store.Images, func(i hypervisor.Image) bool { return i.ID == c.Image })
			}
		}
	}
	if s.rec.Phase != gang.Absent || len(s.rec.Kept) != 2 || len(s.input.Store.Images) != 4 {
		t.Errorf("%s, kept %+v, %d images", s.rec.Phase, s.rec.Kept, len(s.input.Store.Images))
	}
}

func TestRestore(t *testing.T) {
	kept := gang.Kept{Generation: 1, Incarnation: 1}
	for _, c := range []struct {
		name       string
		change     func(*stage)
		generation int
		err        error
	}{
		{"the newest", func(*stage) {}, 0, nil},
		{"by its number", func(*stage) {}, 1, nil},
		{"of which none is kept", func(*stage) {}, 5, cluster.ErrInvalid},
		{"not while it runs", func(s *stage) { s.rec.Phase = gang.Active }, 0, cluster.ErrConflict},
		{"not what was used", func(s *stage) { s.rec.Kept[0].Used = true }, 1, cluster.ErrInvalid},
		{"not a half", func(s *stage) { s.input.Store.Images = s.input.Store.Images[1:] }, 1, cluster.ErrInvalid},
		{"one had ended before", func(s *stage) {
			s.input.Store.Images, s.rec.Kept[0].Ended = s.input.Store.Images[1:], []int{0}
		}, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := on(gang.Absent, gang.ThenWait).generation(1)
			s.rec.Boots, s.rec.Incarnation, s.rec.Generation, s.rec.Kept = 3, 3, 4, []gang.Kept{kept}
			s.with(c.change)
			rec, err := s.rec.Restore(c.generation, s.input.Store, cluster.Because("restored by ada"), start)
			if !errors.Is(err, c.err) || (err == nil) != (rec.Phase == gang.Saving) {
				t.Fatalf("%s: got %v, want %v", rec.Phase, err, c.err)
			}
			if err == nil && (rec.Incarnation != 1 || rec.Boots != 3 || rec.Generation != 4) {
				t.Errorf("incarnation %d of %d boots, generation %d", rec.Incarnation, rec.Boots, rec.Generation)
			}
		})
	}
}

// A member that had ended before the images were kept has ended as it did, after they are restored.
func TestRestoredMembersHaveEnded(t *testing.T) {
	s := on(gang.Saved, 0).generation(1)
	s.rec.Members[0] = gang.Member{Ended: true, Exit: cluster.Exited(4)}
	rec, err := s.rec.Begin(gang.Aim{Kind: cluster.Stop, Then: gang.ThenWait}, start)
	if err != nil {
		t.Fatal(err)
	}
	rec.Phase, rec.Members = gang.Absent, make([]gang.Member, 2)
	restored, err := rec.Restore(1, s.input.Store, cluster.Because("restored by ada"), start)
	if m := restored.Members[0]; err != nil || !m.Ended || m.Exit != cluster.Exited(4) || restored.Members[1].Ended {
		t.Errorf("%+v, %v", restored.Members, err)
	}
	rec.Kept[0].Exits = nil // in records of older versions
	if restored, err = rec.Restore(1, s.input.Store, cluster.Because("restored by ada"), start); restored.Members[0].Exit != cluster.UnknownExit {
		t.Errorf("%+v, %v", restored.Members, err)
	}
}

// Restored images are sealed once more; then the gang is saved in them, and a later boot
// or save has a number of its own.
func TestRestoredImagesAreSealed(t *testing.T) {
	s := on(gang.Absent, gang.ThenWait).generation(1)
	s.rec.Boots, s.rec.Incarnation, s.rec.Generation = 3, 3, 4
	s.rec.Kept = []gang.Kept{{Generation: 1}, {Generation: 3}} // its incarnation is known from the images alone
	rec, err := s.rec.Restore(0, s.input.Store, cluster.Because("restored by ada"), start)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := told(gang.Step(rec, s.input)), "saving(verify); seal 0@a g1.a1; seal 1@a g1.a1"; got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	for rank := range 2 {
		id := image(rank, 1)
		s.input.Sights[rank].Sealed = map[string]*gang.Image{id.String(): {ID: id, Node: "a", Checksum: "c", Incarnation: 2}}
	}
	s.rec = rec
	rec, calls, _ := s.settled()
	if rec.Phase != gang.Saved || rec.Incarnation != 2 || rec.Boots != 3 || keeps(rec) != "1 wanted, 3" || len(calls) > 0 {
		t.Errorf("%s, incarnation %d of %d boots, keeps %s, calls %v", rec.Phase, rec.Incarnation, rec.Boots, keeps(rec), calls)
	}
	s.rec, err = rec.Begin(gang.Aim{Kind: cluster.Resume, Next: []cluster.NodeID{"a", "b"}}, start)
	if err != nil || s.rec.Phase != gang.Restoring {
		t.Errorf("it does not resume: %v", err)
	}
	for rank, node := range []cluster.NodeID{"a", "b"} {
		s.input.Sights[rank].Found = []gang.Found{{Node: node, Copy: hypervisor.Copy{State: hypervisor.CopyRunning, Stamp: hypervisor.Stamp{Incarnation: 2}}}}
	}
	s.rec.Phase = gang.Resuming
	if rec, _, _ = s.settled(); rec.Phase != gang.Active || keeps(rec) != "3" {
		t.Errorf("%s, keeps %s: what every member runs from is kept no more", rec.Phase, keeps(rec))
	}
}
