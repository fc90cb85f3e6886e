package wire

import "time"

// Doctor is the state of the installation.
type Doctor struct {
	At       time.Time `json:"at"`       // by the clock of the daemon
	Version  string    `json:"version"`  // of the daemon
	Level    string    `json:"level"`    // of the worst finding: green, yellow, red
	Findings []Finding `json:"findings"` // of all checks
}

// Finding is the result of a check.
type Finding struct {
	Check string `json:"check"`          // store, disk, nodes …
	Level string `json:"level"`          // green, yellow, red
	Text  string `json:"text"`           // the result in words
	Next  string `json:"next,omitempty"` // the next step, as a command if there is one
}
