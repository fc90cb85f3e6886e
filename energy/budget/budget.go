// Package budget gives the power that the cluster, or a group of its nodes, may draw at an
// instant, with budgets that vary by hour and day.
//
// It is pure: time and zone are arguments.
package budget

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/cluster/calendar"
	"vjob/energy"
)

// Budget is one budget.
type Budget struct {
	Watts energy.Watts `json:"watts"`
	Group Group        `json:"group,omitzero"`
	When  string       `json:"when,omitempty"` // a window of cluster/calendar; "" applies while no other line of the group does
}

// String is "12 kW Mo-Fr 18:00-08:00 rack=r1".
func (l Budget) String() string {
	return strings.Join(slices.DeleteFunc([]string{l.Watts.String(), l.When, l.Group.String()}, func(s string) bool { return s == "" }), " ")
}

// Group is the nodes with a label value; its zero value is all nodes.
type Group struct{ Label, Value string }

// ParseGroup reads "rack=r1"; "" is all nodes.
func ParseGroup(s string) (Group, error) {
	label, value, ok := strings.Cut(s, "=")
	if s != "" && (!ok || label == "" || value == "") {
		return Group{}, cluster.BadField("group", s, `a label of nodes with its value, such as "rack=r1"`)
	}
	return Group{label, value}, nil
}

// String formats the group as ParseGroup reads it.
func (g Group) String() string {
	if g == (Group{}) {
		return ""
	}
	return g.Label + "=" + g.Value
}

// Name is the display name: "the cluster" or "rack=r1".
func (g Group) Name() string {
	if g == (Group{}) {
		return "the cluster"
	}
	return g.String()
}

// Has reports whether a node with the given labels is in the group.
func (g Group) Has(labels map[string]string) bool {
	value, labelled := labels[g.Label]
	return g == (Group{}) || labelled && value == g.Value
}

// MarshalText writes the group.
func (g Group) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads the group.
func (g *Group) UnmarshalText(b []byte) (err error) {
	*g, err = ParseGroup(string(b))
	return err
}

// Parse reads lines that [Format] wrote; "" has no lines.
func Parse(text string) (lines []Budget, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &lines); err != nil {
		return nil, fmt.Errorf("budgets: %w", err)
	}
	return lines, nil
}

// Format formats lines as JSON; "" if there are no lines.
func Format(lines []Budget) string {
	if len(lines) == 0 {
		return ""
	}
	text, err := json.Marshal(lines)
	if err != nil {
		panic(err) // numbers are finite: see [New]
	}
	return string(text)
}

// Schedule is a valid set of lines. It is immutable; nil has no lines.
type Schedule struct {
	lines  []Budget
	groups []calendars
}

type calendars struct {
	group Group
	watts *calendar.Calendar[energy.Watts]
}

// noLimit stands for no limit.
var noLimit = energy.Watts(math.Inf(1))

// maxWatts bounds a budget, to catch typing errors.
const maxWatts = energy.Watts(1e12)

// New makes a book of lines in a time zone. It returns a [cluster.FieldError] for an invalid
// line, for example if windows of one group overlap.
func New(zone *time.Location, lines []Budget) (*Schedule, error) {
	b := &Schedule{lines: slices.Clone(lines)}
	for i, l := range lines {
		if !(l.Watts >= 0 && l.Watts <= maxWatts) {
			return nil, cluster.BadField(fmt.Sprintf("budgets[%d].watts", i), float64(l.Watts), "watts, from 0 to 1e12")
		}
		if slices.ContainsFunc(lines[:i], func(o Budget) bool { return o.Group == l.Group }) {
			continue // its group is done
		}
		c, err := ofGroup(zone, lines, l.Group)
		if err != nil {
			return nil, err
		}
		b.groups = append(b.groups, calendars{l.Group, c})
	}
	slices.SortFunc(b.groups, func(a, b calendars) int { return strings.Compare(a.group.String(), b.group.String()) })
	return b, nil
}

// ofGroup returns the calendar of one group.
func ofGroup(zone *time.Location, lines []Budget, group Group) (*calendar.Calendar[energy.Watts], error) {
	standard, standing := noLimit, false
	var entries []calendar.Entry[energy.Watts]
	for i, l := range lines {
		switch {
		case l.Group != group:
		case l.When != "":
			w, err := calendar.Parse(l.When)
			if err != nil {
				return nil, cluster.Renamed(fmt.Sprintf("budgets[%d].when", i), err)
			}
			entries = append(entries, calendar.Entry[energy.Watts]{Name: l.When, When: w, Value: l.Watts})
		case standing:
			return nil, cluster.Fault(fmt.Sprintf("budgets[%d].when", i), "missing: %s has a budget without a window already", group.Name())
		default:
			standard, standing = l.Watts, true
		}
	}
	c, err := calendar.New(zone, standard, entries...)
	if err != nil {
		return nil, cluster.Renamed("budgets of "+group.Name(), err)
	}
	return c, nil
}

// Budgets returns a copy of the lines.
func (b *Schedule) Budgets() []Budget {
	if b == nil {
		return nil
	}
	return slices.Clone(b.lines)
}

// Limit is the power that a group may draw at an instant.
type Limit struct {
	Group Group
	Watts energy.Watts
	When  string // the active window; "" for the line without one
}

// At returns the limits at an instant, sorted by group. Groups without a limit are omitted.
func (b *Schedule) At(t time.Time) (list []Limit) {
	if b == nil {
		return nil
	}
	for _, g := range b.groups {
		if w, window := g.watts.At(t); w < noLimit {
			list = append(list, Limit{g.group, w, window})
		}
	}
	return list
}

// Next returns the first instant after t at which another line applies to some group, and
// false if no line changes.
func (b *Schedule) Next(t time.Time) (next time.Time, ok bool) {
	if b == nil {
		return next, false
	}
	for _, g := range b.groups {
		if at, changes := g.watts.Next(t); changes && (!ok || at.Before(next)) {
			next, ok = at, true
		}
	}
	return next, ok
}

// Schedules are several books that apply together. Nil ones have no lines.
type Schedules []*Schedule

// At returns the limits at an instant, the smallest of each group.
func (b Schedules) At(t time.Time) (list []Limit) {
	for _, book := range b {
		list = Tighter(list, book.At(t))
	}
	return list
}

// Next returns the first instant after t at which another line applies, and false if no line
// changes.
func (b Schedules) Next(t time.Time) (next time.Time, ok bool) {
	for _, book := range b {
		if at, changes := book.Next(t); changes && (!ok || at.Before(next)) {
			next, ok = at, true
		}
	}
	return next, ok
}

// Tightens reports whether next allows any group less than now.
func Tightens(now, next []Limit) bool {
	for _, l := range next {
		i := slices.IndexFunc(now, func(o Limit) bool { return o.Group == l.Group })
		if i < 0 || l.Watts < now[i].Watts {
			return true
		}
	}
	return false
}

// Tighter merges limits: of each group the smaller one.
func Tighter(a, b []Limit) []Limit {
	list := slices.Clone(a)
	for _, l := range b {
		i := slices.IndexFunc(list, func(o Limit) bool { return o.Group == l.Group })
		switch {
		case i < 0:
			list = append(list, l)
		case l.Watts < list[i].Watts:
			list[i] = l
		}
	}
	slices.SortFunc(list, func(a, b Limit) int { return strings.Compare(a.Group.String(), b.Group.String()) })
	return list
}
