package api

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"vjob/cluster"
	"vjob/scheduler"
)

// Reasons name the vjobs that a vjob waits for, or that preempt it. Users see the numbers of
// their own vjobs; vjobs of other users are only counted.

var (
	// listedVJobs matches a list of vjobs in a reason: "vjob 3", "behind 12, 15 and 16", "behind 12 and 4 more",
	// "reservations 7 and 9".
	listedVJobs = regexp.MustCompile(`\b(vjobs?|reservations?|behind|make room for|container) (\d+(?:, \d+)*)(?: and (\d+)( more)?)?\b`)
	// vmsListed matches VMs in a reason, or in the text of a rule: "lonely({VM 12.3, VM 12.4})".
	vmsListed = regexp.MustCompile(`\bVM \d+\.\d+(?:, VM \d+\.\d+)*\b`)
	vjobOf    = regexp.MustCompile(`VM (\d+)\.`)
)

// Shown returns a text as a user may read it: live vjobs of other owners and their VMs are not
// named. An empty viewer is an administrator: administrators see the text unchanged. The vjob that the text is about,
// if any, is the viewer's own, even if it has ended.
func Shown(text, viewer string, now *scheduler.Snapshot, about ...cluster.VJobID) string {
	if viewer != "" { // a text that is kept names VMs of vjobs that have ended since, of which the owner is unknown
		text = redactVMs(text, func(number string) bool {
			id, err := strconv.ParseInt(number, 10, 64)
			return err == nil && !slices.Contains(about, cluster.VJobID(id)) && now.VJob(cluster.VJobID(id)).Owner != viewer
		})
	}
	return redact(text, viewer, func(id cluster.VJobID) bool {
		status, live := now.VJobs.Get(id)
		return live && status.Owner != viewer
	})
}

// redact removes the names of the vjobs for which is returns true.
func redact(text, viewer string, is func(id cluster.VJobID) bool) string {
	if viewer == "" || !strings.ContainsAny(text, "0123456789") {
		return text
	}
	foreign := func(number string) bool {
		id, err := strconv.ParseInt(number, 10, 64)
		return err == nil && is(cluster.VJobID(id))
	}
	text = redactVMs(text, foreign)
	return listedVJobs.ReplaceAllStringFunc(text, func(list string) string { return redactList(list, foreign) })
}

// redactError returns an error of the scheduler as a user may read it. An error with a text describes
// the cluster and may name vjobs, even ones submitted after the snapshot.
func redactError(err error, viewer string, now *scheduler.Snapshot) error {
	return cluster.EachFault(err, func(bad *cluster.FieldError) error {
		if bad.Text == "" {
			return bad
		}
		redacted := *bad
		redacted.Text = redact(bad.Text, viewer, func(id cluster.VJobID) bool { return now.VJob(id).Owner != viewer })
		return &redacted
	})
}

// redactVMs removes the names of VMs of foreign vjobs from a text.
func redactVMs(text string, foreign func(number string) bool) string {
	return vmsListed.ReplaceAllStringFunc(text, func(list string) string {
		for _, vm := range vjobOf.FindAllStringSubmatch(list, -1) {
			if foreign(vm[1]) {
				return "VMs of another user"
			}
		}
		return list
	})
}

// redactList replaces the vjobs of other users in a list by their number.
func redactList(list string, foreign func(number string) bool) string {
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
	return redactedList(parts[1], own, hidden+more)
}

// redactedList formats a list of the own vjobs and the number of others.
func redactedList(word string, own []string, others int) string {
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
