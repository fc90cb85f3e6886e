package cluster

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// Cause is why a vjob changed its state: what users read as "suspended to make room for 3".
// The zero value says nothing.
//
// A cause never changes once it is made, since many vjobs share one. Nil says nothing, too, and all methods take it.
type Cause struct {
	Kind CauseKind `json:"kind,omitempty"`
	// VJobs made the change necessary, the most important first.
	VJobs []VJobRef `json:"vjobs,omitempty"`
	// Hidden is how many more there are that the reader may not see; see [Cause.For].
	Hidden int `json:"hidden,omitempty"`
	// Nodes made the change necessary: they are drained, lost or to be switched off.
	Nodes []NodeID `json:"nodes,omitempty"`
	// Short is what was missing in sum.
	Short Resources `json:"short,omitzero"`
	// By is the user that ordered the change.
	By string `json:"by,omitempty"`
	// Text is what the other fields do not say: a limit, a rule, a fault.
	Text string `json:"text,omitempty"`
	// Switch is the number of the context switch that carries the change out; 0: none does.
	Switch int64 `json:"switch,omitempty"`
}

// VJobRef names a vjob as it was when it caused something: it may have ended since.
type VJobRef struct {
	ID    VJobID `json:"id"`
	Name  string `json:"name,omitempty"`
	Owner string `json:"owner,omitempty"`
}

// Ref names the vjob.
func (j *VJob) Ref() VJobRef { return VJobRef{ID: j.ID, Name: j.Name, Owner: j.Owner} }

// String is "3 high (bob)".
func (r VJobRef) String() string {
	text := r.ID.String()
	if r.Name != "" {
		text += " " + r.Name
	}
	if r.Owner != "" {
		text += " (" + r.Owner + ")"
	}
	return text
}

// CauseKind is the kind of a cause.
type CauseKind string

// The kinds of causes, each with the files that set it.
const (
	CauseSubmitted   CauseKind = "submitted"   // scheduler/admission/submission.go, db/submit.go
	CauseRoom        CauseKind = "room"        // there is capacity: scheduler/decide/causes.go
	CausePreempted   CauseKind = "preempted"   // by VJobs: queue/reasons.go, scheduler/decide/causes.go
	CauseReservation CauseKind = "reservation" // by the reservations of VJobs: queue/reservation/reservation.go
	CauseTurn        CauseKind = "turn"        // the time slice is over: queue/timeslices.go
	CausePower       CauseKind = "power"       // Text is the power budget: scheduler/decide/powerledger.go
	CauseQuota       CauseKind = "quota"       // Text is the quota: queue/quota/tally.go
	CausePool        CauseKind = "pool"        // Text is the pool: scheduler/decide/pools.go
	CauseFailover    CauseKind = "failover"    // Text is what is kept free for lost nodes: scheduler/decide/failover.go
	CauseRule        CauseKind = "rule"        // Text is the placement rule: scheduler/decide/causes.go
	CauseDrained     CauseKind = "drained"     // Nodes are drained: scheduler/decide/causes.go, scheduler/decide/drained.go
	CauseSaving      CauseKind = "saving"      // Nodes can be switched off, or draw less: scheduler/improve/improve.go
	CauseBalance     CauseKind = "balance"     // Nodes are crowded: scheduler/improve/improve.go
	CauseOrder       CauseKind = "order"       // Text is the order of By: scheduler/order.go, ctxswitch/execute/kept.go
	CauseWalltime    CauseKind = "walltime"    // it is used up: scheduler/walltime.go
	CauseShutdown    CauseKind = "shutdown"    // the guests have shut themselves down: ctxswitch/gang/step.go
	CauseExit        CauseKind = "exit"        // Text is which work failed: ctxswitch/gang/step.go
	CauseLost        CauseKind = "lost"        // the memory of a VM is lost, Text is how: ctxswitch/gang/lose.go, scheduler/decide/variant.go
	CauseAborted     CauseKind = "aborted"     // Text is the failed step of the context switch: ctxswitch/gang/turn.go
	CauseContainer   CauseKind = "container"   // the container VJobs ends: scheduler/container.go
	CauseDependency  CauseKind = "dependency"  // Text is what can never be met: scheduler/dependency/settle.go
)

// Because is a cause in words only.
func Because(text string) *Cause { return &Cause{Text: text} }

// IsZero reports whether the cause says nothing.
func (c *Cause) IsZero() bool {
	return c == nil || c.Kind == "" && len(c.VJobs) == 0 && c.Hidden == 0 && len(c.Nodes) == 0 && c.Short == (Resources{}) && c.By == "" && c.Text == "" && c.Switch == 0
}

// Fields returns a copy of what the cause says.
func (c *Cause) Fields() Cause {
	if c == nil {
		return Cause{}
	}
	return *c
}

// Is reports whether the cause is of a kind.
func (c *Cause) Is(kind CauseKind) bool { return c.Fields().Kind == kind }

// Preempts reports whether others have the room, the power or the quota that the vjob had.
func (c *Cause) Preempts() bool {
	switch c.Fields().Kind {
	case CausePreempted, CauseReservation, CauseTurn, CausePower, CauseQuota, CausePool:
		return true
	default:
		return false
	}
}

// mostNamed is how many vjobs or nodes a text names.
const mostNamed = 3

// For is the cause as a user may read it: vjobs of other users are counted, not named. The
// user "" is an administrator, for which the cause stays as it is.
func (c *Cause) For(user string) *Cause {
	if user == "" || c == nil || len(c.VJobs) == 0 {
		return c
	}
	d := *c
	d.VJobs = nil
	for _, r := range c.VJobs {
		if r.Owner != user {
			d.Hidden++
			continue
		}
		r.Owner = "" // the reader
		d.VJobs = append(d.VJobs, r)
	}
	return &d
}

// Why is the clause as a text of its own: "node n1 is drained", "suspended to make room for 3".
func (c *Cause) Why(s State) string {
	clause := c.Clause(s)
	if text, apart := strings.CutPrefix(clause, ": "); apart || clause == "" {
		return text
	}
	return s.String() + clause
}

// Clause continues a sentence that says what state a vjob is in: " to make room for 3 high
// (bob): 4 CPU short", ": node n1 is drained".
func (c *Cause) Clause(s State) string {
	if c == nil {
		return ""
	}
	clause := c.clause()
	if s == Waiting && (c.Kind == CausePreempted || c.Kind == CauseReservation) {
		return ": it was ended" + clause + "; it starts anew later"
	}
	if c.Kind == CauseOrder && c.Text == s.String() { // suspended by ann
		return " by " + c.By
	}
	return clause
}

func (c *Cause) clause() string {
	text := c.Text
	switch c.Kind {
	case CausePreempted:
		return " to make room for " + c.named() + c.short()
	case CauseReservation:
		return strings.TrimSuffix(" to make room for the reservation of "+c.named()+" "+c.Text, " ")
	case CauseSaving:
		return " to save power" + c.text()
	case CauseSubmitted:
		text = "submitted"
	case CauseRoom:
		text = cmp.Or(c.Text, "there is room")
	case CauseTurn:
		text = cmp.Or(c.Text, "the turn of its slot is over")
	case CauseDrained:
		text = c.nodes() + " drained" + c.text()
	case CauseBalance:
		text = c.nodes() + " crowded" + c.text()
	case CauseOrder:
		text = c.Text + " by " + c.By
	case CauseWalltime:
		text = "its walltime is over"
	case CauseAborted:
		text = "aborted: " + c.Text
	case CauseContainer:
		text = "its container " + c.named() + " ends" + c.text()
	case CausePower, CauseQuota, CausePool, CauseFailover, CauseRule, CauseShutdown, CauseExit, CauseLost, CauseDependency: // the text says all
	}
	switch {
	case text == "" && c.Switch != 0:
		return fmt.Sprintf(": context switch %d", c.Switch)
	case text == "":
		return ""
	}
	return ": " + text
}

// String is [Cause.Why] where the state does not matter.
func (c *Cause) String() string { return strings.TrimLeft(c.Clause(Suspended), ": ") }

func (c *Cause) text() string {
	if c.Text == "" {
		return ""
	}
	return ": " + c.Text
}

func (c *Cause) short() string {
	switch {
	case c.Short.CPU > 0 && c.Short.Memory > 0:
		return fmt.Sprintf(": %s CPU and %s short", c.Short.CPU, c.Short.Memory)
	case c.Short.CPU > 0:
		return fmt.Sprintf(": %s CPU short", c.Short.CPU)
	case c.Short.Memory > 0:
		return fmt.Sprintf(": %s short", c.Short.Memory)
	}
	return c.text()
}

func (c *Cause) nodes() string {
	if len(c.Nodes) == 1 {
		return "node " + string(c.Nodes[0]) + " is"
	}
	names := make([]string, len(c.Nodes))
	for i, n := range c.Nodes {
		names[i] = string(n)
	}
	return "nodes " + Enumerate(names, 0) + " are"
}

// named are the vjobs; those that the reader may not see are counted.
func (c *Cause) named() string {
	names := make([]string, len(c.VJobs))
	for i, r := range c.VJobs {
		names[i] = r.String()
	}
	switch {
	case len(names) > 0:
		return Enumerate(names, c.Hidden)
	case c.Hidden == 1:
		return "a vjob of another user"
	case c.Hidden > 1:
		return fmt.Sprintf("%d vjobs of other users", c.Hidden)
	}
	return "others"
}

// Enumerate is "a", "a and b", "a, b, c and 2 more".
func Enumerate(names []string, more int) string {
	if len(names) > mostNamed {
		names, more = names[:mostNamed], more+len(names)-mostNamed
	}
	if more > 0 {
		return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", more)
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Encode is the cause as the store keeps it: JSON, "" for one that says nothing.
func (c *Cause) Encode() string {
	if c.IsZero() {
		return ""
	}
	b, err := json.Marshal(c)
	if err != nil {
		panic(err) // it holds numbers and texts only
	}
	return string(b)
}

// DecodeCause reads what [Cause.Encode] wrote. Anything else is a text, as the store kept
// before there were kinds.
func DecodeCause(text string) *Cause {
	if text == "" {
		return nil
	}
	c := &Cause{}
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), c) != nil {
		return Because(text)
	}
	return c
}
