package gang_test

import (
	"cmp"
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

// What takes room or a transfer slot is asked for with the VM and the nodes that it is
// for, and made only when it is granted.
func TestRoomIsAskedForEachCall(t *testing.T) {
	for _, c := range []struct {
		name string
		s    *stage
		want string
	}{
		{"boot", on(gang.Creating, 0).next("c", "d"), "boot 7.0@c; boot 7.1@d"},
		{"save", on(gang.Saving, 0).has("0@a paused", "1@b paused"), "save 7.0@a; save 7.1@b"},
		{"restore", on(gang.Restoring, 0).imaged(0, 1).next("c", "d"), "restore 7.0@c; restore 7.1@d"},
		{"migrate", on(gang.Moving, 0).next("c", "d").has("0@a paused", "1@b paused"), "migrate 7.0@a>c; migrate 7.1@b>d"},
		{"nothing for a pause", on(gang.Pausing, gang.ThenSave).has("0@a running", "1@b running"), ""},
	} {
		for _, grant := range []bool{true, false} {
			var asked []string
			c.s.input.May = func(call hypervisor.Call) bool {
				text := fmt.Sprintf("%s %d.%d@%s", call.Verb, call.VM.VJob, call.VM.Rank, call.Node)
				if call.To != "" {
					text += ">" + string(call.To)
				}
				asked = append(asked, text)
				return grant
			}
			turn := gang.Step(c.s.rec, c.s.input)
			if got := strings.Join(asked, "; "); got != c.want {
				t.Errorf("%s: asks for %q, want %q", c.name, got, c.want)
			}
			if !grant && c.want != "" && (len(turn.Chains) > 0 || turn.Changed) {
				t.Errorf("%s: goes on without: %s", c.name, told(turn))
			}
		}
	}
}

// A container asks for the room of each of its members as for a boot.
func TestHollowAsksForItsRoom(t *testing.T) {
	s := on(gang.Creating, 0).next("c", "d")
	var asked []hypervisor.Call
	s.input.May = func(call hypervisor.Call) bool { asked = append(asked, call); return true }
	if turn := gang.StepContainer(s.rec, s.input, ""); !turn.Changed {
		t.Errorf("its room is taken without a change of the record: %+v", turn)
	}
	for rank, node := range []cluster.NodeID{"c", "d"} {
		if got := asked[rank]; got.Verb != hypervisor.Boot || got.VM != s.input.VJob.VMs[rank].ID || got.Node != node {
			t.Errorf("member %d: asks for %+v", rank, got)
		}
	}
}

// A container is in no phase but those in which it takes, holds or gives back its room.
func TestHollowLeavesStrangePhases(t *testing.T) {
	for _, c := range phases {
		if slices.Contains([]gang.Phase{gang.Absent, gang.Creating, gang.Active, gang.Clearing}, c.phase) {
			continue
		}
		s := on(c.phase, gang.ThenNothing)
		if turn := gang.StepContainer(s.rec, s.input, ""); told(turn) != "clearing(wait)" || !turn.Changed {
			t.Errorf("a container that is %s: %s", c.phase, told(turn))
		}
	}
}

// A node takes all the room of a container with it, and only once.
func TestHollowLosesItsRoomOnce(t *testing.T) {
	s := on(gang.Active, 0).with(gone(0, hypervisor.CauseUnknown)).with(gone(1, hypervisor.CauseUnknown))
	if turn := gang.StepContainer(s.rec, s.input, ""); turn.Record.Losses != 1 || len(turn.Alarms) != 1 {
		t.Errorf("%d losses, alarms %q", turn.Record.Losses, turn.Alarms)
	}
}

// A boot tells the driver all that the VM is made of, and stamps it.
func TestBootDescribesTheMachine(t *testing.T) {
	s := on(gang.Creating, 0).next("c", "d")
	s.rec.Incarnation, s.input.Epoch = 3, 5
	s.input.VJob.VMs[1].Reserved.Memory = 200
	for rank := range s.input.VJob.VMs {
		s.input.VJob.VMs[rank].Payload = &cluster.Payload{Command: []string{"run"}}
	}
	turn := gang.Step(s.rec, s.input)
	for rank, want := range []string{"cfd/0", "cfd/1"} {
		call := turn.Chains[rank][0]
		m := call.Machine
		if m == nil || m.Name != want || m.Members != 2 || m.Reserved != s.input.VJob.VMs[rank].Reserved ||
			!slices.Equal(m.Payload.Command, []string{"run"}) {
			t.Errorf("member %d: machine %+v", rank, m)
		}
		if call.VM != s.input.VJob.VMs[rank].ID || call.Stamp != (hypervisor.Stamp{Incarnation: 3, Epoch: 5}) {
			t.Errorf("member %d: %s with %+v", rank, call.VM, call.Stamp)
		}
	}
}

// A save and a restore name the image of their VM; each restore has a number of its own.
func TestImagesOfCalls(t *testing.T) {
	s := on(gang.Saving, 0).has("0@a paused", "1@b paused")
	for rank, chain := range gang.Step(s.rec, s.input).Chains {
		if got := chain[0].Image; got != image(rank, 1) {
			t.Errorf("rank %d is saved to %s", rank, got)
		}
	}
	s = on(gang.Restoring, 0).imaged(0, 1).next("c", "d")
	s.rec.Restores = 4
	turn := gang.Step(s.rec, s.input)
	for rank, chain := range turn.Chains {
		if c := chain[0]; c.Image != image(rank, 1) || c.Checksum != "c" || c.Attempt != 5+rank {
			t.Errorf("rank %d is restored by %+v", rank, c)
		}
	}
	if turn.Record.Restores != 6 || !turn.Changed {
		t.Errorf("%d restores are recorded, changed %t: want 6 and true", turn.Record.Restores, turn.Changed)
	}
}

// The space that images need is asked for where each member is found.
func TestSpaceIsAskedWhereMembersAre(t *testing.T) {
	for _, c := range []struct {
		name string
		s    *stage
		want string
	}{
		{"each on its node", on(gang.Pausing, gang.ThenSave).has("0@a running", "1@b running"), "a 106, b 1051"},
		{"both on one", on(gang.Pausing, gang.ThenSave).has("0@b running", "1@b running"), "b 1157"},
		{"from memory", on(gang.Saving, gang.ThenStand).has("0@a paused", "1@b paused"), "a 106, b 1051"},
		{"not once a save has been tried", on(gang.Saving, gang.ThenStand).has("0@a paused", "1@b paused").with(func(s *stage) { s.rec.Members[1].Save = 1 }), ""},
	} {
		asked := ""
		c.s.input.VJob.VMs[1].Reserved.Memory = 1000
		c.s.input.Space = func(need map[cluster.NodeID]cluster.MiB) string {
			var list []string
			for node, memory := range need {
				list = append(list, fmt.Sprintf("%s %d", node, memory))
			}
			slices.Sort(list)
			asked = strings.Join(list, ", ")
			return ""
		}
		gang.Step(c.s.rec, c.s.input)
		if asked != c.want {
			t.Errorf("%s: asks for %q, want %q", c.name, asked, c.want)
		}
	}
}

// The skew that was measured is kept through the phases that it led to, up to the next
// pauses, and a gang is turned back only when it is over the limit.
func TestSkew(t *testing.T) {
	limit := gang.DefaultLimits.MaxSkew
	measured := func(d time.Duration) func(*stage) { return func(s *stage) { s.input.Skew = d } }
	recorded := func(s *stage) { s.rec.Skew = time.Second }
	for _, c := range []struct {
		name string
		s    *stage
		want string
	}{
		{"saving", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b paused").with(measured(limit)), "saving 5s"},
		{"standing", on(gang.Pausing, gang.ThenStand).has("0@a paused", "1@b paused").with(measured(limit)), "paused 5s"},
		{"moving", on(gang.Pausing, gang.ThenMove).next("c", "").has("0@a paused", "1@b paused").with(measured(limit)), "moving 5s"},
		{"over the limit", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b paused").with(measured(limit + 1)), "resuming(back) 0s"},
		{"at the limit, one is left", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b running").with(measured(limit)), "pausing(save); pause 1@b 0s"},
		{"at the limit of time", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b running").with(busy(1)).with(seen(limit)), "pausing(save) 0s"},
		{"over the limit of time", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b running").with(busy(1)).with(seen(limit + 1)), "resuming(back) 0s"},
		{"saved", on(gang.Saving, 0).imaged(0, 1).with(recorded), "saved 1s"},
		{"moved", on(gang.Moving, 0).next("c", "").has("0@c paused", "1@b paused").with(recorded), "resuming 1s"},
		{"not saved after all", on(gang.Saving, gang.ThenStand).has("0@a paused", "1@b paused").with(recorded).with(func(s *stage) {
			s.input.Space = func(map[cluster.NodeID]cluster.MiB) string { return "full" }
		}), "paused 1s"},
		{"resumed", on(gang.Resuming, 0).has("0@a running", "1@b running").with(recorded).with(measured(2 * time.Second)), "active 2s"},
		{"shifted", on(gang.Shifting, 0).next("c", "").has("0@c running", "1@b running").with(recorded), "active 0s"},
	} {
		turn := gang.Step(c.s.rec, c.s.input)
		if got := fmt.Sprintf("%s %s", told(turn), turn.Record.Skew); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// The cause of a phase is kept, for people, until something else is the cause.
func TestCauses(t *testing.T) {
	failed := errors.New("no such image")
	for _, c := range []struct {
		name string
		s    *stage
		want string // in the cause, or in an alarm
	}{
		{"saving is not wanted any more", on(gang.Saving, 0).has("0@a paused", "1@b paused").with(retreat), "aborted: no room"},
		{"pausing is not wanted any more", on(gang.Pausing, gang.ThenSave).has("0@a paused", "1@b paused").with(retreat), "aborted: no room"},
		{"booting is not wanted any more", on(gang.Creating, 0).next("a", "b").with(retreat), "no room"},
		{"does not boot", on(gang.Creating, 0).next("a", "b").with(tried(1, 2, failed)), "7.1 does not boot on b: no such image"},
		{"does not pause", on(gang.Pausing, gang.ThenSave).has("0@a running", "1@b running").with(tried(1, 2, failed)), "7.1 does not pause: no such image"},
		{"moving is not wanted any more", on(gang.Moving, 0).next("c", "").has("0@a paused", "1@b paused").with(retreat), "7.0 stays on a: no room"},
		{"does not migrate", on(gang.Moving, 0).next("c", "").has("0@a paused", "1@b paused").with(tried(0, 2, failed)), "7.0 stays on a: migration to c failed: no such image"},
		{"restored", on(gang.Restoring, 0).imaged(0, 1).next("c", "d").has("0@c paused", "1@d paused"), "test"},
		{"resumed", on(gang.Resuming, 0).has("0@a running", "1@b running"), "test"},
	} {
		turn := gang.Step(c.s.rec, c.s.input)
		got := cmp.Or(strings.Join(turn.Alarms, "; "), turn.Record.Cause.String())
		if !strings.Contains(got, c.want) || turn.Record.Since != c.s.input.Now {
			t.Errorf("%s: says %q since %s, want %q since %s", c.name, got, turn.Record.Since, c.want, c.s.input.Now)
		}
	}
}

// A turn says the first thing that it waits for.
func TestTheFirstWaitIsTold(t *testing.T) {
	s := on(gang.Saving, 0).has("0@a paused saving", "1@b paused saving")
	if got := gang.Step(s.rec, s.input).Wait; got != "7.0 is saving" {
		t.Errorf("waits for %q", got)
	}
	s = on(gang.Active, 0).has("0@a running")
	s.input.Sights[1].Absent = gang.DefaultLimits.DepartureGrace - 1
	if got := gang.Step(s.rec, s.input).Wait; !strings.Contains(got, "7.1 is no longer on b") {
		t.Errorf("waits for %q", got)
	}
}
