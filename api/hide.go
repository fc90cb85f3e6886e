package api

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"vjob/cluster"
	"vjob/scheduler"
)

// Reasons name the vjobs that a vjob waits for or makes room for. Users read their own numbers
// in them; other vjobs are only counted.

var (
	// listedVJobs is a list of vjobs in a reason: "vjob 3", "behind 12, 15 and 16", "behind 12 and 4 more",
	// "reservations 7 and 9".
	listedVJobs = regexp.MustCompile(`\b(vjobs?|reservations?|behind|make room for|container) (\d+(?:, \d+)*)(?: and (\d+)( more)?)?\b`)
	// vmsListed are VMs in a reason, or in the text of a rule: "lonely({VM 12.3, VM 12.4})".
	vmsListed = regexp.MustCompile(`\bVM \d+\.\d+(?:, VM \d+\.\d+)*\b`)
	vjobOf    = regexp.MustCompile(`VM (\d+)\.`)
)

// Shown is a text as a user may read it: live vjobs of other owners, and their VMs, are not
// named. An empty viewer is an administrator, for which the text stays as it is.
func Shown(text, viewer string, now *scheduler.Snapshot) string {
	return shown(text, viewer, func(id cluster.VJobID) bool {
		status, live := now.VJobs[id]
		return live && status.Owner != viewer
	})
}

// shown is a text that does not name vjobs that are foreign to a viewer.
func shown(text, viewer string, is func(id cluster.VJobID) bool) string {
	if viewer == "" || !strings.ContainsAny(text, "0123456789") {
		return text
	}
	foreign := func(number string) bool {
		id, err := strconv.ParseInt(number, 10, 64)
		return err == nil && is(cluster.VJobID(id))
	}
	text = withoutVMs(text, foreign)
	return listedVJobs.ReplaceAllStringFunc(text, func(list string) string { return counted(list, foreign) })
}

// discreet is an error of the loop as a user may read it. One that tells of the cluster, and not
// only of what was sent, may name vjobs, also such as have come since the last decision.
func discreet(err error, viewer string, now *scheduler.Snapshot) error {
	bad, ok := errors.AsType[*cluster.FieldError](err)
	if !ok || bad.Text == "" {
		return err
	}
	told := *bad
	told.Text = shown(bad.Text, viewer, func(id cluster.VJobID) bool { return now.VJobs[id].Owner != viewer })
	return &told
}

// withoutVMs is a text that does not name the VMs of foreign vjobs.
func withoutVMs(text string, foreign func(number string) bool) string {
	return vmsListed.ReplaceAllStringFunc(text, func(list string) string {
		for _, vm := range vjobOf.FindAllStringSubmatch(list, -1) {
			if foreign(vm[1]) {
				return "VMs of another user"
			}
		}
		return list
	})
}

// counted is a list of vjobs in which those of other users are only counted.
func counted(list string, foreign func(number string) bool) string {
	parts := listedVJobs.FindStringSubmatch(list)
	numbers, more := strings.Split(parts[2], ", "), 0
	switch {
	case parts[4] != "":
		more, _ = strconv.Atoi(parts[3])
	case parts[3] != "":
		numbers = append(numbers, parts[3])
	}
	var own []string
	for _, n := range numbers {
		if !foreign(n) {
			own = append(own, n)
		}
	}
	hidden := len(numbers) - len(own)
	if hidden == 0 {
		return list
	}
	return reworded(parts[1], own, hidden+more)
}

// reworded is a list of vjobs of which some are only counted.
func reworded(word string, own []string, others int) string {
	if len(own) > 0 {
		return fmt.Sprintf("%s %s and %d more", word, strings.Join(own, ", "), others)
	}
	before, thing := "", "vjob"
	switch {
	case strings.HasPrefix(word, "reservation"):
		thing = "reservation"
	case !strings.HasPrefix(word, "vjob") && word != "container":
		before = word + " "
	}
	if others == 1 {
		return before + "a " + thing + " of another user"
	}
	return fmt.Sprintf("%s%d %ss of other users", before, others, thing)
}
