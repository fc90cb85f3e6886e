package gang_test

import (
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// A container takes its room as a whole, gives it back as a whole, and calls nothing.
func TestHollow(t *testing.T) {
	lost := func(s *stage) { s.input.Sights[1].Gone = true }
	for _, c := range []struct {
		name   string
		s      *stage
		inside string
		want   string
	}{
		{"nowhere", on(gang.Absent, gang.ThenNothing), "", "absent"},
		{"takes its room", on(gang.Creating, gang.ThenNothing).next("b", "c"), "", "active"},
		{
			"no room", on(gang.Creating, gang.ThenNothing).next("b", "c").with(func(s *stage) { s.full = true }), "",
			"creating: room on b",
		},
		{
			"there never is", on(gang.Creating, gang.ThenNothing).with(func(s *stage) { s.full, s.input.Retreat = true, "no room" }), "",
			"clearing(wait)",
		},
		{"keeps its room", on(gang.Active, gang.ThenNothing), "vjob 9 is still inside", "active"},
		{"loses a node", on(gang.Active, gang.ThenNothing).with(lost), "", "clearing(wait) !"},
		{
			"loses too many", on(gang.Active, gang.ThenNothing).with(lost).with(func(s *stage) { s.rec.Losses = s.input.Limits.MaxLosses }), "",
			"clearing(fail) !",
		},
		{"waits for those inside", on(gang.Clearing, gang.ThenExpire), "vjob 9 is still inside", "clearing(expire): vjob 9 is still inside"},
		{"gives its room back", on(gang.Clearing, gang.ThenExpire), "", "absent(expire)"},
		{"cannot be suspended", on(gang.Pausing, gang.ThenSave), "", "clearing(wait)"},
		{"cannot be moved", on(gang.Shifting, gang.ThenNothing).next("c", "c"), "", "clearing(wait)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			turn := gang.StepContainer(c.s.rec, c.s.input, c.inside)
			if len(turn.Chains) > 0 {
				t.Errorf("it makes calls: %v", turn.Chains)
			}
			got := told(turn)
			if turn.Wait != "" {
				got += ": " + turn.Wait
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// The room of one member is not taken before there is room for all.
func TestHollowAllOrNothing(t *testing.T) {
	s := on(gang.Creating, gang.ThenNothing).next("b", "c")
	s.input.May = func(call hypervisor.Call) bool { return call.Node == "b" }
	turn := gang.StepContainer(s.rec, s.input, "")
	if turn.Changed || turn.Wait != "room on c" {
		t.Errorf("%+v", turn)
	}
	s.input.May = func(hypervisor.Call) bool { return true }
	turn = gang.StepContainer(s.rec, s.input, "")
	want := []gang.Member{{Node: "b"}, {Node: "c"}}
	if turn.Record.Phase != gang.Active || turn.Record.Members[0] != want[0] || turn.Record.Members[1] != want[1] {
		t.Errorf("%+v", turn.Record)
	}
	if back := gang.StepContainer(on(gang.Clearing, gang.ThenWait).rec, s.input, ""); back.Record.Members[0].Node != cluster.NodeID("") {
		t.Errorf("after it has left: %+v", back.Record)
	}
}
