// Package doctor judges facts about an installation: what is well, what needs attention soon, and what is broken, each with
// the command that comes next. Its checks are pure; the daemon collects the facts.
package doctor

import (
	"slices"
	"strings"
)

// Level is how bad a finding is.
type Level string

// The levels.
const (
	Green  Level = "green"  // well
	Yellow Level = "yellow" // needs attention soon
	Red    Level = "red"    // broken, or about to break
)

// Finding is the result of a check.
type Finding struct {
	Check string // what was checked: store, disk, nodes …
	Level Level
	Text  string
	Next  string // the next step, as a command if there is one; "" if green
}

// checks are all checks, in the order of their findings.
var checks = []func(*Facts) []Finding{
	checkStore, checkSettings, checkDisks, checkClock, checkNodes, checkCapacity, checkProcessors, checkSoftware, checkFiles, checkBackup, checkCertificate, checkMail,
	checkAlarms,
}

// Examine returns the findings of all checks.
func Examine(f *Facts) (list []Finding) {
	for _, check := range checks {
		list = append(list, check(f)...)
	}
	return list
}

// Worst returns the worst level of some findings.
func Worst(list []Finding) Level {
	for _, level := range []Level{Red, Yellow} {
		if slices.ContainsFunc(list, func(f Finding) bool { return f.Level == level }) {
			return level
		}
	}
	return Green
}

// some names the first entries of a list.
func some(list []string) string {
	const most = 8
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:most], ", ") + " and others"
}
