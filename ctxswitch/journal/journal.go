// Package journal holds what the scheduler records: its intents before it acts, their outcome,
// and the events for users. It is plain data, which package db stores.
//
// A [Step] is committed as a whole; only then are the calls of its intents made.
package journal

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/duration"
	"vjob/ctxswitch/gang"
	"vjob/energy/power/cycle"
	"vjob/hypervisor"
)

// PlanID numbers plans from 1.
type PlanID int64

// Rules are the placement rules that administrators have stated through the API.
type Rules struct {
	Text string // in the language of docs/reference/rules.md
	By   string // user of the last change; "" before the first
	At   time.Time
}

// Budgets are the power budgets that administrators have stated through the API.
type Budgets struct {
	Text string // as package energy/budget reads and writes them
	By   string // user of the last change; "" before the first
	At   time.Time
}

// Prices are the prices of energy that administrators have stated through the API.
type Prices struct {
	Text string // CSV, as package energy/price reads it; "" without prices
	By   string // user of the last change; "" before the first
	At   time.Time
}

// Pools are the pools that administrators have stated through the API.
type Pools struct {
	Text string // a list in JSON, as package queue/pool writes it; "" without pools
	By   string // user of the last change; "" before the first
	At   time.Time
}

// NodeEnergy is energy that a node has drawn.
type NodeEnergy struct {
	Node   cluster.NodeID
	Joules int64
}

// Intent is a call that is about to be made.
type Intent struct {
	Call  hypervisor.Call // without its Machine: that is the vjob's
	Plan  PlanID          // 0 when no plan asked for it
	Epoch int64           // which start of the scheduler
	At    time.Time
}

// Result closes an intent: what the reply said. The state of the world is in the
// records that were written after looking.
type Result struct {
	Op    hypervisor.OpID
	Began time.Time
	Ended time.Time
	Error string // "" when the call ended well
}

// Event tells people what happened. Seq is given by the store and only grows.
type Event struct {
	Seq   int64          `json:"seq"`
	At    time.Time      `json:"at"`
	Kind  EventKind      `json:"kind"`
	VJob  cluster.VJobID `json:"vjob,omitempty"`
	VM    string         `json:"vm,omitempty"`
	Node  cluster.NodeID `json:"node,omitempty"`
	Plan  PlanID         `json:"plan,omitempty"`
	State string         `json:"state,omitempty"` // the new state, for events of kind state
	Text  string         `json:"text"`
	// Cause is why a vjob changed its state, for events of kind state.
	Cause *cluster.Cause `json:"cause,omitzero"`
	// Owner is that of the vjob, where [EventFilter.WithOwner] asks for it.
	Owner string `json:"-"`
}

// TextFor is the text with the cause as a user may read it; the user "" is an administrator.
func (e *Event) TextFor(user string) string {
	state, _ := cluster.ParseState(e.State) // events of other kinds have no state
	return e.Text + e.Cause.For(user).Clause(state)
}

// EventKind is the kind of an event, by which users filter.
type EventKind string

// The kinds of events.
const (
	EventSubmitted EventKind = "submitted" // a vjob was accepted
	EventState     EventKind = "state"     // a vjob changed its state
	EventPlan      EventKind = "plan"      // a context switch began or ended
	EventAction    EventKind = "action"    // an action began, ended or failed
	EventNode      EventKind = "node"      // a node changed its state or fell silent
	EventRules     EventKind = "rules"     // the rules of the cluster were changed
	EventBudgets   EventKind = "budgets"   // the power budgets were changed
	EventPrices    EventKind = "prices"    // the prices of energy were changed
	EventPools     EventKind = "pools"     // the pools of the cluster were changed
	EventSettings  EventKind = "settings"  // the daemon read its settings again
	// A recommendation was made, approved, rejected, applied or given up.
	EventRecommendation EventKind = "recommendation"
	EventNotify         EventKind = "notify" // notifications of a vjob are not delivered
	EventAlarm          EventKind = "alarm"  // an administrator should look
	EventAudit          EventKind = "audit"  // an entry of the audit list, for administrators
)

// EventKinds are the names of all kinds of events.
func EventKinds() []string {
	return []string{
		string(EventSubmitted), string(EventState), string(EventPlan), string(EventAction), string(EventNode), string(EventRules), string(EventBudgets),
		string(EventPrices), string(EventPools), string(EventSettings), string(EventRecommendation), string(EventNotify), string(EventAlarm), string(EventAudit),
	}
}

// VJobChange is what of a vjob changes after its submission.
type VJobChange struct {
	ID      cluster.VJobID
	State   cluster.State
	Held    bool
	Hold    *cluster.Cause
	Cause   *cluster.Cause
	Outcome cluster.Outcome
	Exit    cluster.ExitStatus
	Version int
	Started time.Time // first time Running; zero before
	Ended   time.Time // zero before
}

// WalltimeChange gives a vjob another walltime.
type WalltimeChange struct {
	ID       cluster.VJobID
	Walltime time.Duration
}

// PoolChange moves a vjob to another pool.
type PoolChange struct {
	ID   cluster.VJobID
	Pool string
}

// MoveModeChange changes whether the VMs of a vjob move to improve the cluster.
type MoveModeChange struct {
	ID    cluster.VJobID
	Moves cluster.MoveMode
}

// EndedVJob is what is known of a vjob that has ended, for those that wait for it.
type EndedVJob struct {
	ID, Array cluster.VJobID
	Outcome   cluster.Outcome
	Exit      cluster.ExitStatus
	Started   bool           // it has run
	Again     bool           // it failed, and there is another attempt
	Next      cluster.VJobID // which is that; 0 before it is known
}

// Attempt asks for a vjob that is like one that fails in the same step.
type Attempt struct {
	Of   cluster.VJobID
	At   time.Time
	Text string // for people
}

// Usage is added to the account of a vjob.
type Usage struct {
	VJob      cluster.VJobID
	Running   time.Duration // time in Running
	Crowded   time.Duration // of that, on nodes that were asked for more CPU than they have: it does not count towards the walltime
	CPU       time.Duration // CPU time that its guests got
	Wanted    time.Duration // CPU time that they would have used, had they got all they need
	MemorySec int64         // MiB·s on nodes
	Joules    int64         // energy that its share of the nodes has drawn
	Reserved  int64         // milliseconds of one processor that were reserved for it while it ran
}

// UsageHour is what one vjob has used of one node within one hour of UTC. It is added up.
type UsageHour struct {
	Hour       time.Time // when it began
	VJob       cluster.VJobID
	Node       cluster.NodeID
	Reserved   int64 // milliseconds of one processor that were reserved while the vjob ran
	Used       int64 // milliseconds of CPU time that its guests got
	MemoryTime int64 // MiB·s
}

// DiscardedRun is a run of a vjob of which nothing is left: the vjob starts again from scratch, or has failed because
// its VMs were lost. It is everything that the vjob has used since its last such run.
type DiscardedRun struct {
	VJob  cluster.VJobID
	At    time.Time
	Cause cluster.CauseKind
}

// NodeCapacity is what a node offers from an instant on.
type NodeCapacity struct {
	At   time.Time
	Node cluster.NodeID
	Has  cluster.Resources // zero: the node is out of service
}

// PlanState is how far a plan has come.
type PlanState string

// The states of a plan and of each of its actions.
const (
	PlanPending PlanState = "pending" // actions only: waits for what it depends on
	PlanRunning PlanState = "running"
	PlanDone    PlanState = "done"
	PlanFailed  PlanState = "failed"
	PlanDropped PlanState = "dropped" // given up before it began, or closed by a restart
)

// Plan is a context switch as it is kept: written before anything is touched.
type Plan struct {
	ID     PlanID
	At     time.Time
	Policy string
	Plan   ctxswitch.Plan
	State  PlanState
	Ended  time.Time
}

// PlanChange closes a plan.
type PlanChange struct {
	ID    PlanID
	State PlanState
	Ended time.Time
	Note  string
}

// ActionChange is progress of one action of a plan.
type ActionChange struct {
	Plan   PlanID
	Action ctxswitch.ActionID
	State  PlanState
	At     time.Time
	Note   string
}

// SkewChange records how far apart a gang's members were paused or resumed.
type SkewChange struct {
	Plan PlanID
	VJob cluster.VJobID
	Kind string // "pause" or "resume"
	Skew time.Duration
}

// Reshape gives a vjob that has never been started another of its shapes.
type Reshape struct {
	VJob     cluster.VJobID
	Shape    int // its place among them
	Walltime time.Duration
	Reserved []cluster.Resources // by each of its VMs
}

// Loaded is what the scheduler knows when it starts.
type Loaded struct {
	Epoch     int64 // of this start, larger than any before; durable already
	NextOp    hypervisor.OpID
	NextPlan  PlanID
	Nodes     []cluster.Node
	Power     []cycle.Record // of nodes that have ever been switched, in order of their names
	Rules     Rules
	Budgets   Budgets
	Prices    Prices
	Pools     Pools
	Drawn     []NodeEnergy                     // by each node so far, in order of their names
	VJobs     []*cluster.VJob                  // those that are not terminal, in order
	Gangs     []gang.Record                    // of those vjobs
	Ended     []gang.Record                    // of vjobs that have ended and left images that are kept, in order
	Ran       map[cluster.VJobID]time.Duration // as far as it counts towards the walltimes
	Crowded   map[cluster.VJobID]time.Duration // beside that
	Meters    map[cluster.VJobID]Meter         // up to where the accounts of those vjobs go
	Charges   []Charge                         // that were not pruned, in order
	Capacity  []NodeCapacity                   // the last of each node, in order of their names
	Open      []Intent                         // without a result: they may still be under way
	Deadlines map[hypervisor.OpID]time.Time    // those of Open that this process has not given up, and their deadlines
	Answering map[cluster.NodeID]bool          // nodes that this process has seen answer: that they do is no news
	Plans     []PlanID                         // that were running
	Waits     []cluster.VJobID                 // those of the vjobs that wait for others, in order
	Past      []EndedVJob                      // of vjobs that have ended and are waited for
	// Recommendations are those that are open or rejected, in order; NextRecommendation is the next number.
	Recommendations    []Recommendation
	NextRecommendation RecommendationID
	// Alarms are the open ones and some that ended lately, in order; NextAlarm is the next number.
	Alarms    []Alarm
	NextAlarm AlarmID
	Learned   []duration.Observation // the last [duration.Window] of each node and kind, the oldest first
}

// Account takes in what a vjob has run so far.
func (l *Loaded) Account(id cluster.VJobID, u Usage) {
	if ran := u.Running - u.Crowded; ran != 0 {
		l.Ran[id] = ran
	}
	if u.Crowded != 0 {
		l.Crowded[id] = u.Crowded
	}
}
