package watch

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/watch/screen"
)

// live connects the view with the terminal and the daemon: it hands keys, time, events and answers to the view, and looks
// again when its pace says so.
type live struct {
	ctx   context.Context //nolint:containedctx // the library gives its commands none
	feed  *feed
	state *screen.State
	pace  pace
	now   func() time.Time

	query  screen.Query // of the last look
	look   int          // its number; earlier ones are stale
	stop   context.CancelFunc
	open   bool // it has not returned yet
	pulsed time.Time
	wake   int   // number of the next look that is planned; earlier plans are stale
	fatal  error // after which there is nothing to show
}

// The messages of the program.
type (
	lookedMsg struct {
		look    int
		answers []screen.Answer
		began   time.Time
		took    time.Duration
	}
	wakeMsg   int
	tickMsg   struct{}
	eventsMsg []wire.Event
)

// pulseEvery is how long the line below the pages may be old while something happens.
const pulseEvery = 2 * time.Second

// Init looks for the first time.
func (l *live) Init() tea.Cmd { return tea.Batch(l.startLook(), l.tick()) }

// Update takes in a key, a new size of the terminal, time, events, or answers.
func (l *live) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		if m.String() == "ctrl+z" {
			return l, tea.Suspend
		}
		l.state.Press(m.String(), m.Text)
		return l, l.afterKey()
	case tea.PasteMsg:
		l.state.Press("paste", m.Content)
	case tea.WindowSizeMsg:
		l.state.Resize(m.Width, m.Height)
	case tickMsg:
		l.state.Tick(l.now())
		return l, l.tick()
	case eventsMsg:
		l.state.Hear(m)
		l.pace.news = true
		return l, l.plan()
	case wakeMsg:
		if int(m) == l.wake && !l.open {
			return l, l.startLook()
		}
	case lookedMsg:
		return l, l.looked(m)
	}
	return l, nil
}

// View is the text of the view.
func (l *live) View() tea.View {
	v := tea.NewView(l.state.Draw())
	v.AltScreen = true
	return v
}

// afterKey ends the program, or looks at once for what is visible now.
func (l *live) afterKey() tea.Cmd {
	switch {
	case l.state.Ended():
		return tea.Quit
	case l.state.Query() != l.query:
		return l.startLook()
	}
	return nil
}

// tick tells the time every second, more often for bars that move.
func (l *live) tick() tea.Cmd {
	every := time.Second
	if l.state.Moving() {
		every = 250 * time.Millisecond
	}
	return tea.Tick(every, func(time.Time) tea.Msg { return tickMsg{} })
}

// startLook reads what is visible. A look for what was visible before is given up.
func (l *live) startLook() tea.Cmd {
	if l.stop != nil {
		l.stop()
	}
	ctx, stop := context.WithCancel(l.ctx)
	l.stop, l.open, l.query = stop, true, l.state.Query()
	l.look++
	l.wake++
	l.pace.news = false
	look, query, began := l.look, l.query, l.now()
	queries := []screen.Query{query}
	if own := query.Kind == screen.Events || query.Kind == screen.Text; own {
		queries = nil
	}
	if began.Sub(l.pulsed) >= pulseEvery || len(queries) == 0 {
		queries = append(queries, screen.Query{Kind: screen.Pulse})
	}
	return func() tea.Msg {
		defer stop()
		m := lookedMsg{look: look, began: began}
		for _, q := range queries {
			m.answers = append(m.answers, l.feed.read(ctx, q))
		}
		m.took = l.now().Sub(began)
		return m
	}
}

// looked takes in what a look has brought, and plans the next one.
func (l *live) looked(m lookedMsg) tea.Cmd {
	failed := false
	for _, a := range m.answers {
		switch {
		case errors.Is(a.Err, context.Canceled):
			continue
		case errors.Is(a.Err, cluster.ErrUnauthenticated):
			l.fatal = a.Err
			return tea.Quit
		case errors.Is(a.Err, cluster.ErrUnavailable):
			failed = true
		case a.Query.Kind == screen.Pulse:
			l.pulsed = m.began
		}
		l.state.Take(a)
	}
	if m.look != l.look {
		return nil
	}
	l.open = false
	l.pace.began, l.pace.took = m.began, m.took
	l.pace.failed++
	if !failed {
		l.pace.failed = 0
	}
	if l.state.Query() != l.query {
		return l.startLook()
	}
	return l.plan()
}

// plan has the next look begin when it is due. A look that is under way plans it when it has returned.
func (l *live) plan() tea.Cmd {
	if l.open {
		return nil
	}
	l.wake++
	wake := l.wake
	due := l.pace.due(l.query, l.state.Moving())
	return tea.Tick(max(0, due.Sub(l.now())), func(time.Time) tea.Msg { return wakeMsg(wake) })
}
