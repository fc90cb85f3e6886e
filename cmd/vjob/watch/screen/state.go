// Package screen is the live view of `vjob watch` without its terminal and its daemon: what keys, answers of the daemon
// and time do to it, and the text that it shows. The same calls give the same text.
package screen

import (
	"errors"
	"slices"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/display"
)

// Kind is what a view shows.
type Kind uint8

// The kinds of views. The first five are the pages, in the order of their keys.
const (
	Nodes Kind = iota
	VJobs
	Plans
	Events
	Alarms
	OneVJob
	Output
	OneNode
	OnePlan
	Text  // of the program itself, or of a row: nothing is read for it
	Pulse // what the line below the pages says; no view shows it
)

// PageNames are the pages, in the order of their keys.
var PageNames = []string{"nodes", "vjobs", "plans", "events", "alarms"}

// Query is what a view needs to be read.
type Query struct {
	Kind   Kind
	ID     int64  // of a vjob, an array (VJobs) or a plan
	Rank   int    // of the VM of which Output is shown
	Node   string // of OneNode
	Filter string // of VJobs, as the user wrote it
}

// Answer is what was read for a query: one of the types below, or a list of package wire.
type Answer struct {
	Query Query
	Value any
	Err   error
}

type (
	// VJobShown answers OneVJob.
	VJobShown struct {
		Detail     wire.VJobDetail
		Submission wire.Submission
	}
	// OutputShown answers Output: the last lines of what a VM has printed.
	OutputShown struct {
		VMs  int
		Text string
	}
	// NodeShown answers OneNode. The vjobs are those on it that the user may see.
	NodeShown struct {
		Node  wire.NodeDetail
		VJobs []wire.VJob
	}
	// PulseShown answers Pulse.
	PulseShown struct {
		Health wire.Health
		Plan   *wire.Plan // the latest one; may be nil
		Alarms *int       // open ones that are not acknowledged; nil: the user may not know
	}
)

// Settings are what a State begins with.
type Settings struct {
	Page    Kind // one of the pages
	Colours bool
	// CheckFilter returns what is wrong with a filter of vjobs; nil: nothing ever is.
	CheckFilter func(text string) error
}

// State is all of a live view. Only its methods change it.
type State struct {
	settings      Settings
	now           time.Time
	width, height int // height 0: as high as needed

	pages  [5]*view
	page   Kind
	stack  []*view // what was opened on the page, the last one on top
	typing *typing // the filter that is being written; nil: none
	notice string  // what the last key led to, if nothing else shows it

	pulse     *PulseShown
	lostSince time.Time // zero: the daemon answers
	lostWhy   string
	events    []wire.Event
	ended     bool
}

// typing is a filter that is being written.
type typing struct {
	text  string
	fault string
}

// mostEvents is how many events are kept.
const mostEvents = 2000

// New returns the view at its beginning.
func New(settings Settings, now time.Time) *State {
	s := &State{settings: settings, page: settings.Page, now: now, width: 80, height: 24}
	for kind := range s.pages {
		s.pages[kind] = newView(Query{Kind: Kind(kind)})
	}
	return s
}

// view returns what is on top.
func (s *State) view() *view {
	if n := len(s.stack); n > 0 {
		return s.stack[n-1]
	}
	return s.pages[s.page]
}

// views calls f for each view that is kept.
func (s *State) views(f func(v *view)) {
	for _, v := range s.pages {
		f(v)
	}
	for _, v := range s.stack {
		f(v)
	}
}

// Query is what has to be read for what is visible.
func (s *State) Query() Query { return s.view().query }

// Ended reports whether the user has ended the view.
func (s *State) Ended() bool { return s.ended }

// Lost reports whether the daemon did not answer the last time.
func (s *State) Lost() bool { return !s.lostSince.IsZero() }

// Moving reports whether the view changes by itself as time goes on, which a clock with seconds does not show well enough.
func (s *State) Moving() bool {
	p, ok := s.view().value.(wire.Plan)
	return ok && p.Ended == nil
}

// Tick tells the time.
func (s *State) Tick(now time.Time) {
	s.now = now
	if s.Moving() {
		s.rebuild(s.view())
	}
}

// Resize tells the size of the terminal; a height of 0 is unlimited.
func (s *State) Resize(width, height int) {
	s.width, s.height = max(1, width), max(0, height)
	s.settle()
}

// Take takes in what was read.
func (s *State) Take(a Answer) {
	if errors.Is(a.Err, cluster.ErrUnavailable) {
		if s.lostSince.IsZero() {
			s.lostSince = s.now
		}
		s.lostWhy = a.Err.Error()
		s.settle()
		return
	}
	s.lostSince = time.Time{}
	if a.Query.Kind == Pulse {
		if p, ok := a.Value.(PulseShown); ok && a.Err == nil {
			s.pulse = &p
		}
		return
	}
	s.views(func(v *view) {
		if v.query != a.Query {
			return
		}
		v.fault = ""
		if a.Err != nil {
			v.fault = display.Clean(a.Err.Error())
		} else {
			v.value = a.Value
		}
		v.width = 0
	})
	s.settle()
}

// Hear takes in events, oldest first.
func (s *State) Hear(events []wire.Event) {
	s.events = append(s.events, events...)
	s.events = slices.Delete(s.events, 0, max(0, len(s.events)-mostEvents))
	page := s.pages[Events]
	page.value, page.width = s.events, 0
	s.settle()
}

// settle rebuilds the visible view if its value or the width has changed, and keeps its cursor in sight.
func (s *State) settle() {
	v := s.view()
	if v.width != s.width {
		s.rebuild(v)
	}
	v.scroll(s.body(v))
}

func (s *State) rebuild(v *view) {
	v.build(s.width, s.now)
	v.scroll(s.body(v))
}
