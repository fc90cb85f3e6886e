// Package alarm keeps the alarms: the conditions that need an administrator, from when they are raised until their
// causes have ended.
//
// Alarms follow from the present state, not from events: [Book.Update] compares the conditions of the moment with the
// open alarms. It is pure; what it changes goes into the journal.
package alarm

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

const (
	// again is how long after its end an alarm that is raised again keeps its number.
	again = time.Hour
	// settle is how long after a start open alarms of the journal stay though their conditions are not seen: some are
	// only seen when what they are about is tried again.
	settle = 2 * time.Minute
)

// Book keeps the open alarms, and those that ended lately.
type Book struct {
	list    []*journal.Alarm // in order of their conditions; at most one of each
	next    journal.AlarmID
	settled time.Time // until then what was loaded stays open
}

// NewBook continues from the journal.
func NewBook(next journal.AlarmID, loaded []journal.Alarm, now time.Time) *Book {
	b := &Book{next: max(next, 1), settled: now.Add(settle)}
	for i := range loaded { // in order of their numbers, so the latest of a condition counts
		a := loaded[i]
		if at, known := b.find(&a.Condition); known {
			b.list[at] = &a
		} else {
			b.list = slices.Insert(b.list, at, &a)
		}
	}
	return b
}

func (b *Book) find(c *journal.Condition) (at int, known bool) {
	return slices.BinarySearchFunc(b.list, c, func(a *journal.Alarm, c *journal.Condition) int { return a.Compare(c) })
}

// Open lists the open alarms, the oldest first.
func (b *Book) Open() (list []journal.Alarm) {
	for _, a := range b.list {
		if a.Ended.IsZero() {
			list = append(list, *a)
		}
	}
	slices.SortFunc(list, func(x, y journal.Alarm) int { return int(x.ID - y.ID) })
	return list
}

// Update raises alarms for the conditions of the present that have none, and ends those whose conditions have gone.
// The events that raise alarms are written where the conditions are found.
func (b *Book) Update(now time.Time, present []journal.Condition, out *journal.Step) {
	seen := map[*journal.Alarm]bool{}
	for i := range present {
		c := &present[i]
		at, known := b.find(c)
		if !known {
			b.list = slices.Insert(b.list, at, &journal.Alarm{ID: b.next, Condition: *c, Ended: now})
			b.next++
		}
		a := b.list[at]
		seen[a] = true
		switch {
		case !a.Ended.IsZero():
			*a = journal.Alarm{ID: a.ID, Condition: *c, Since: now, Count: a.Count + 1}
		case a.Text == c.Text:
			continue
		default:
			a.Text = c.Text
		}
		out.Alarms = append(out.Alarms, *a)
	}
	b.list = slices.DeleteFunc(b.list, func(a *journal.Alarm) bool {
		settling := now.Before(b.settled) && a.Since.Before(b.settled.Add(-settle))
		if a.Ended.IsZero() && !seen[a] && !settling {
			a.Ended = now
			out.Alarms = append(out.Alarms, *a)
			out.Events = append(out.Events, journal.Event{
				At: now, Kind: journal.EventAlarm, VJob: a.VJob, VM: a.VM, Node: a.Node, State: StateEnded, Text: fmt.Sprintf("alarm %d has ended: %s", a.ID, a.Text),
			})
		}
		return !a.Ended.IsZero() && now.Sub(a.Ended) > again
	})
}

// The states of events of kind alarm; the event that raises one has none.
const (
	StateEnded        = "ended"
	StateAcknowledged = "acknowledged"
)

// Acknowledge records that an administrator has taken note of an open alarm. An earlier acknowledgement is replaced.
func (b *Book) Acknowledge(now time.Time, id journal.AlarmID, by, comment string, out *journal.Step) error {
	at := slices.IndexFunc(b.list, func(a *journal.Alarm) bool { return a.ID == id && a.Ended.IsZero() })
	if at < 0 {
		return fmt.Errorf("alarm %d: no open alarm has that number: %w", id, cluster.ErrNotFound)
	}
	a := b.list[at]
	a.AckedBy, a.AckedAt, a.Comment = by, now, comment
	text := fmt.Sprintf("alarm %d is acknowledged by %s", id, by)
	if comment != "" {
		text += ": " + comment
	}
	out.Alarms = append(out.Alarms, *a)
	out.Events = append(out.Events, journal.Event{At: now, Kind: journal.EventAlarm, VJob: a.VJob, VM: a.VM, Node: a.Node, State: StateAcknowledged, Text: text})
	return nil
}
