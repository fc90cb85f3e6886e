package reservation

import (
	"fmt"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/queue"
	"vjob/queue/outlook"
)

// Grace is how far in the past a reservation may begin: clocks differ, and requests take
// their time.
const Grace = time.Minute

// Request asks for one more reservation.
type Request struct {
	Now     time.Time
	Horizon time.Duration // how far ahead it may begin; 0: however far
	Total   cluster.Resources
	queue.Booking
	Others []queue.Booking // those that are reserved, whether they run or not
	Kept   []queue.Job     // what else runs and keeps its room until its end
}

// Confirm says why a reservation cannot be given, as a *[cluster.FieldError]; nil: it can.
// Only sums count: whether there are places for it on the empty cluster is for others
// to find out.
func (r *Request) Confirm() error {
	zone := r.Now.Location()
	wrong := func(want string) error {
		return cluster.BadField("reservation", r.From.In(zone).Format(time.RFC3339), want)
	}
	switch {
	case r.Length <= 0:
		return cluster.BadField("walltime_seconds", r.Length, "more than 0: a reservation ends with its walltime")
	case r.From.Before(r.Now.Add(-Grace)):
		return wrong("an instant that is not past; it is " + r.Now.Format(time.RFC3339))
	case r.Horizon > 0 && r.From.After(r.Now.Add(r.Horizon)):
		return wrong("an instant until " + clock(r.Now.Add(r.Horizon), r.Now) + ": that is how far ahead may be reserved")
	}
	if r.From.Before(r.Now) {
		r.From = r.Now
	}
	o := r.outlook()
	at, free, lacks := o.Least(r.From, r.Length, r.Need)
	if !lacks {
		return nil
	}
	return &cluster.FieldError{
		Field: "reservation", Value: r.From.Format(time.RFC3339), Want: "an instant from which on there is room",
		Text: fmt.Sprintf("reservation: at %s only %s free%s; %s", clock(at, r.Now), r.share(free), r.beside(at), r.earliest(o)),
	}
}

func (r *Request) outlook() *outlook.Outlook {
	since := r.Now.Truncate(time.Second) // so that full hours stay such
	o := outlook.New(since, r.Total, cluster.Resources{})
	for i := range r.Kept {
		left, ends := r.Kept[i].Left()
		o.Occupy(r.Kept[i].Need, left+r.Now.Sub(since), ends)
	}
	for _, b := range r.Others {
		o.Book(b.From, b.Need, b.Length)
	}
	return o
}

// share names what is short: "12 of the 20 CPU are".
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

// beside names those that have the rest: " beside reservations 7 and 9 and what runs".
func (r *Request) beside(at time.Time) string {
	var names []string
	for i := range r.Others {
		if b := &r.Others[i]; !at.Before(b.From) && at.Before(b.Until()) {
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
	for i := range r.Kept {
		if left, ends := r.Kept[i].Left(); !ends || at.Before(r.Now.Add(left)) {
			parts = append(parts, "what runs")
			break
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " beside " + strings.Join(parts, " and ")
}

func (r *Request) earliest(o *outlook.Outlook) string {
	start, ok := o.From(r.From, r.Need, r.Length, true)
	switch {
	case !ok:
		return "there is no later start either"
	case r.Horizon > 0 && start.After(r.Now.Add(r.Horizon)):
		return "the earliest start is beyond " + clock(r.Now.Add(r.Horizon), r.Now) + ", as far ahead as may be reserved"
	default:
		return "the earliest start is " + clock(roundUp(start), r.Now)
	}
}

// roundUp is the next full minute.
func roundUp(t time.Time) time.Time {
	return t.Add(time.Minute - time.Nanosecond).Truncate(time.Minute)
}
