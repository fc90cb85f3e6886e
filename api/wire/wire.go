// Package wire defines the JSON of the REST API, version 1, between vjobd and its clients. Units end the names; times are RFC
// 3339 in UTC; lists are never null. Decoding refuses unknown fields.
package wire

import (
	"time"

	"vjob/cluster"
)

// Submission is the body of POST /v1/vjobs and the content of a vjob file.
// Either VMs lists the members one by one, or Count and Template describe equal
// ones.
type Submission struct {
	Name            string   `json:"name,omitempty"`             // of the vjob; it may be used in place of its number
	Priority        int      `json:"priority,omitempty"`         // points that are added to its rank
	WalltimeSeconds int64    `json:"walltime_seconds,omitempty"` // of running time; 0 is unlimited
	Hold            bool     `json:"hold,omitempty"`             // do not start before a release
	Count           int      `json:"count,omitempty"`            // of equal VMs, beside template
	Template        *VMSpec  `json:"template,omitempty"`         // of which each VM is a copy
	VMs             []VMSpec `json:"vms,omitempty"`              // one by one, in place of count and template
	// Rules are placement rules, as docs/reference/rules.md has them: a script, or a list in YAML
	// or JSON. Its VMs are VM0, VM1 and so on.
	Rules string `json:"rules,omitempty"`
	Terms
	// Array is the number of vjobs to create. They differ in their parameter only, one of
	// Parameters for each.
	Array      int      `json:"array,omitempty"`
	Parameters []string `json:"parameters,omitempty"` // of the vjobs of an array, as further words of their commands
}

// VJobChange is the body of PATCH /v1/vjobs/{id}: one change.
type VJobChange struct {
	WalltimeSeconds *int64 `json:"walltime_seconds,omitempty"` // of running time; 0 is unlimited
	// Pool is another pool: "cluster" is in none, "" that of its project or queue.
	Pool *string `json:"pool,omitempty"`
	// Moves is whether balance and consolidation move its VMs: automatic, manual, never.
	Moves *cluster.MoveMode `json:"moves,omitempty"`
}

// VMSpec is one member as submitted.
type VMSpec struct {
	CPUMilli  int64             `json:"cpu_milli"`         // thousandths of a processor
	MemoryMiB int64             `json:"memory_mib"`        // that it reserves
	Image     string            `json:"image,omitempty"`   // id in the catalogue; "" is the default image
	Command   []string          `json:"command,omitempty"` // program and arguments that run in the guest
	Script    string            `json:"script,omitempty"`  // text that runs in the guest in place of a command
	Env       map[string]string `json:"env,omitempty"`     // variables of the command or script
	Steps     []Step            `json:"steps,omitempty"`   // simulated guests: what they compute
	// ExitCode is the exit code of the work of simulated guests, beside steps.
	ExitCode *int `json:"exit_code,omitempty"`
}

// Step is one stretch of a simulated guest's work.
type Step struct {
	CPUMilli  int64 `json:"cpu_milli"`            // that it needs, in thousandths of a processor
	MemoryMiB int64 `json:"memory_mib,omitempty"` // working set; absent: the guest does not tell
	// NetworkMbit is what the guest sends, in 10⁶ bits per second, while it gets all the CPU that it needs.
	NetworkMbit float64   `json:"network_mbit,omitempty"`
	Seconds     float64   `json:"seconds"`         // how long it takes with all the CPU that it needs
	After       []StepRef `json:"after,omitempty"` // steps that end before it begins
}

// StepRef names step Index of the member with the given Rank.
type StepRef struct {
	Rank  int `json:"rank"`  // of the VM, from 0
	Index int `json:"index"` // of the step, from 0
}

// VJob is a vjob in lists and answers.
type VJob struct {
	ID         int64      `json:"id"`     // its number
	Name       string     `json:"name"`   // that was given to it; may be empty
	Owner      string     `json:"owner"`  // the account that submitted it
	State      string     `json:"state"`  // what it does now
	Held       bool       `json:"held"`   // it does not start or go on before it is released
	Reason     string     `json:"reason"` // why it is in its state, and what it waits for
	Cause      *Cause     `json:"cause,omitempty"`
	Since      *time.Time `json:"since,omitempty"`       // when it got into its state, of one that has not ended
	QueuePlace int        `json:"queue_place,omitempty"` // among those that wait, from 1
	// Labels are those of the owner.
	Labels map[string]string `json:"labels,omitempty"`
	// EstimatedStart is the latest start of a waiting vjob by the present forecast: running
	// vjobs use up their walltimes, and no vjob with a higher priority is submitted.
	EstimatedStart *time.Time `json:"estimated_start,omitempty"`
	// Late is a warning that it misses its deadline or may, with figures.
	Late            string     `json:"late,omitempty"`
	Priority        int        `json:"priority"`                   // as it was submitted
	Rank            *Rank      `json:"rank,omitempty"`             // while it has not ended
	VMCount         int        `json:"vm_count"`                   // how many VMs it has
	CPUMilli        int64      `json:"cpu_milli"`                  // sum over members
	MemoryMiB       int64      `json:"memory_mib"`                 // sum over members
	WalltimeSeconds int64      `json:"walltime_seconds,omitempty"` // of running time; absent: unlimited
	RanSeconds      float64    `json:"ran_seconds"`                // as far as it counts towards the walltime
	PowerWatts      float64    `json:"power_watts,omitempty"`      // its share of the power of its nodes
	Submitted       time.Time  `json:"submitted"`                  // when it was accepted
	Started         *time.Time `json:"started,omitempty"`          // for the first time; absent: never
	Ended           *time.Time `json:"ended,omitempty"`            // absent: it has not ended
	Queue           string     `json:"queue,omitempty"`            // in which it is
	Project         string     `json:"project,omitempty"`          // that is charged beside its owner
	Pool            string     `json:"pool,omitempty"`             // in which it is; absent if in none
	Comment         string     `json:"comment,omitempty"`          // free text of the owner
	Outcome         string     `json:"outcome,omitempty"`          // how it ended: completed, failed (its work did), overdue, deleted or broken
	// ExitStatus of the work once that has ended by itself: code and signal, such as 3:0, or unknown.
	ExitStatus string   `json:"exit_status,omitempty"`
	Array      int64    `json:"array,omitempty"`     // the first vjob of the array to which it belongs
	Index      int      `json:"index,omitempty"`     // its place in the array, from 1
	Parameter  string   `json:"parameter,omitempty"` // what makes it different from the others of the array
	Replaces   int64    `json:"replaces,omitempty"`  // the vjob that failed and of which it is the next attempt
	Attempts   int      `json:"attempts,omitempty"`  // how many failed before it
	Members    *Members `json:"members,omitempty"`   // of the array for which it stands in a folded list
	// Notes, in the answer to a submission, say what will become of it where users may expect something else.
	Notes []string `json:"notes,omitempty"`
	// OutputFiles are those that keep its output; absent in lists.
	OutputFiles []OutputFile `json:"output_files,omitempty"`
}

// OutputFile is a file that keeps the output of a vjob.
type OutputFile struct {
	Path    string `json:"path"`              // on the shared directory of the site
	Problem string `json:"problem,omitempty"` // why it lacks output that was printed; it is tried again
}

// Members summarises the vjobs of an array.
type Members struct {
	First  int            `json:"first"`  // index
	Last   int            `json:"last"`   // index
	States map[string]int `json:"states"` // how many are in each
}

// VJobDetail is the answer to GET /v1/vjobs/{id}.
type VJobDetail struct {
	VJob
	Version    int    `json:"version"`    // grows with each change of its state or its hold
	Phase      string `json:"phase"`      // of the gang protocol
	Generation int    `json:"generation"` // of its images: how often it was suspended
	// Origin is where it was submitted: a local user or a network address, and the token.
	Origin         cluster.Origin `json:"origin,omitzero"`
	VMs            []VM           `json:"vms"`             // by rank
	Rules          string         `json:"rules"`           // its placement rules
	Terms          Terms          `json:"terms"`           // the requests of the submission
	CrowdedSeconds float64        `json:"crowded_seconds"` // that it ran beside ran_seconds, on nodes that were asked for more CPU than they have
	CPUSeconds     float64        `json:"cpu_seconds"`     // CPU time that its guests got, by their clock
	// ClockSpeed is how many times as fast the clock of simulated guests is as that of the daemon; absent: it is the same.
	ClockSpeed       float64 `json:"clock_speed,omitempty"`
	CPUWantedSeconds float64 `json:"cpu_wanted_seconds"` // that they would have used, had they got all they need
	MemoryMiBSeconds int64   `json:"memory_mib_seconds"` // memory that it had, times how long
	EnergyJoules     int64   `json:"energy_joules"`      // that its share of the nodes has drawn
	Events           []Event `json:"events"`             // the latest ones, oldest first
	// Refusals are the nodes on which VMs of it could not be created since it last ran.
	Refusals []Refusal `json:"refusals,omitempty"`
}

// VM is one member of a vjob.
type VM struct {
	ID       string `json:"id"`                  // "12.3"
	Node     string `json:"node,omitempty"`      // on which it is
	NextNode string `json:"next_node,omitempty"` // to which it moves
	Ended    bool   `json:"ended,omitempty"`     // its guest shut itself down
	// ExitStatus of its work once that has ended: code and signal, such as 3:0, or unknown.
	ExitStatus string `json:"exit_status,omitempty"`
	CPUMilli   int64  `json:"cpu_milli"`  // that it has reserved, in thousandths of a processor
	MemoryMiB  int64  `json:"memory_mib"` // that it has reserved
	Image      string `json:"image"`      // that it boots
	// Entitlement is known while the VM runs and the cluster is divided among pools.
	Entitlement *Entitlement `json:"entitlement,omitempty"`
}

// VJobList is one page of GET /v1/vjobs.
type VJobList struct {
	VJobs []VJob `json:"vjobs"`          // of this page
	Total int    `json:"total"`          // how many there are on all pages; 0 on those behind the first
	Next  string `json:"next,omitempty"` // the cursor of the following page; absent at the end
}

// VJobPower is what a vjob draws now.
type VJobPower struct {
	ID    int64   `json:"id"`    // its number
	Name  string  `json:"name"`  // that was given to it
	Owner string  `json:"owner"` // the account that submitted it
	Watts float64 `json:"watts"` // its share of what its nodes draw
}

// Event is one line of the event log and one message of GET /v1/events.
type Event struct {
	Seq   int64     `json:"seq"`             // its sequence number; later events have larger ones
	At    time.Time `json:"at"`              // when it happened
	Kind  string    `json:"kind"`            // state, plan, action, node, order, alarm …
	VJob  int64     `json:"vjob,omitempty"`  // the vjob that it is about
	VM    string    `json:"vm,omitempty"`    // the VM that it is about, such as 12.3
	Node  string    `json:"node,omitempty"`  // the node that it is about
	Plan  int64     `json:"plan,omitempty"`  // the context switch that it is about
	State string    `json:"state,omitempty"` // the new state of the vjob
	Text  string    `json:"text"`            // what happened, in words
	Cause *Cause    `json:"cause,omitempty"` // of a change of state
}

// Cause is why a vjob changed its state. Text forms of it are in the reason of a vjob and in
// the text of an event.
type Cause struct {
	Kind      string    `json:"kind,omitempty"`       // preempted, drained, power, order, walltime, …
	VJobs     []VJobRef `json:"vjobs,omitempty"`      // the vjobs concerned
	Hidden    int       `json:"hidden,omitempty"`     // vjobs of other users
	Nodes     []string  `json:"nodes,omitempty"`      // the nodes concerned
	CPUMilli  int64     `json:"cpu_milli,omitempty"`  // that was missing
	MemoryMiB int64     `json:"memory_mib,omitempty"` // that was missing
	By        string    `json:"by,omitempty"`         // the account that gave the order
	Text      string    `json:"text,omitempty"`       // what else there is to say
	Plan      int64     `json:"plan,omitempty"`       // the context switch that carried the change out
}

// VJobRef names a vjob that may have ended since.
type VJobRef struct {
	ID    int64  `json:"id"`              // its number
	Name  string `json:"name,omitempty"`  // that was given to it
	Owner string `json:"owner,omitempty"` // the account that submitted it
}

// EventList is the answer to GET /v1/events when no stream was asked for.
type EventList struct {
	Events []Event `json:"events"` // oldest first
	// Last is the sequence number up to which the list has all events that were asked for: the after of the next
	// request.
	Last int64 `json:"last"`
}

// Status is the answer to GET /v1/status: what a live view needs, in one call.
type Status struct {
	At      time.Time      `json:"at"`      // of the decision that is shown
	Ready   bool           `json:"ready"`   // the daemon takes decisions
	Policy  string         `json:"policy"`  // that decides
	Nodes   []Node         `json:"nodes"`   // all nodes
	VJobs   []VJob         `json:"vjobs"`   // live ones that the caller may see
	Running []ActiveAction `json:"running"` // actions under way
	// Failover is absent if policy.failover is 0.
	Failover *Failover `json:"failover,omitempty"`
	Alarms   *int      `json:"alarms,omitempty"` // open ones that are not acknowledged (administrators)
}

// ActiveAction is an action under way.
type ActiveAction struct {
	Plan            int64     `json:"plan"`             // the context switch of which it is
	VM              string    `json:"vm"`               // such as 12.3
	Kind            string    `json:"kind"`             // boot, stop, suspend, resume, remote resume, migrate …
	Phase           string    `json:"phase"`            // how far it is, such as creating or saving
	From            string    `json:"from,omitempty"`   // the node on which the VM is, or its image
	To              string    `json:"to,omitempty"`     // the node on which the VM will be
	Began           time.Time `json:"began"`            // when it was started
	ExpectedSeconds float64   `json:"expected_seconds"` // how long it is estimated to take
}

// Image is one entry of the administrator's catalogue, GET /v1/images.
type Image struct {
	ID          string `json:"id"`                // its name in submissions
	Kind        string `json:"kind"`              // simulated, kernel, disk
	Description string `json:"description"`       // text of the administrator
	Default     bool   `json:"default,omitempty"` // it is booted where a VM names none
	// Users and Groups may boot it, and administrators; both absent: all users.
	Users  []string `json:"users,omitempty"`
	Groups []string `json:"groups,omitempty"` // see users
}

// ImageList is the answer to GET /v1/images.
type ImageList struct {
	Images []Image `json:"images"` // that the caller may boot
}

// Identity is the answer to GET /v1/whoami: the caller as the server identifies it.
type Identity struct {
	Name string `json:"name"` // of the account
	Role string `json:"role"` // user, admin
	Via  string `json:"via"`  // socket, token
}

// Index is the answer to GET / and GET /v1: where to begin.
type Index struct {
	Name          string   `json:"name"`          // vjob
	Version       string   `json:"version"`       // of the API
	OpenAPI       string   `json:"openapi"`       // path of the description of all routes and fields
	Documentation string   `json:"documentation"` // the guide for programmers
	Login         string   `json:"login"`         // how callers authenticate
	First         []string `json:"first"`         // paths to begin with
}

// Health is the answer to GET /healthz, with status 200 when ready, else 503.
type Health struct {
	Ready  bool   `json:"ready"`  // the daemon takes decisions
	Reason string `json:"reason"` // why it is not ready
}

// Error is the body of every answer that is not a success.
type Error struct {
	Error ErrorBody `json:"error"` // what went wrong
}

// ErrorBody says what went wrong and, for bad input, where.
type ErrorBody struct {
	Code    string `json:"code"`            // one of the Code constants
	Message string `json:"message"`         // one line for people, with the first faults
	Field   string `json:"field,omitempty"` // the first wrong field
	// Fields are all wrong fields, at most 16, each with its fault and the fix.
	Fields []FieldFault `json:"fields,omitempty"`
}

// FieldFault is one wrong field of a request.
type FieldFault struct {
	Field   string `json:"field"`   // path in the body, such as vms[2].memory_mib, or a parameter
	Message string `json:"message"` // the field, the fault and the fix
}

// The values of [ErrorBody.Code]. All but the last three correspond to the
// sentinel of the same name in package cluster.
const (
	CodeInvalid         = "invalid"
	CodeNotFound        = "not_found"
	CodeConflict        = "conflict"
	CodeChanged         = "changed" // since the caller has read it
	CodeForbidden       = "forbidden"
	CodeUnauthenticated = "unauthenticated"
	CodeTooMany         = "too_many"
	CodeUnavailable     = "unavailable"
	CodeTooLarge        = "too_large"          // the body; nothing was read
	CodeMethod          = "method_not_allowed" // the path exists, with other methods
	CodeInternal        = "internal"           // a fault of the server
)

// ConsoleProtocol is the protocol of a console connection in the Upgrade header: raw bytes both
// ways.
const ConsoleProtocol = "vjob-console"

// MediaLines is the media type of a list as lines: an entry of it in JSON on each, https://github.com/ndjson/ndjson-spec. Its
// length has no bound, since neither side holds more than a part of it.
const MediaLines = "application/x-ndjson"

// TotalHeader names the header of a list as lines that says how many entries the whole list has; it is absent behind a cursor.
const TotalHeader = "X-Total-Count"

// KeyHeader names the request header of POST /v1/vjobs that makes repeating a
// submission safe: the same key of the same owner is the same vjob.
const KeyHeader = "Idempotency-Key"
