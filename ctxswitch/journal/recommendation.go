package journal

import (
	"fmt"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/energy"
)

// RecommendationID numbers recommendations from 1.
type RecommendationID int64

// RecommendationKind is what a recommendation is for.
type RecommendationKind string

// The kinds of recommendations.
const (
	RecommendStart       RecommendationKind = "start"       // a waiting vjob starts
	RecommendBalance     RecommendationKind = "balance"     // VMs move from crowded nodes
	RecommendConsolidate RecommendationKind = "consolidate" // VMs move to where they draw less, or to fewer nodes
	RecommendDrain       RecommendationKind = "drain"       // VMs leave a drained node
	RecommendPower       RecommendationKind = "power"       // nodes are switched off or on
)

// RecommendationKinds are all kinds, in the order of their names in settings.
var RecommendationKinds = []RecommendationKind{RecommendStart, RecommendBalance, RecommendConsolidate, RecommendDrain, RecommendPower}

// RecommendationState is how far a recommendation has come.
type RecommendationState string

// The states of a recommendation. Pending and approved ones are open.
const (
	RecommendationPending    RecommendationState = "pending"    // waits for approval
	RecommendationApproved   RecommendationState = "approved"   // begins with the next decision
	RecommendationApplied    RecommendationState = "applied"    // its plan has begun
	RecommendationRejected   RecommendationState = "rejected"   // by a user; not proposed again for a while
	RecommendationRefused    RecommendationState = "refused"    // approved, and not possible any more
	RecommendationSuperseded RecommendationState = "superseded" // a later search proposes something else
	RecommendationExpired    RecommendationState = "expired"
)

// Measure is the state of the cluster that a recommendation changes.
type Measure struct {
	Imbalance float64      `json:"imbalance,omitzero"` // the standard deviation of the load of nodes; see docs/explanation/balance.md
	Watts     energy.Watts `json:"watts,omitzero"`     // drawn by the nodes concerned; 0 if unknown
}

// RecommendationStates are all states, in the order in which a recommendation may take them.
var RecommendationStates = []RecommendationState{
	RecommendationPending, RecommendationApproved, RecommendationApplied, RecommendationRejected, RecommendationRefused,
	RecommendationSuperseded, RecommendationExpired,
}

// Recommendation is a set of changes that belong together, with a reason, a benefit and a cost.
type Recommendation struct {
	ID        RecommendationID   `json:"id"`
	Kind      RecommendationKind `json:"kind"`
	At        time.Time          `json:"at"`
	Expires   time.Time          `json:"expires,omitzero"`
	VJob      cluster.VJobID     `json:"vjob,omitzero"` // that starts; 0 for other kinds
	Node      cluster.NodeID     `json:"node,omitzero"` // that is drained; "" for other kinds
	Moves     []cluster.Move     `json:"moves,omitzero"`
	On        []cluster.NodeID   `json:"on,omitzero"`  // nodes that are switched
	Off       []cluster.NodeID   `json:"off,omitzero"` // nodes that are switched
	Reason    string             `json:"reason,omitzero"`
	Before    Measure            `json:"before,omitzero"`
	After     Measure            `json:"after,omitzero"`
	Benefit   float64            `json:"benefit,omitzero"`    // CPU seconds, or what energy saved is worth in them
	Cost      float64            `json:"cost,omitzero"`       // CPU seconds
	DependsOn []RecommendationID `json:"depends_on,omitzero"` // that must be applied before
	// Prerequisites are the changes of it that begin only once others have ended.
	Prerequisites []Prerequisite      `json:"prerequisites,omitzero"`
	State         RecommendationState `json:"state"`
	By            string              `json:"by,omitzero"` // the user that approved or rejected it; "" if none has
	Decided       time.Time           `json:"decided,omitzero"`
	Note          string              `json:"note,omitzero"` // why it was refused, rejected or superseded
	Plan          PlanID              `json:"plan,omitzero"` // that carries it out; 0 if none
}

// Prerequisite is what has to end before a change of a recommendation begins (VMware 2012 §3.1.6). The change is the move
// of a VM, the start of a vjob, that a node is switched off, or without any of them all of the recommendation.
type Prerequisite struct {
	VM    cluster.VMID     `json:"vm,omitzero"`
	VJob  cluster.VJobID   `json:"vjob,omitzero"`
	Off   cluster.NodeID   `json:"off,omitzero"`
	Moves []cluster.Move   `json:"moves,omitempty"` // that make room, or empty the node
	Leave []cluster.VJobID `json:"leave,omitempty"` // vjobs that are suspended or stopped
	Plan  PlanID           `json:"plan,omitzero"`   // that has to end
}

// Change returns the change that waits, such as "12.1", "vjob 12 starts" or "n4 goes off".
func (p *Prerequisite) Change() string {
	switch {
	case p.VM != cluster.VMID{}:
		return p.VM.String()
	case p.VJob != 0:
		return fmt.Sprintf("vjob %s starts", p.VJob)
	case p.Off != "":
		return fmt.Sprintf("%s goes off", p.Off)
	}
	return "all"
}

// Text returns what has to end, such as "7.0 from n1 to n2, vjob 5 leaves its nodes".
func (p *Prerequisite) Text() string {
	var list []string
	if p.Plan != 0 {
		list = append(list, fmt.Sprintf("context switch %d", p.Plan))
	}
	for _, m := range p.Moves {
		list = append(list, m.String())
	}
	for _, id := range p.Leave {
		list = append(list, fmt.Sprintf("vjob %s leaves its nodes", id))
	}
	return strings.Join(list, ", ")
}

// Open reports whether a recommendation may still be applied.
func (r *Recommendation) Open() bool {
	return r.State == RecommendationPending || r.State == RecommendationApproved
}

// Changes returns what a recommendation does, such as "moves 12.1 from n2 to n3; switches n4 off".
func (r *Recommendation) Changes() string {
	var parts []string
	add := func(verb string, list []string, after string) {
		if len(list) > 0 {
			parts = append(parts, verb+" "+strings.Join(list, ", ")+after)
		}
	}
	moves := make([]string, len(r.Moves))
	for i, m := range r.Moves {
		moves[i] = m.String()
	}
	if r.VJob != 0 {
		return fmt.Sprintf("starts vjob %s: %s", r.VJob, strings.Join(moves, ", "))
	}
	if r.Node != "" {
		parts = append(parts, fmt.Sprintf("empties node %s", r.Node))
	}
	add("switches", cluster.NodeNames(r.On), " on")
	add("moves", moves, "")
	add("switches", cluster.NodeNames(r.Off), " off")
	return strings.Join(parts, "; ")
}

// RecommendationFilter selects recommendations; zero fields select all.
type RecommendationFilter struct {
	Kind   RecommendationKind
	State  RecommendationState
	Before RecommendationID
	Limit  int
}
