package wire

import "time"

// Terms are on what terms the owner of a vjob wants it to run. All may be left out.
type Terms struct {
	Queue    string     `json:"queue,omitempty"`
	Project  string     `json:"project,omitempty"`
	Deadline *time.Time `json:"deadline,omitempty"` // by when it should have ended
	Floor    float64    `json:"floor,omitempty"`    // the least share of its CPU with which it is content, from 0 to 1; 0 is all of it

	BestEffort    bool   `json:"best_effort,omitempty"`     // runs in room that nobody else wants
	Yields        string `json:"yields,omitempty"`          // how it makes room: suspend, end or never; "" is suspend
	MinRunSeconds int64  `json:"min_run_seconds,omitempty"` // for so long after each start it makes no room

	NotBefore *time.Time `json:"not_before,omitempty"` // it is not started before
	NotAfter  *time.Time `json:"not_after,omitempty"`  // it has failed unless it has started by then

	// FlexibleSeconds is by how much after its submission it may be started for a lower
	// price of its energy; then it needs a walltime.
	FlexibleSeconds int64 `json:"flexible_seconds,omitempty"`

	Reservation *time.Time `json:"reservation,omitempty"` // its room is kept free from then on

	After []Dependency `json:"after,omitempty"` // all must be met before it may start
	Unmet string       `json:"unmet,omitempty"` // when one never can be: fail, hold or run; "" is fail

	AtOnce int `json:"at_once,omitempty"` // how many vjobs of its array run at once; 0 is all

	Led        bool  `json:"led,omitempty"`        // it ends when the guest of its first VM has shut itself down
	Idempotent bool  `json:"idempotent,omitempty"` // submitted again when it fails
	Container  bool  `json:"container,omitempty"`  // others may run in its room
	Inner      int64 `json:"inner,omitempty"`      // the container in which it runs

	Shapes []Shape `json:"shapes,omitempty"` // what a moldable vjob may be instead

	Notify []string          `json:"notify,omitempty"` // who is told of its states: mail:NAME@HOST or an https address
	Labels map[string]string `json:"labels,omitempty"` // words of those who submit, kept for them
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
