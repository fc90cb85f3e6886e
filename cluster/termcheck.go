package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Bounds of terms.
const (
	maxAfter    = 1000 // dependencies
	maxCPU      = 1e9  // thousandths of a processor
	maxComment  = 1000 // bytes
	maxLabels   = 64
	maxLabel    = 8 << 10 // bytes
	maxMinRun   = Seconds(30 * 24 * time.Hour)
	maxFlexible = Seconds(30 * 24 * time.Hour)
)

// What fields have to be, where a bound is part of it.
var (
	wantReservation = fmt.Sprintf("from 0 to %d", int64(maxCPU))
	wantLimit       = fmt.Sprintf("from 1 to %d, or 0 for none", int64(maxCPU))
	wantMinRun      = fmt.Sprintf("from 0 to %s", maxMinRun)
	wantFlexible    = fmt.Sprintf("from 0 to %s", maxFlexible)
	wantAfter       = fmt.Sprintf("at most %d dependencies", maxAfter)
	wantComment     = fmt.Sprintf("one line of at most %d bytes without control characters", maxComment)
	wantLabels      = fmt.Sprintf("at most %d labels", maxLabels)
)

// Check returns a [FieldError] for each term that is invalid by itself or beside another one. Which
// queues, projects and vjobs exist, and which addresses may be notified, it does not check.
func (t *Terms) Check() error {
	var faults Faults
	for _, fault := range []struct {
		is    bool
		field string
		value any
		want  string
	}{
		{t.Queue != "" && !IsName(t.Queue), "queue", t.Queue, wantName},
		{t.Project != "" && !IsName(t.Project), "project", t.Project, wantName},
		{t.Pool != "" && !IsName(t.Pool), "pool", t.Pool, wantName},
		{t.CPUReservation < 0 || t.CPUReservation > maxCPU, "cpu_reservation_milli", int64(t.CPUReservation), wantReservation},
		{t.CPULimit < 0 || t.CPULimit > maxCPU, "cpu_limit_milli", int64(t.CPULimit), wantLimit},
		{!(t.MinShare >= 0 && t.MinShare <= 1), "floor", t.MinShare, "from 0 to 1"},
		{t.MinRun < 0 || t.MinRun > maxMinRun, "min_run_seconds", t.MinRun, wantMinRun},
		{t.Flexible < 0 || t.Flexible > maxFlexible, "flexible_seconds", t.Flexible, wantFlexible},
		{t.MaxConcurrent < 0, "at_once", t.MaxConcurrent, "1 or more, or 0 for all"},
		{t.Inner < 0, "inner", t.Inner, "the number of a container"},
		{len(t.After) > maxAfter, "after", len(t.After), wantAfter},
		{len(t.Comment) > maxComment || !Printable(t.Comment, ""), "comment", t.Comment, wantComment},
		{len(t.Labels) > maxLabels, "labels", len(t.Labels), wantLabels},
	} {
		if fault.is {
			faults.Add(BadField(fault.field, fault.value, fault.want))
		}
	}
	_, err := ParseShares(t.Shares)
	faults.Add(t.checkTogether(), checkOutput("output", t.Output), checkOutput("error", t.Error), err, checkDependencies(t.After), checkLabels(t.Labels))
	return faults.Err()
}

// checkTogether returns the fault of terms that exclude each other.
func (t *Terms) checkTogether() error {
	switch {
	case t.Flexible > 0 && !t.Reservation.IsZero():
		return Fault("flexible_seconds", "a vjob with a reservation starts when that begins, want 0")
	case t.CPULimit > 0 && t.CPUReservation > t.CPULimit:
		return Fault("cpu_reservation_milli", "%s CPU reserved, the limit is %s: raise cpu_limit_milli", t.CPUReservation, t.CPULimit)
	case t.BestEffort && t.Preemption == Never:
		return Fault("yields", "a best-effort vjob is preempted, want suspend or end instead of %s", t.Preemption)
	}
	return nil
}

func checkDependencies(after []Dependency) error {
	var faults Faults
	for i, d := range after {
		field := fmt.Sprintf("after[%d]", i)
		switch {
		case d.Name != "" && d.On != 0:
			faults.Add(Fault(field+".name", "given beside on, want one of the two"))
		case d.Name == "" && d.On < 1:
			faults.Add(BadField(field+".on", d.On, "the number of a vjob, such as 12"))
		case d.Each && !d.Array:
			faults.Add(Fault(field+".each", "given without array, want both: each vjob waits for the one of that array with its index"))
		}
	}
	return faults.Err()
}

// IsLabel reports whether s is a valid name of a label.
func IsLabel(s string) bool {
	return s != "" && len(s) <= longestName && letter(s[0]) && plain(s, "._-")
}

func checkLabels(labels map[string]string) error {
	var faults Faults
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if !IsLabel(name) {
			faults.Add(BadField(labelField(name), name, "a name of 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter"))
		} else if text := labels[name]; len(text) > maxLabel || !Printable(text, "\n\t") {
			faults.Add(BadField("labels."+name, text, fmt.Sprintf("printable text of at most %d bytes", maxLabel)))
		}
	}
	return faults.Err()
}

// labelField is the field of a label in errors, unless its name is too long to show or has control characters.
func labelField(name string) string {
	if len(name) > 64 || !Printable(name, "") {
		return "labels"
	}
	return "labels." + name
}

// Printable reports whether a text has no control characters but the allowed ones.
func Printable(text, allowed string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && !strings.ContainsRune(allowed, r)
	})
}
