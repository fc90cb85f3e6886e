package journal

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
)

// Filter narrows a list of vjobs. Zero fields do not narrow.
type Filter struct {
	Owner  string
	States []cluster.State
	Name   string
	Live   bool           // only those that are not terminal
	Newest bool           // latest submission first, else earliest first
	Array  cluster.VJobID // only its vjobs
	VJob   cluster.VJobID // only this one
	// Indexes are places in an array, of which one must be that of the vjob.
	Indexes []cluster.IndexRange
	Ended   bool // only those that are terminal
	// Outcomes are those of which a vjob must have one.
	Outcomes []cluster.Outcome
	Project  string
	Queue    string
	Labels   []Label
	// Node is where a VM of it is or moves to, or was if it has ended, as far back as intents are kept.
	Node  cluster.NodeID
	Match string // in its name, parameter or comment; case is ignored
	// Prefix is the beginning of its name or of its number.
	Prefix    string
	Submitted Period
	Finished  Period // of the end
	// Fold shows of each array one row: the first of its vjobs that the filter lets
	// through, with [Row.Fold] filled in.
	Fold  bool
	Terms bool // with their terms, which lists else leave out
	// Cursor is the place of the last row that was read, see [Row.Place]; only rows behind it follow. 0: all.
	Cursor cluster.VJobID
	Limit  int // 0 is no limit
	// Known returns a vjob that the reader has and that was never begun, or nil. Of one that has its version in the store
	// nothing more is read. A nil function knows none.
	Known func(cluster.VJobID) *cluster.VJob
}

// Label is a label that a vjob must have, with this value or, if Any is set, with any.
type Label struct {
	Name, Value string
	Any         bool
}

// Period is a span of time; a zero end is open. Since belongs to it, Until does not.
type Period struct{ Since, Until time.Time }

// PlanFilter selects plans.
type PlanFilter struct {
	Owner  string // only those that changed a vjob of this user; "": all
	Before PlanID // only those with a smaller number; 0: all
	Limit  int    // at most so many; 0: all
}

// Place is that of the row in the order of lists, which never changes: its number; in folded lists that of its array.
func (r *Row) Place(folded bool) cluster.VJobID {
	if folded && r.Array != 0 {
		return r.Array
	}
	return r.ID
}

// Row is a vjob as it is kept, with its account.
type Row struct {
	*cluster.VJob
	Started time.Time // zero before it first ran
	Ended   time.Time // zero before its end
	Account Usage     // sums so far
	// Size is filled in lists, where VMs, Rules and payloads are left out.
	Size     int
	Reserved cluster.Resources
	Fold     *Fold // of the array for which the row stands; nil: for one vjob
}

// Fold is the vjobs of an array in short, those that have ended among them.
type Fold struct {
	First, Last int // indices
	States      map[cluster.State]int
}

// EventFilter narrows a list of events. Zero fields do not narrow.
type EventFilter struct {
	After   int64  // only events with a larger Seq
	Owner   string // only events of this owner's vjobs, and none of nodes
	VJob    cluster.VJobID
	Array   cluster.VJobID       // only events of the vjobs of this array
	Indexes []cluster.IndexRange // only of those at these places of their arrays
	Plan    PlanID
	Kinds   []EventKind // only events of one of these; nil: of all
	Limit   int
	Latest  bool // the last Limit ones instead of the first; still oldest first

	WithOwner bool // fill [Event.Owner]
}

// PlanRow is a plan in lists.
type PlanRow struct {
	ID       PlanID
	At       time.Time
	Ended    time.Time
	Policy   string
	State    PlanState
	Note     string
	Cost     int64
	Makespan time.Duration
	Actions  int
}

// Ratio returns how long a plan that is done took, in parts of its estimate; 0 for others, and for
// plans that were estimated to take no time.
func (p *PlanRow) Ratio() float64 {
	if p.State != PlanDone || p.Makespan <= 0 {
		return 0
	}
	return p.Ended.Sub(p.At).Seconds() / p.Makespan.Seconds()
}

// PlanDetail is a plan with the progress of its actions.
type PlanDetail struct {
	PlanRow
	Plan     ctxswitch.Plan
	Progress []ActionProgress // one per action, in order
	Skews    []SkewChange
}

// ActionProgress is how far one action has come.
type ActionProgress struct {
	State        PlanState
	Began, Ended time.Time
	Note         string
}

// Kept is a vjob with all its parts: what a detail view shows.
type Kept struct {
	Row
	Gang gang.Record
}
