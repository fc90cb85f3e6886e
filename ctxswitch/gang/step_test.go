package gang_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

var start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// stage builds an input for a gang of two on the nodes a and b.
type stage struct {
	rec   gang.Record
	input gang.Input
	full  bool // no room and no slot for any call
}

// on puts the record into a phase, a minute ago, with its members on a and b.
func on(phase gang.Phase, then gang.Then) *stage {
	job := &cluster.VJob{ID: 7, Name: "cfd", Terms: &cluster.Terms{}}
	for rank := range 2 {
		job.VMs = append(job.VMs, cluster.VM{
			ID: cluster.VMID{VJob: 7, Rank: rank}, Reserved: cluster.Resources{CPU: cluster.CPU, Memory: 100},
		})
	}
	s := &stage{rec: gang.Record{
		VJob: 7, Phase: phase, Then: then, Since: start, Boots: 1, Incarnation: 1, Generation: 1, Cause: cluster.Because("test"),
		Members: []gang.Member{{Node: "a"}, {Node: "b"}},
	}}
	switch {
	case phase == gang.Saving && then != gang.ThenVerify, phase == gang.Pausing && then == gang.ThenSave,
		phase == gang.Saved, phase == gang.Restoring, phase == gang.Paused, phase == gang.Resuming && then != gang.ThenBack:
	default:
		s.rec.UsedUpTo = 1
	}
	limits := gang.DefaultLimits
	limits.MaxTries = 2
	s.input = gang.Input{
		Now: start.Add(time.Minute), VJob: job, Sights: make([]gang.Sight, 2), Store: &hypervisor.Store{}, StoreAt: start.Add(time.Minute),
		Limits: limits, Epoch: 1,
		Space: func(map[cluster.NodeID]cluster.MiB) string { return "" },
	}
	s.input.May = func(hypervisor.Call) bool { return !s.full }
	for rank := range s.input.Sights {
		s.input.Sights[rank].Absent = time.Minute // of those without a copy
	}
	return s
}

// has shows copies: "0@a running", "1@b paused saving", "0@a running old".
func (s *stage) has(copies ...string) *stage {
	for _, text := range copies {
		words := strings.Fields(text)
		var rank int
		var node string
		if _, err := fmt.Sscanf(words[0], "%d@%s", &rank, &node); err != nil {
			panic(err)
		}
		c := hypervisor.Copy{VM: s.input.VJob.VMs[rank].ID, Stamp: hypervisor.Stamp{Incarnation: s.rec.Incarnation}}
		for _, w := range words[1:] {
			switch w {
			case "running":
				c.State = hypervisor.CopyRunning
			case "paused":
				c.State = hypervisor.CopyPaused
			case "dead":
				c.State = hypervisor.CopyDead
			case "saving":
				c.Job = hypervisor.JobSaving
			case "incoming":
				c.Job = hypervisor.JobIncoming
			case "outgoing":
				c.Job = hypervisor.JobOutgoing
			case "restoring":
				c.Job = hypervisor.JobRestoring
			case "unknown":
				c.Job = hypervisor.JobUnknown
			case "old":
				c.Stamp.Incarnation--
			case "newer":
				c.Stamp.Incarnation++
			default:
				panic(w)
			}
		}
		s.input.Sights[rank].Found = append(s.input.Sights[rank].Found, gang.Found{Node: cluster.NodeID(node), Copy: c})
	}
	return s
}

func (s *stage) with(change func(*stage)) *stage { change(s); return s }

func (s *stage) next(a, b cluster.NodeID) *stage {
	s.rec.Members[0].Next, s.rec.Members[1].Next = a, b
	return s
}

func image(rank, attempt int) hypervisor.ImageID {
	return hypervisor.ImageID{VM: cluster.VMID{VJob: 7, Rank: rank}, Generation: 1, Attempt: attempt}
}

// imaged gives members sealed images, in the record and in the store.
func (s *stage) imaged(ranks ...int) *stage {
	for _, rank := range ranks {
		id := image(rank, 1)
		s.rec.Members[rank].Image = &gang.Image{ID: id, Node: s.rec.Members[rank].Node, Checksum: "c"}
		s.stored(rank, 1, true)
	}
	return s
}

func (s *stage) stored(rank, attempt int, complete bool) *stage {
	s.input.Store.Images = append(s.input.Store.Images, hypervisor.Image{
		ID: image(rank, attempt), Node: s.rec.Members[rank].Node, Complete: complete,
	})
	return s
}

// told is a turn in a few words: the phase it leads to, and its chains.
func told(t gang.Turn) string {
	var b strings.Builder
	b.WriteString(t.Record.Phase.String())
	if t.Record.Then != gang.ThenNothing {
		b.WriteString("(" + t.Record.Then.String() + ")")
	}
	for _, chain := range t.Chains {
		var calls []string
		for _, c := range chain {
			text := fmt.Sprintf("%s %d@%s", c.Verb, c.VM.Rank, c.Node)
			if c.To != "" {
				text += ">" + string(c.To)
			}
			if c.Image != (hypervisor.ImageID{}) {
				text += fmt.Sprintf(" g%d.a%d", c.Image.Generation, c.Image.Attempt)
			}
			calls = append(calls, text)
		}
		b.WriteString("; " + strings.Join(calls, " then "))
	}
	if len(t.Alarms) > 0 {
		b.WriteString(" !")
	}
	return b.String()
}

func TestStep(t *testing.T) {
	busy := func(rank int) func(*stage) { return func(s *stage) { s.input.Sights[rank].Busy = true } }
	blind := func(rank int) func(*stage) {
		return func(s *stage) { s.input.Sights[rank].Blind = []cluster.NodeID{"b"} }
	}
	gone := func(rank int, cause hypervisor.Cause) func(*stage) {
		return func(s *stage) { s.input.Sights[rank].Gone, s.input.Sights[rank].Cause = true, cause }
	}
	tried := func(rank, n int, err error) func(*stage) {
		return func(s *stage) { s.input.Sights[rank].Tries, s.input.Sights[rank].Err = n, err }
	}
	retreat := func(s *stage) { s.input.Retreat = "no room" }
	skew := func(d time.Duration) func(*stage) { return func(s *stage) { s.input.Skew = d } }
	saved := func(rank, attempt int) func(*stage) {
		return func(s *stage) { s.rec.Members[rank].Save = attempt }
	}
	sealed := func(rank int) func(*stage) {
		return func(s *stage) {
			id := image(rank, 1)
			s.input.Sights[rank].Sealed = map[string]*gang.Image{id.String(): {ID: id, Node: "a", Checksum: "c"}}
		}
	}
	absent := func(rank int, d time.Duration) func(*stage) {
		return func(s *stage) { s.input.Sights[rank].Absent = d }
	}
	restored := func(attempts int) func(*stage) { return func(s *stage) { s.rec.Restores = attempts } }
	revoked := func(rank, attempt int) func(*stage) {
		return func(s *stage) { s.input.Sights[rank].Revoked = attempt }
	}
	led := func(s *stage) { s.input.VJob.LeaderEnds = true }
	full := func(s *stage) { s.full = true }
	noSpace := func(s *stage) {
		s.input.Space = func(map[cluster.NodeID]cluster.MiB) string { return "full" }
	}

	for _, c := range []struct {
		name string
		s    *stage
		want string
	}{
		// Booting.
		{"boots both", on(gang.Creating, 0).next("a", "b"), "creating; boot 0@a; boot 1@b"},
		{"boots when there is room", on(gang.Creating, 0).next("a", "b").with(full), "creating"},
		{"waits for the second", on(gang.Creating, 0).next("a", "b").has("0@a running").with(busy(1)), "creating"},
		{"both run", on(gang.Creating, 0).next("a", "b").has("0@a running", "1@b running"), "active"},
		{"gives a boot up", on(gang.Creating, 0).next("a", "b").has("0@a running").with(tried(1, 2, errors.New("no"))), "clearing(wait)"},
		{"an early end is an end", on(gang.Creating, 0).next("a", "b").has("0@a running").with(gone(1, hypervisor.CauseShutdown)), "creating"},

		// Running.
		{"runs", on(gang.Active, 0).has("0@a running", "1@b running"), "active"},
		{"one guest has ended", on(gang.Active, 0).has("0@a running").with(gone(1, hypervisor.CauseShutdown)), "active"},
		{"all guests have ended", on(gang.Active, 0).with(gone(0, hypervisor.CauseShutdown)).with(gone(1, hypervisor.CauseShutdown)), "clearing(complete)"},
		{"all have ended, and one has failed", on(gang.Active, 0).with(exited(0, 0)).with(exited(1, 3)), "clearing(unsuccessful)"},
		{"all have ended well", on(gang.Active, 0).with(exited(0, 0)).with(exited(1, 0)), "clearing(complete)"},
		{"the failure of one that suffices", on(gang.Active, 0).with(success(cluster.AnySucceeds)).with(exited(0, 0)).with(exited(1, 3)), "clearing(complete)"},
		{"a failure while the other runs", on(gang.Active, 0).has("0@a running").with(exited(1, 3)), "active"},
		{"the failure of the one that works for all", on(gang.Active, 0).has("1@b running").with(led).with(exited(0, 3)), "clearing(unsuccessful)"},
		{"a command that told nothing", on(gang.Active, 0).with(commanded).with(gone(0, hypervisor.CauseShutdown)).with(exited(1, 0)), "clearing(unsuccessful)"},
		{"the one that works for all has ended", on(gang.Active, 0).has("1@b running").with(led).with(gone(0, hypervisor.CauseShutdown)), "clearing(complete)"},
		{"one that does not has ended", on(gang.Active, 0).has("0@a running").with(led).with(gone(1, hypervisor.CauseShutdown)), "active"},
		{"it has ended while the other boots", on(gang.Creating, 0).next("a", "b").with(led).with(gone(0, hypervisor.CauseShutdown)).with(busy(1)), "clearing(complete)"},
		{"it has ended while the gang is to be paused", on(gang.Pausing, gang.ThenSave).has("1@b running").with(led).with(gone(0, hypervisor.CauseShutdown)), "clearing(complete)"},
		{"a guest crashed: the gang is lost as a whole", on(gang.Active, 0).has("0@a running").with(gone(1, hypervisor.CauseCrashed)), "clearing(wait) !"},
		{"absence is not an end", on(gang.Active, 0).has("0@a running"), "clearing(wait) !"},
		{"a look can be faster than the word of an end", on(gang.Active, 0).has("0@a running").with(func(s *stage) { s.input.Sights[1].Absent = 0 }), "active"},
		{"lost too often", on(gang.Active, 0).has("0@a running").with(func(s *stage) { s.rec.Losses = 3 }), "clearing(fail) !"},
		{"a late pause is undone", on(gang.Active, 0).has("0@a paused", "1@b running"), "active; unpause 0@a"},
		{"a migration ended by itself", on(gang.Active, 0).has("0@c running", "1@b running"), "active"},
		{"a cut migration left a paused source", on(gang.Active, 0).has("0@a paused", "0@c running", "1@b running"), "active; destroy 0@a"},
		{"a cut migration runs on both ends", on(gang.Active, 0).has("0@a running", "0@c running", "1@b running"), "clearing(wait) !"},
		{"blind is still", on(gang.Active, 0).has("0@a running").with(blind(1)), "active"},
		{"a stale copy goes", on(gang.Active, 0).has("0@a running", "0@c running old", "1@b running"), "active; destroy 0@c"},
		{"a copy that no intent explains stays", on(gang.Active, 0).has("0@a running", "0@c running newer", "1@b running"), "active !"},
		{"used images go", on(gang.Active, 0).has("0@a running", "1@b running").stored(0, 1, true), "active; discard 0@a g1.a1"},

		// Pausing (RELIABILITY, scenarios 1 to 4).
		{"pauses in rank order", on(gang.Pausing, gang.ThenSave).has("0@a running", "1@b running"), "pausing(save); pause 0@a then pause 1@b"},
		{"not while another job is under way", on(gang.Pausing, gang.ThenSave).has("0@a running", "1@b running unknown").with(func(s *stage) { s.input.Now = start }), "pausing(save)"},
		{"and not for long", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b running unknown"), "resuming(back)"},
		{"goes on in order", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b running"), "pausing(save); pause 1@b"},
		{"no member is paused twice", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b paused"), "saving"},
		{"too much skew already: no other member is paused", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b running").with(skew(time.Minute)), "resuming(back)"},
		{"a pause that takes too long", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b running").with(busy(1)), "resuming(back)"},
		{"and those that stand go on beside it", on(gang.Resuming, gang.ThenBack).has("0@a paused", "1@b running").with(busy(0)), "resuming(back); unpause 0@a"},
		{"but are asked once", on(gang.Resuming, gang.ThenBack).has("0@a paused", "1@b running").with(busy(0)).with(tried(0, 1, nil)), "resuming(back)"},
		{"moves on paused", on(gang.Pausing, gang.ThenMove).has("0@a paused", "1@b paused").next("c", ""), "moving"},
		{"too much skew", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b paused").with(skew(time.Minute)), "resuming(back)"},
		{"a silent node", on(gang.Pausing, gang.ThenSave).has("0@a paused").with(blind(1)), "resuming(back)"},
		{"and what is seen goes on", on(gang.Resuming, gang.ThenBack).has("0@a paused").with(blind(1)), "resuming(back); unpause 0@a"},
		{"a guest crashes", on(gang.Pausing, gang.ThenSave).has("0@a paused").with(gone(1, hypervisor.CauseCrashed)), "clearing(wait) !"},
		{"no space, no member is paused", on(gang.Pausing, gang.ThenSave).has("0@a running", "1@b running").with(noSpace), "resuming(back)"},

		// Saving (5-11).
		{"saves in parallel", on(gang.Saving, 0).has("0@a paused", "1@b paused"), "saving; save 0@a g1.a1; save 1@b g1.a1"},
		{"adopts a save under way", on(gang.Saving, 0).has("0@a paused saving", "1@b paused").with(saved(0, 1)), "saving; save 1@b g1.a1"},
		{"seals what is written", on(gang.Saving, 0).has("1@b paused").with(saved(0, 1)).with(busy(1)).stored(0, 1, true), "saving; seal 0@a g1.a1"},
		{"a new attempt has a new name", on(gang.Saving, 0).has("0@a paused", "1@b paused").with(saved(0, 1)).with(busy(1)).stored(0, 1, false), "saving; save 0@a g1.a2"},
		{"records the seal", on(gang.Saving, 0).has("1@b paused").with(saved(0, 1)).with(busy(1)).stored(0, 1, true).with(sealed(0)), "saving"},
		{"all sealed", on(gang.Saving, 0).imaged(0, 1), "saved"},
		{"not before all are sealed", on(gang.Saving, 0).imaged(0).has("1@b paused").with(busy(1)), "saving"},
		{"disk full: back as a whole", on(gang.Saving, 0).imaged(0).has("1@b paused").with(tried(1, 1, hypervisor.ErrNoSpace)), "restoring"},
		{"but not while another is saved", on(gang.Saving, 0).has("0@a paused", "1@b paused").with(busy(0)).with(tried(1, 1, hypervisor.ErrNoSpace)), "saving"},
		{"what is written is sealed before the gang goes back", on(gang.Saving, 0).has("1@b paused").with(saved(0, 1)).stored(0, 1, true).with(tried(1, 1, hypervisor.ErrNoSpace)), "saving; seal 0@a g1.a1"},
		{"no more saves begin", on(gang.Saving, 0).has("0@a paused", "1@b paused").with(tried(1, 1, hypervisor.ErrNoSpace)), "restoring"},
		{"memory gone: lost", on(gang.Saving, 0).imaged(0).with(saved(1, 1)).stored(1, 1, false).with(absent(1, time.Hour)), "clearing(wait) !"},
		{"a listing may be older than the image", on(gang.Saving, 0).imaged(0).with(saved(1, 1)), "saving"},
		{"also one that ended before the image was due", on(gang.Saving, 0).imaged(0).with(saved(1, 1)).with(absent(1, time.Hour)).with(func(s *stage) { s.input.StoreAt = start.Add(-time.Hour) }), "saving"},
		{"a seal that fails is tried again for as long as it takes", on(gang.Saving, 0).imaged(0).with(saved(1, 1)).stored(1, 1, true).with(tried(1, 50, errors.New("no space"))), "saving; seal 1@b g1.a1 !"},
		{"an image that is not what was sealed stays", on(gang.Saving, 0).imaged(0).with(saved(1, 1)).stored(1, 1, true).with(tried(1, 1, hypervisor.ErrBadImage)), "saving; seal 1@b g1.a1 !"},
		{"what is left of a guest that died while it was saved goes, its image is looked for", on(gang.Saving, 0).imaged(0).with(saved(1, 1)).has("1@b dead"), "saving; destroy 1@b"},
		{"the store must be seen first", on(gang.Saving, 0).imaged(0).with(saved(1, 1)).with(func(s *stage) { s.input.Store = nil }), "saving"},

		// Paused: a suspension that stays in memory.
		{"needs no space", on(gang.Pausing, gang.ThenStand).has("0@a running", "1@b running").with(noSpace), "pausing(stand); pause 0@a then pause 1@b"},
		{"all stand", on(gang.Pausing, gang.ThenStand).has("0@a paused", "1@b paused"), "paused"},
		{"not too far apart", on(gang.Pausing, gang.ThenStand).has("0@a paused", "1@b paused").with(skew(time.Minute)), "resuming(back)"},
		{"not beside a silent node", on(gang.Pausing, gang.ThenStand).has("0@a paused").with(blind(1)), "resuming(back)"},
		{"stands", on(gang.Paused, 0).has("0@a paused", "1@b paused"), "paused"},
		{"stands beside a silent node", on(gang.Paused, 0).has("0@a paused").with(blind(1)), "paused"},
		{"no member continues alone", on(gang.Paused, 0).has("0@a running", "1@b paused"), "paused; pause 0@a !"},
		{"nor while a call is open", on(gang.Paused, 0).has("0@a running", "1@b paused").with(busy(0)), "paused"},
		{"a member dies standing: lost as a whole", on(gang.Paused, 0).has("0@a dead", "1@b paused"), "clearing(wait) !"},
		{"a member is gone: lost as a whole", on(gang.Paused, 0).has("1@b paused").with(gone(0, hypervisor.CauseCrashed)), "clearing(wait) !"},
		{"word of an end comes late", on(gang.Paused, 0).has("1@b paused").with(gone(0, hypervisor.CauseShutdown)), "paused"},
		{"no half an image stays beside it", on(gang.Paused, 0).has("0@a paused", "1@b paused").stored(0, 1, false), "paused; discard 0@a g1.a1"},
		{"a whole one does: its VM does not run", on(gang.Paused, 0).has("0@a paused", "1@b paused").stored(0, 1, true), "paused"},
		{"is saved as it stands", on(gang.Saving, gang.ThenStand).has("0@a paused", "1@b paused"), "saving(stand); save 0@a g1.a1; save 1@b g1.a1"},
		{"not without space", on(gang.Saving, gang.ThenStand).has("0@a paused", "1@b paused").with(noSpace), "paused"},
		{"space is asked for before the first save only", on(gang.Saving, gang.ThenStand).has("0@a paused", "1@b paused saving").with(saved(1, 1)).with(noSpace), "saving(stand); save 0@a g1.a1"},
		{"saved from where it stood", on(gang.Saving, gang.ThenStand).imaged(0, 1), "saved"},
		{"disk full: as it stood, as a whole", on(gang.Saving, gang.ThenStand).imaged(0).with(saved(0, 1)).has("1@b paused").with(tried(1, 1, hypervisor.ErrNoSpace)), "restoring(stand)"},
		{"what was saved comes back", on(gang.Restoring, gang.ThenStand).imaged(0).next("a", "b").has("1@b paused"), "restoring(stand); restore 0@a g1.a1"},
		{"and stands, it does not run", on(gang.Restoring, gang.ThenStand).imaged(0).next("a", "b").has("0@a paused", "1@b paused"), "paused"},
		{"ends standing", on(gang.Clearing, gang.ThenTerminate).has("0@a paused", "1@b paused"), "clearing(terminate); destroy 0@a; destroy 1@b"},

		// Saved (12-14).
		{"rests", on(gang.Saved, 0).imaged(0, 1), "saved"},
		{"a late paused copy goes", on(gang.Saved, 0).imaged(0, 1).has("0@c paused"), "saved; destroy 0@c"},
		{"unless it may be all that is left", on(gang.Saved, 0).imaged(0, 1).has("0@c paused").with(func(s *stage) { s.input.Store.Images = s.input.Store.Images[1:] }), "saved"},
		{"a running one is only stopped", on(gang.Saved, 0).imaged(0, 1).has("0@c running"), "saved; pause 0@c !"},
		{"and stays there", on(gang.Saved, 0).imaged(0, 1).has("0@c paused").with(func(s *stage) { s.rec.Members[0].Node = "c" }), "saved"},
		{"unused attempts go", on(gang.Saved, 0).imaged(0, 1).stored(0, 2, false), "saved; discard 0@a g1.a2"},

		// Restoring (15-19).
		{"restores in parallel", on(gang.Restoring, 0).imaged(0, 1).next("c", "d"), "restoring; restore 0@c g1.a1; restore 1@d g1.a1"},
		{"keeps one that is there", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").has("0@c paused"), "restoring; restore 1@d g1.a1"},
		{"what is left of a guest that crashed there goes", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").has("0@c dead", "1@d paused"), "restoring; destroy 0@c"},
		{"removes the old link before a new attempt", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").has("0@c paused").with(tried(1, 1, errors.New("x"))), "restoring; revoke 1@b g1.a1 then restore 1@d g1.a1"},
		{"all paused: marks the images as used", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").has("0@c paused", "1@d paused"), "resuming"},
		{"bit rot: back to the images, and held", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").with(tried(0, 1, hypervisor.ErrBadImage)), "restoring(save) !"},
		{"a node refuses a whole image: back to the images", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").with(tried(0, 2, hypervisor.ErrRefused)), "restoring(save)"},
		{"half restored is not restored", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").has("0@c paused", "1@d paused restoring"), "restoring"},
		{"nor is one with an unknown job", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").has("0@c paused", "1@d paused unknown"), "restoring"},
		{"one that loads for far too long is ended", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").has("0@c paused", "1@d paused restoring").with(func(s *stage) { s.input.Sights[1].Late = true }), "restoring; abort 1@d"},
		{"turned back while it was saved: it tries again", on(gang.Restoring, 0).imaged(0).next("a", "b").has("1@b paused").with(tried(0, 3, hypervisor.ErrRefused)), "restoring; revoke 0@a g1.a1 then restore 0@a g1.a1"},
		{"and then is saved as a whole after all", on(gang.Restoring, 0).imaged(0).next("a", "b").has("1@b paused").with(tried(0, 6, hypervisor.ErrRefused)), "saving !"},
		{"one member impossible: back to the images", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").has("0@c paused").with(tried(1, 2, errors.New("x"))), "restoring(save)"},
		{"first no link", on(gang.Restoring, gang.ThenSave).imaged(0, 1).next("c", "d").has("0@c paused").with(restored(1)), "restoring(save); revoke 0@a g1.a1; revoke 1@b g1.a1"},
		{"a revoke that failed is repeated", on(gang.Restoring, gang.ThenSave).imaged(0, 1).next("c", "d").has("0@c paused").with(restored(1)).with(tried(0, 1, errors.New("stale"))).with(revoked(1, 1)), "restoring(save); revoke 0@a g1.a1"},
		{"half a copy goes as well", on(gang.Restoring, gang.ThenSave).imaged(0, 1).next("c", "d").has("0@c paused restoring"), "restoring(save); destroy 0@c"},
		{"then no copy", on(gang.Restoring, gang.ThenSave).imaged(0, 1).next("c", "d").has("0@c paused").with(tried(0, 1, nil)).with(tried(1, 1, nil)), "restoring(save); destroy 0@c"},
		{"then saved again", on(gang.Restoring, gang.ThenSave).imaged(0, 1).next("c", "d").with(tried(0, 2, nil)).with(tried(1, 1, nil)), "saved"},

		// Resuming (20-22).
		{"resumes in rank order", on(gang.Resuming, 0).has("0@a paused", "1@b paused"), "resuming; unpause 0@a then unpause 1@b"},
		{"not past a member with an unknown job", on(gang.Resuming, 0).has("0@a paused unknown", "1@b paused"), "resuming"},
		{"but past it after an aborted pause", on(gang.Resuming, gang.ThenBack).has("0@a paused unknown", "1@b paused"), "resuming(back); unpause 1@b"},
		{"never restores", on(gang.Resuming, 0).has("0@a running", "1@b paused"), "resuming; unpause 1@b"},
		{"a resumed member dies: lost", on(gang.Resuming, 0).has("1@b paused").with(gone(0, hypervisor.CauseCrashed)), "clearing(wait) !"},
		{"a lock in the way", on(gang.Resuming, 0).has("0@a running", "1@b paused").with(tried(1, 1, hypervisor.ErrLocked)), "resuming; pause 0@a"},
		{"and is tried again by all", on(gang.Resuming, 0).has("0@a paused", "1@b paused").with(tried(1, 1, hypervisor.ErrLocked)), "resuming; unpause 0@a then unpause 1@b !"},
		{"all run", on(gang.Resuming, 0).has("0@a running", "1@b running"), "active"},

		// Moving and shifting (23-28).
		{"moves paused members", on(gang.Moving, 0).next("c", "").has("0@a paused", "1@b paused"), "moving; migrate 0@a>c"},
		{"waits for both ends", on(gang.Moving, 0).next("c", "").has("0@a paused outgoing", "0@c paused incoming", "1@b paused"), "moving"},
		{"a copy comes in that no node sends: it ends", on(gang.Moving, 0).next("c", "").has("0@a paused", "0@c paused incoming", "1@b paused"), "moving; abort 0@c"},
		{"unless the job of the source is not known", on(gang.Moving, 0).next("c", "").has("0@a paused unknown", "0@c paused incoming", "1@b paused"), "moving"},
		{"two paused copies: the source goes", on(gang.Moving, 0).next("c", "").has("0@a paused", "0@c paused", "1@b paused"), "moving; destroy 0@a"},
		{"arrived", on(gang.Moving, 0).next("c", "").has("0@c paused", "1@b paused"), "resuming"},
		{"stays where it is after too many tries", on(gang.Moving, 0).next("c", "").has("0@a paused", "1@b paused").with(tried(0, 2, errors.New("x"))), "resuming !"},
		{"a live migration that does not end is cancelled at its source", on(gang.Shifting, 0).next("a", "").has("0@a paused incoming", "0@c running outgoing", "1@b running").with(func(s *stage) { s.input.Sights[0].Late = true }), "shifting; abort 0@c"},
		{"shifts running members", on(gang.Shifting, 0).next("c", "").has("0@a running", "1@b running"), "shifting; migrate 0@a>c"},
		{"a shift left it paused: it may have run elsewhere", on(gang.Shifting, 0).next("c", "").has("0@a paused", "1@b running"), "clearing(wait) !"},
		{"it ended its work elsewhere", on(gang.Shifting, 0).next("c", "").has("0@a paused", "1@b running").with(gone(0, hypervisor.CauseShutdown)), "shifting; destroy 0@a"},
		{"shifted", on(gang.Shifting, 0).next("c", "").has("0@c running", "1@b running"), "active"},
		{"lost on both ends", on(gang.Moving, 0).next("c", "").has("1@b paused"), "clearing(wait) !"},
		{"gives way", on(gang.Moving, 0).next("c", "").has("0@a paused", "1@b paused").with(retreat), "resuming !"},

		// Clearing.
		{"asks first", on(gang.Clearing, gang.ThenTerminate).has("0@a running", "1@b paused").with(func(s *stage) { s.input.Now = start }), "clearing(terminate); shutdown 0@a; destroy 1@b"},
		{"then insists", on(gang.Clearing, gang.ThenTerminate).has("0@a running").with(tried(0, 1, nil)), "clearing(terminate); destroy 0@a"},
		{"is not polite with what is lost", on(gang.Clearing, gang.ThenWait).has("0@a running"), "clearing(wait); destroy 0@a"},
		{"the images that it is saved in go as well", on(gang.Clearing, gang.ThenTerminate).imaged(0, 1), "clearing(terminate); discard 0@a g1.a1; discard 1@b g1.a1"},
		{"images last", on(gang.Clearing, gang.ThenTerminate).stored(0, 1, true), "clearing(terminate); discard 0@a g1.a1"},
		{"also those that it was saved in, seen or not", on(gang.Clearing, gang.ThenTerminate).imaged(0, 1).stored(0, 1, true).with(func(s *stage) { s.rec.Restores = 0 }), "clearing(terminate); discard 0@a g1.a1; discard 1@b g1.a1"},
		{"nothing left", on(gang.Clearing, gang.ThenTerminate), "absent(terminate)"},
		{"while it waits, images that are kept no more go", on(gang.Absent, gang.ThenWait).stored(0, 1, true), "absent(wait); discard 0@a g1.a1"},
		{"and others stay", on(gang.Absent, gang.ThenWait).stored(0, 1, true).with(func(s *stage) { s.rec.Kept = []gang.Kept{{Generation: 1}} }), "absent(wait)"},
		{"a silent node may hold one", on(gang.Clearing, gang.ThenTerminate).with(blind(0)), "clearing(terminate)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := told(gang.Step(c.s.rec, c.s.input)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Step neither changes the record that it was given nor depends on being asked
// once: the invariant that makes a restart the same as a reply.
func TestStepIsPure(t *testing.T) {
	s := on(gang.Saving, 0).has("0@a paused", "1@b paused")
	before := fmt.Sprintf("%+v", s.rec)
	first, second := told(gang.Step(s.rec, s.input)), told(gang.Step(s.rec, s.input))
	if first != second {
		t.Errorf("two answers to one question:\n%s\n%s", first, second)
	}
	if after := fmt.Sprintf("%+v", s.rec); after != before {
		t.Errorf("the record was changed in place:\n%s\n%s", before, after)
	}
}

// A gang that is paused in memory continues or is saved where it is: no member moves, and none
// runs before it is saved.
func TestBeginFromMemory(t *testing.T) {
	for _, c := range []struct {
		from gang.Phase
		kind cluster.ActionKind
		want string
	}{
		{gang.Active, cluster.Pause, "pausing(stand) g1"},
		{gang.Paused, cluster.Unpause, "resuming() g1"},
		{gang.Paused, cluster.Suspend, "saving(stand) g2"},
		{gang.Paused, cluster.Stop, "clearing(terminate) g1"},
	} {
		s := on(c.from, 0)
		rec, err := s.rec.Begin(gang.Aim{Kind: c.kind, Next: []cluster.NodeID{"a", ""}, Then: gang.ThenTerminate}, start)
		if got := fmt.Sprintf("%s(%s) g%d", rec.Phase, rec.Then, rec.Generation); err != nil || got != c.want {
			t.Errorf("%s of a gang that is %s: got %s (%v), want %s", c.kind, c.from, got, err, c.want)
		}
		if next := rec.Members[0].Next; next != "" && (c.kind == cluster.Pause || c.kind == cluster.Unpause) {
			t.Errorf("%s of a gang that is %s: rank 0 goes to %q", c.kind, c.from, next)
		}
	}
}

func TestBeginRefusesTheWrongPhase(t *testing.T) {
	for phase, kinds := range map[gang.Phase][]cluster.ActionKind{
		gang.Saved:  {cluster.Boot, cluster.Suspend, cluster.Migrate, cluster.Pause, cluster.Unpause},
		gang.Paused: {cluster.Boot, cluster.Resume, cluster.Migrate, cluster.Pause},
		gang.Active: {cluster.Boot, cluster.Resume, cluster.Unpause},
	} {
		s := on(phase, 0)
		for _, kind := range kinds {
			if _, err := s.rec.Begin(gang.Aim{Kind: kind}, start); !errors.Is(err, cluster.ErrConflict) {
				t.Errorf("%s of a gang that is %s: got %v, want a conflict", kind, phase, err)
			}
		}
	}
}
