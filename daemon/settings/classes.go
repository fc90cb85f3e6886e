package settings

import "strings"

// Class is when a change of a setting takes effect.
type Class string

// The classes.
const (
	Live    Class = "live"    // at a reload
	Restart Class = "restart" // when the daemon is started again
)

// classOf returns the class of a key: a path without the names of entries, and with * for names that the administrator
// chose. That of a section is the class of its first key.
func classOf(key string) (Class, bool) {
	if c, ok := classes[key]; ok {
		return c, true
	}
	for _, k := range ordered {
		if strings.HasPrefix(k, key+".") {
			return classes[k], true
		}
	}
	return Restart, false
}

// isSection reports whether keys are below a key.
func isSection(key string) bool {
	for _, k := range ordered {
		if strings.HasPrefix(k, key+".") {
			return true
		}
	}
	return false
}

var classes, ordered = map[string]Class{}, []string{}
