package wire

import "time"

// Terms are the scheduling terms of a vjob. All are optional.
type Terms struct {
	Queue    string     `json:"queue,omitempty"`
	Project  string     `json:"project,omitempty"`
	Deadline *time.Time `json:"deadline,omitempty"` // the latest end
	Floor    float64    `json:"floor,omitempty"`    // least acceptable share of its CPU, from 0 to 1; 0 is all of it

	BestEffort    bool   `json:"best_effort,omitempty"`     // runs on otherwise idle resources
	Yields        string `json:"yields,omitempty"`          // how it is preempted: suspend, end or never; "" is suspend
	MinRunSeconds int64  `json:"min_run_seconds,omitempty"` // after each start, not preempted for so long

	NotBefore *time.Time `json:"not_before,omitempty"` // earliest start
	NotAfter  *time.Time `json:"not_after,omitempty"`  // latest start; otherwise it fails

	// FlexibleSeconds is the longest delay of its start for a lower price of energy; it requires
	// a walltime.
	FlexibleSeconds int64 `json:"flexible_seconds,omitempty"`

	Reservation *time.Time `json:"reservation,omitempty"` // start of its advance reservation

	After []Dependency `json:"after,omitempty"` // dependencies, all required
	Unmet string       `json:"unmet,omitempty"` // if one can no longer be met: fail, hold or run; "" is fail

	AtOnce int `json:"at_once,omitempty"` // most vjobs of its array that run at once; 0 is all

	Led        bool  `json:"led,omitempty"`        // it ends when its first VM shuts down
	Idempotent bool  `json:"idempotent,omitempty"` // submitted again when it fails
	Container  bool  `json:"container,omitempty"`  // inner vjobs run in its resources
	Inner      int64 `json:"inner,omitempty"`      // the container in which it runs

	Shapes []Shape `json:"shapes,omitempty"` // alternatives of a moldable vjob

	Notify []string          `json:"notify,omitempty"` // recipients of notifications: mail:NAME@HOST or an https address
	Labels map[string]string `json:"labels,omitempty"` // stored for the user
}

// Dependency is a condition on another vjob.
type Dependency struct {
	On   int64  `json:"on"`
	When string `json:"when,omitempty"` // afterok, afterany, afternotok or after (it has started); "" is afterok
	// Array is that On is an array, and all its vjobs count: afternotok is met by one, the
	// others by all.
	Array bool `json:"array,omitempty"`
}

// Shape is one alternative of a moldable vjob: VMs as in a submission, and how long it
// runs then.
type Shape struct {
	Count           int      `json:"count,omitempty"`
	Template        *VMSpec  `json:"template,omitempty"`
	VMs             []VMSpec `json:"vms,omitempty"`
	WalltimeSeconds int64    `json:"walltime_seconds"`
	Rules           string   `json:"rules,omitempty"`
}
