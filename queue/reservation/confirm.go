package reservation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/queue"
	"vjob/queue/availability"
)

// grace is how far in the past a reservation may begin, since clocks differ and requests take time.
const grace = time.Minute

// Request asks for one more reservation.
type Request struct {
	Now     time.Time
	Horizon time.Duration // how far ahead it may begin; 0: no limit
	Total   cluster.Resources
	queue.Booking
	Others         []queue.Booking // all reservations, running ones too
	NonPreemptible []queue.Job     // other running vjobs that keep their capacity until their end
	// Capacity returns empty capacity that has places for all of these; nil: sums decide.
	Capacity func() queue.Capacity
	Ruled    bool // the vjob has rules of its own
	// Limit returns a quota that the vjob would exceed at an instant, in words; "" for none. May be nil.
	Limit func(at time.Time) string
	// Power returns when between two instants the vjob would exceed a power budget, in words; "" for
	// never. May be nil.
	Power func(from, until time.Time) (at time.Time, why string)
	// NextChange returns the next instant after another at which Limit or Power changes; false: none. May be
	// nil.
	NextChange func(after time.Time) (next time.Time, ok bool)
}

// Confirm returns nil if the reservation can be given, and why not otherwise, as a
// *[cluster.FieldError]. Sums must suffice all the time, and placements whenever another one begins.
func (r *Request) Confirm() error {
	zone := r.Now.Location()
	wrong := func(want string) error {
		return cluster.BadField("reservation", r.From.In(zone).Format(time.RFC3339), want)
	}
	switch {
	case r.Length <= 0:
		return cluster.BadField("walltime_seconds", r.Length, "more than 0: a reservation ends with its walltime")
	case r.From.Before(r.Now.Add(-grace)):
		return wrong("an instant that is not past; it is " + r.Now.Format(time.RFC3339))
	case r.beyond(r.From):
		return wrong("an instant until " + cluster.Clock(r.Now.Add(r.Horizon), r.Now) + ": that is how far ahead may be reserved")
	}
	if r.From.Before(r.Now) {
		r.From = r.Now
	}
	lack, lacks := r.firstShortfall(r.From)
	if !lacks {
		return nil
	}
	if lack.fragmented {
		if err := r.checkAlone(); err != nil {
			return err
		}
	}
	return &cluster.FieldError{
		Field: "reservation", Value: r.From.Format(time.RFC3339), Want: "an instant from which on there is room",
		Text: fmt.Sprintf("reservation: at %s %s; %s", cluster.Clock(lack.at, r.Now), r.describe(lack), r.advice()),
	}
}

// checkAlone returns an error if the vjob cannot be placed even on an empty cluster.
func (r *Request) checkAlone() error {
	fits, short := r.Capacity().Take(r.VJob)
	if fits {
		return nil
	}
	return &cluster.FieldError{
		Field: "reservation", Value: r.From.Format(time.RFC3339), Want: "VMs and rules for which there are places",
		Text: "reservation: there are no places for its VMs, even if nothing else runs: " + short.String(),
	}
}

// describe returns what is short: "only 12 of the 20 CPU are free beside reservation 7".
func (r *Request) describe(s shortfall) string {
	switch {
	case s.power != "":
		return s.power
	case s.limit != "":
		return "it would be over " + s.limit
	case s.rule != "":
		return "there are no places for its VMs" + r.beside(s.at) + ": in the way is " + s.rule
	case s.fragmented && r.Ruled:
		return fmt.Sprintf("the %s CPU and %s that are free%s are not where its VMs would fit and its rules let them be", s.free.CPU, s.free.Memory, r.beside(s.at))
	case s.fragmented:
		return fmt.Sprintf("the %s CPU and %s that are free%s lie in pieces too small for its VMs", s.free.CPU, s.free.Memory, r.beside(s.at))
	default:
		return "only " + r.share(s.free) + " free" + r.beside(s.at)
	}
}

func (r *Request) profile() *availability.Profile {
	since := r.Now.Truncate(time.Second) // so that full hours stay full
	o := availability.New(since, r.Total, cluster.Resources{})
	for i := range r.NonPreemptible {
		left, ends := r.NonPreemptible[i].Left()
		o.Occupy(r.NonPreemptible[i].Need, left+r.Now.Sub(since), ends)
	}
	for _, b := range r.Others {
		o.Book(b.From, b.Need, b.Length)
	}
	return o
}

// share returns what is short: "12 of the 20 CPU are".
func (r *Request) share(free cluster.Resources) string {
	var parts []string
	if r.Need.CPU > free.CPU {
		parts = append(parts, fmt.Sprintf("%s of the %s CPU", free.CPU, r.Total.CPU))
	}
	if r.Need.Memory > free.Memory {
		parts = append(parts, fmt.Sprintf("%s of the %s", free.Memory, r.Total.Memory))
	}
	return strings.Join(parts, " and ") + " are"
}

// beside returns the vjobs that have the rest: " beside reservations 7 and 9 and what runs".
func (r *Request) beside(at time.Time) string {
	var names []string
	for i := range r.Others {
		if b := &r.Others[i]; b.Covers(at) {
			names = append(names, b.VJob.String())
		}
	}
	var parts []string
	switch len(names) {
	case 0:
	case 1:
		parts = append(parts, "reservation "+names[0])
	default:
		parts = append(parts, "reservations "+strings.Join(names[:len(names)-1], ", ")+" and "+names[len(names)-1])
	}
	if slices.ContainsFunc(r.NonPreemptible, func(j queue.Job) bool { return r.keptAt(&j, at) }) {
		parts = append(parts, "what runs")
	}
	if len(parts) == 0 {
		return ""
	}
	return " beside " + strings.Join(parts, " and ")
}

// advice returns the earliest start instead.
func (r *Request) advice() string {
	start, why := r.earliest(r.From)
	return cmp.Or(why, "the earliest start is "+cluster.Clock(start, r.Now))
}

// roundUp returns the next full minute.
func roundUp(t time.Time) time.Time {
	return t.Add(time.Minute - time.Nanosecond).Truncate(time.Minute)
}
