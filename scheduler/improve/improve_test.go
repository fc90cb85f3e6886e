package improve_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/energy/power/cycle"
	"vjob/queue"
	"vjob/scheduler/decide"
	"vjob/scheduler/improve"
	"vjob/scheduler/nodepower"
	"vjob/scheduler/recommendation"
)

var start = time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC)

// world is what an improver sees of a scheduler, and what it has asked for.
type world struct {
	*improve.Improver
	t         *testing.T
	out       journal.Step
	nodes     map[cluster.NodeID]execute.NodeReport
	vjobs     map[cluster.VJobID]execute.Report
	objection string
	wanted    map[cluster.NodeID]cycle.Want
	switched  []string
	retries   []time.Time
}

// newWorld returns a world in which some kinds of changes need approval.
func newWorld(t *testing.T, loaded []journal.Recommendation, manual ...journal.RecommendationKind) *world {
	t.Helper()
	w := &world{t: t, nodes: map[cluster.NodeID]execute.NodeReport{}, vjobs: map[cluster.VJobID]execute.Report{}, wanted: map[cluster.NodeID]cycle.Want{}}
	set := improve.Settings{Automation: improve.Automation{Manual: map[journal.RecommendationKind]bool{}}}
	for _, kind := range manual {
		set.Automation.Manual[kind] = true
	}
	settings := &decide.Settings{Policy: queue.FirstFit{}, Planner: ctxswitch.Repacker{}}
	w.Improver = improve.New(&set, &improve.Parts{
		Cluster: w, Uses: func(cluster.VMID) cluster.MilliCPU { return 0 }, Energy: &decide.Energy{}, Power: w, Limited: func() bool { return false },
		Switch: func(_ time.Time, id cluster.NodeID, want cycle.Want, why string) {
			w.switched = append(w.switched, string(id)+" "+want.String()+": "+why)
		},
		View: func(now time.Time, a decide.Approvals) *decide.View {
			return decide.NewView(settings, &decide.Facts{Now: now, Approvals: a, Bookings: execute.New(execute.DefaultSettings, journal.Loaded{}, now).VMs})
		},
		Retry: func(at time.Time) { w.retries = append(w.retries, at) },
	}, &journal.Loaded{NextRecommendation: journal.RecommendationID(len(loaded) + 1), Recommendations: loaded}, &w.out)
	return w
}

func (w *world) Changes() uint64 { return 0 }
func (w *world) Job(id cluster.VJobID) (execute.Report, bool) {
	r, ok := w.vjobs[id]
	return r, ok
}

func (w *world) Node(id cluster.NodeID) (execute.NodeReport, bool) {
	n, ok := w.nodes[id]
	return n, ok
}
func (w *world) MostInUse() float64                              { return 1 }
func (w *world) OffCandidates(*nodepower.Scene) decide.NodePower { return nil }
func (w *world) Hand(time.Time, []cluster.NodeID)                {}
func (w *world) Wanted(id cluster.NodeID, want cycle.Want) bool {
	now, known := w.wanted[id]
	return known && now == want
}

func (w *world) Objection(func() *decide.Variant, []cluster.NodeID, cycle.Want) string {
	return w.objection
}

// last returns the last state that was written of a recommendation, and its note.
func (w *world) last(id journal.RecommendationID) (journal.RecommendationState, string) {
	w.t.Helper()
	for _, r := range slices.Backward(w.out.Recommendations) {
		if r.ID == id {
			return r.State, r.Note
		}
	}
	w.t.Fatalf("nothing was written of recommendation %d", id)
	return "", ""
}

func switches(on, off []cluster.NodeID) []recommendation.Proposal {
	return []recommendation.Proposal{{Recommendation: journal.Recommendation{Kind: journal.RecommendPower, On: on, Off: off, Reason: "vjob 3 waits"}}}
}

// Nodes are switched when that is approved, unless power management objects by then.
func TestSwitchesAreApproved(t *testing.T) {
	w := newWorld(t, nil, journal.RecommendPower)
	w.RecommendSwitches(start, switches([]cluster.NodeID{"n1"}, []cluster.NodeID{"n2"}))
	if len(w.switched) > 0 {
		t.Errorf("switched without approval: %v", w.switched)
	}
	if err := w.Approve(start, 1, "op"); err != nil {
		t.Fatal(err)
	}
	if state, _ := w.last(1); state != journal.RecommendationApplied || len(w.switched) != 2 {
		t.Errorf("recommendation 1 is %s, switched: %v", state, w.switched)
	}
	if want := []string{"n1 " + cycle.WantOn.String() + ": vjob 3 waits", "n2 " + cycle.WantOff.String() + ": vjob 3 waits"}; !slices.Equal(w.switched, want) {
		t.Errorf("switched %v, want %v", w.switched, want)
	}

	w.RecommendSwitches(start, switches([]cluster.NodeID{"n3"}, nil))
	w.objection = "n3 is broken"
	if err := w.Approve(start, 2, "op"); !errors.Is(err, cluster.ErrConflict) || !strings.Contains(err.Error(), w.objection) {
		t.Errorf("approved in spite of an objection: %v", err)
	}
	if state, note := w.last(2); state != journal.RecommendationRefused || note != w.objection || len(w.switched) != 2 {
		t.Errorf("recommendation 2 is %s: %s, switched: %v", state, note, w.switched)
	}
}

// A recommendation to switch a node ends when the node is wanted so for another reason.
func TestSwitchesBecomeSuperfluous(t *testing.T) {
	w := newWorld(t, nil, journal.RecommendPower)
	w.RecommendSwitches(start, switches(nil, []cluster.NodeID{"n1"}))
	w.RecommendSwitches(start.Add(time.Second), nil)
	if state, _ := w.last(1); state != journal.RecommendationPending {
		t.Errorf("recommendation 1 is %s", state)
	}
	w.wanted["n1"] = cycle.WantOff
	w.RecommendSwitches(start.Add(time.Minute), nil)
	if state, _ := w.last(1); state != journal.RecommendationSuperseded {
		t.Errorf("recommendation 1 is %s after n1 is wanted off", state)
	}
	if err := w.Approve(start.Add(time.Minute), 1, "op"); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("approved: %v", err)
	}
}

// Approved starts and drains end when they have come about, or cannot any more.
func TestApprovalsAreSettled(t *testing.T) {
	approved := func(id journal.RecommendationID, r journal.Recommendation) journal.Recommendation {
		r.ID, r.State = id, journal.RecommendationApproved
		return r
	}
	w := newWorld(t, []journal.Recommendation{
		approved(1, journal.Recommendation{Kind: journal.RecommendStart, VJob: 1}),
		approved(2, journal.Recommendation{Kind: journal.RecommendStart, VJob: 2}),
		approved(3, journal.Recommendation{Kind: journal.RecommendDrain, Node: "n1"}),
		approved(4, journal.Recommendation{Kind: journal.RecommendDrain, Node: "n2"}),
		approved(5, journal.Recommendation{Kind: journal.RecommendDrain, Node: "n3"}),
	}, journal.RecommendStart, journal.RecommendDrain)
	w.vjobs[1] = execute.Report{Job: &cluster.VJob{ID: 1, State: cluster.Running}}
	w.vjobs[2] = execute.Report{Job: &cluster.VJob{ID: 2, State: cluster.Waiting}}
	w.nodes["n1"] = execute.NodeReport{Node: cluster.Node{ID: "n1", State: cluster.Draining}}
	w.nodes["n2"] = execute.NodeReport{Node: cluster.Node{ID: "n2", State: cluster.Draining}, VMs: []cluster.VMID{{VJob: 1}}}
	w.nodes["n3"] = execute.NodeReport{Node: cluster.Node{ID: "n3", State: cluster.Online}}
	if a := w.Approvals(); len(a.Starts) != 2 || len(a.Drains) != 3 {
		t.Errorf("approved: %+v", a)
	}
	w.Recommend(start)
	for id, want := range map[journal.RecommendationID]journal.RecommendationState{
		1: journal.RecommendationApplied, 3: journal.RecommendationApplied, 5: journal.RecommendationRefused,
	} {
		if got, note := w.last(id); got != want {
			t.Errorf("recommendation %d is %s (%s), want %s", id, got, note, want)
		}
	}
	if _, waits := w.Approvals().Starts[2]; len(w.Approvals().Starts) != 1 || !waits {
		t.Errorf("starts that stay approved: %v, want vjob 2", w.Approvals().Starts)
	}
	if drains := w.Approvals().Drains; len(drains) != 1 || !drains["n2"] {
		t.Errorf("drains that stay approved: %v, want n2", drains)
	}
}

// A rejected recommendation is not made again before its life ends.
func TestRejectedChangesAreNotProposed(t *testing.T) {
	w := newWorld(t, nil, journal.RecommendPower)
	w.RecommendSwitches(start, switches(nil, []cluster.NodeID{"n1"}))
	if err := w.Reject(start, 1, "op", "not today"); err != nil {
		t.Fatal(err)
	}
	w.RecommendSwitches(start.Add(time.Minute), switches(nil, []cluster.NodeID{"n1"}))
	if n := len(w.out.Recommendations); n != 2 {
		t.Errorf("%d changes of recommendations, want 2: %+v", n, w.out.Recommendations)
	}
}

// On a view that is stale nothing begins: what is approved waits for a decision on the cluster as it is.
func TestAStaleViewBeginsNothing(t *testing.T) {
	for _, state := range []journal.RecommendationState{journal.RecommendationApproved, journal.RecommendationRejected} {
		w := newWorld(t, []journal.Recommendation{{ID: 1, Kind: journal.RecommendBalance, State: state}})
		step := &improve.Step{Now: start, Decision: &decide.Decision{}, Stale: true}
		if again, want := w.Improve(step), state == journal.RecommendationApproved; again != want || len(w.out.Recommendations) > 0 {
			t.Errorf("one that is %s: another decision is wanted: %t, written: %+v", state, again, w.out.Recommendations)
		}
		busy := &improve.Step{Now: start, Decision: &decide.Decision{Why: "no place"}, Stale: true}
		if w.Improve(busy) {
			t.Errorf("one that is %s: another decision is wanted though this one was not idle", state)
		}
	}
}
