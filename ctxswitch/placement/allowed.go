package placement

import (
	"fmt"
	"slices"

	"vjob/repack/rule"
	"vjob/repack/script"
)

// elsewhere has the rules of the catalogue that are for instances in files only, and what decides in a
// running cluster instead.
var elsewhere = map[string]string{
	"ready":     "which vjobs run is decided by the queue; vjob hold keeps one from it",
	"running":   "which vjobs run is decided by the queue, by their priority",
	"sleeping":  "which vjobs run is decided by the queue; vjob suspend takes one off",
	"killed":    "a vjob is ended by vjob delete",
	"online":    "the state of a node is set by vjob nodes online",
	"offline":   "the state of a node is set by vjob nodes drain and offline",
	"maxOnline": "the state of a node is set by vjob nodes drain and online",
}

// mostPenalty is the highest penalty that the owner of a vjob may give a soft rule, in seconds for which one
// VM waits: VMs of others are moved to avoid it.
const mostPenalty = 3600

// ownRules is how many rules a vjob may state.
const ownRules = 200

// refuses says why a rule has no place in the text; "" if it has.
func (v *view) refuses(p *script.Posting) string {
	k := p.Kind
	if why, ok := elsewhere[k.Name]; ok {
		return fmt.Sprintf("%s is not for a running cluster: %s", k.Name, why)
	}
	if !v.own {
		return ""
	}
	ofVMs := slices.ContainsFunc(k.Params, func(p rule.Param) bool {
		return p.Type == rule.VM || p.Type == rule.VMs || p.Type == rule.VMSets
	})
	switch {
	case !ofVMs:
		return k.Name + " is about nodes, which all vjobs share: only an administrator can state it"
	case k.Name == "preserve":
		return "what the VMs of a vjob get is what it was submitted with: their cpu and memory"
	case p.Penalty > mostPenalty:
		return fmt.Sprintf("the penalty of a rule of a vjob is at most %d, and this is %d", mostPenalty, p.Penalty)
	}
	return ""
}
