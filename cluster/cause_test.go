package cluster_test

import (
	"testing"

	"vjob/cluster"
)

func TestCauses(t *testing.T) {
	high := cluster.VJobRef{ID: 3, Name: "high", Owner: "bob"}
	own := cluster.VJobRef{ID: 4, Name: "low", Owner: "ann"}
	short := cluster.Resources{CPU: 4000}
	for _, c := range []struct {
		state cluster.State
		cause *cluster.Cause
		all   string // what an administrator reads
		ann   string // what the user ann reads
	}{
		{
			cluster.Suspended,
			&cluster.Cause{Kind: cluster.CausePreempted, VJobs: []cluster.VJobRef{high}, Short: short},
			" to make room for 3 high (bob): 4 CPU short", " to make room for a vjob of another user: 4 CPU short",
		},
		{
			cluster.Suspended,
			&cluster.Cause{Kind: cluster.CausePreempted, VJobs: []cluster.VJobRef{high, own, high, own, own}},
			" to make room for 3 high (bob), 4 low (ann), 3 high (bob) and 2 more", " to make room for 4 low, 4 low, 4 low and 2 more",
		},
		{
			cluster.Waiting,
			&cluster.Cause{Kind: cluster.CausePreempted, VJobs: []cluster.VJobRef{own}},
			": it was ended to make room for 4 low (ann); it starts anew later", ": it was ended to make room for 4 low; it starts anew later",
		},
		{
			cluster.Suspended,
			&cluster.Cause{Kind: cluster.CauseReservation, VJobs: []cluster.VJobRef{high}, Text: "at 14:00"},
			" to make room for the reservation of 3 high (bob) at 14:00", " to make room for the reservation of a vjob of another user at 14:00",
		},
		{cluster.Running, &cluster.Cause{Kind: cluster.CauseDrained, Nodes: []cluster.NodeID{"n1", "n2"}}, ": nodes n1 and n2 are drained", ": nodes n1 and n2 are drained"},
		{cluster.Suspended, &cluster.Cause{Kind: cluster.CauseOrder, By: "root", Text: "suspended"}, " by root", " by root"},
		{cluster.Running, &cluster.Cause{Switch: 7}, ": context switch 7", ": context switch 7"},
		{cluster.Running, &cluster.Cause{}, "", ""},
	} {
		if got := c.cause.Clause(c.state); got != c.all {
			t.Errorf("%+v: %q, want %q", c.cause, got, c.all)
		}
		if got := c.cause.For("ann").Clause(c.state); got != c.ann {
			t.Errorf("%+v for ann: %q, want %q", c.cause, got, c.ann)
		}
		if got := cluster.DecodeCause(c.cause.Encode()); got.Clause(c.state) != c.all {
			t.Errorf("%+v comes back as %+v", c.cause, got)
		}
	}
	if got := cluster.DecodeCause("context switch 3"); got.Text != "context switch 3" || got.Kind != "" {
		t.Errorf("a text of before is %+v", got)
	}
}

// TestReadersShareACause: what one reader may see of a cause does not change the cause.
func TestReadersShareACause(t *testing.T) {
	c := &cluster.Cause{Kind: cluster.CausePreempted, VJobs: []cluster.VJobRef{{ID: 3, Name: "high", Owner: "bob"}, {ID: 4, Owner: "ann"}}}
	before := c.Encode()
	if seen := c.For("ann"); seen.Hidden != 1 || len(seen.VJobs) != 1 || seen.VJobs[0].ID != 4 {
		t.Errorf("ann reads %+v", seen)
	}
	if after := c.Encode(); after != before {
		t.Errorf("the cause was %s and is %s", before, after)
	}
}

// TestNoCauseSaysNothing: nil is a cause.
func TestNoCauseSaysNothing(t *testing.T) {
	var c *cluster.Cause
	if !c.IsZero() || c.Is(cluster.CauseLost) || c.Preempts() || c.For("ann") != nil || c.Encode() != "" || c.String() != "" || c.Clause(cluster.Waiting) != "" {
		t.Errorf("nil says %q", c)
	}
	if c := cluster.DecodeCause(""); c != nil {
		t.Errorf("an empty text is %+v", c)
	}
}
