package wire

import "time"

// Rules are the placement rules of the cluster.
type Rules struct {
	Settings string     `json:"settings"`            // those of the daemon's settings, which hold as well
	Text     string     `json:"text"`                // those that administrators have stated
	StatedBy string     `json:"stated_by,omitempty"` // last
	Stated   *time.Time `json:"stated,omitempty"`    // when they were changed last
	Broken   []string   `json:"broken"`              // what breaks rules now, those of vjobs included
	Dropped  []string   `json:"dropped"`             // preferred rules that cannot be kept now, each with the reason
}

// RulesChange replaces the rules of the cluster.
type RulesChange struct {
	Text  string `json:"text"`            // "" removes all
	Check bool   `json:"check,omitempty"` // only check them
}
