package post

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"vjob/cluster"
	"vjob/journal"
	"vjob/notify"
)

// Bounds of the work.
const (
	batch     = 500              // events at once
	together  = 8                // deliveries at once
	most      = 10_000           // letters that wait; the log is not read further then
	remember  = 10_000           // vjobs of which it is known who is told
	patience  = 30 * time.Second // for one delivery
	rest      = 200 * time.Millisecond
	heartbeat = time.Minute // at least so often the log is looked at
)

// Source is what is read.
type Source interface {
	// Events lists events, oldest first.
	Events(ctx context.Context, f journal.EventFilter) ([]journal.Event, error)
	VJob(ctx context.Context, id cluster.VJobID) (journal.Kept, error)
}

// Carrier delivers a message. An error that is [ErrRefused] is final.
type Carrier interface {
	Carry(ctx context.Context, to notify.Address, m *notify.Message) error
}

// ErrRefused says that the other side will never take the message.
var ErrRefused = errors.New("refused for good")

// Config is what a poster is made of. A carrier that is nil delivers nothing: its
// messages are dropped.
type Config struct {
	Source Source
	Mail   Carrier
	Hook   Carrier
	File   string // where letters are kept
	Host   string // of the daemon, for messages
	Log    *slog.Logger
	Now    func() time.Time
}

// Poster delivers notifications.
type Poster struct {
	Config
	news    chan struct{}
	letters letters
	told    map[cluster.VJobID]*cluster.VJob // nil: nobody is told of it
}

// New makes a poster that has not begun.
func New(c Config) *Poster {
	return &Poster{Config: c, news: make(chan struct{}, 1), told: map[cluster.VJobID]*cluster.VJob{}}
}

// Notify says that there may be new events. It never waits.
func (p *Poster) Notify() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// Run delivers until the context ends. The first time ever it begins with what happens
// from now on.
func (p *Poster) Run(ctx context.Context) error {
	var known bool
	var err error
	if p.letters, known, err = load(p.File); err != nil {
		return err
	}
	if !known {
		last, err := p.Source.Events(ctx, journal.EventFilter{Latest: true, Limit: 1})
		if err != nil {
			return err
		}
		for _, e := range last {
			p.letters.Cursor = e.Seq
		}
		if err := p.letters.save(p.File); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		more, err := p.turn(ctx)
		if err != nil && ctx.Err() == nil {
			p.Log.LogAttrs(ctx, slog.LevelError, "notifications stand still", slog.String("error", err.Error()))
		}
		p.wait(ctx, more && err == nil)
	}
	return nil
}

// turn reads what is new, writes down what is owed, and delivers what is due. more
// reports that there is more to read.
func (p *Poster) turn(ctx context.Context) (more bool, err error) {
	if len(p.letters.Waiting) < most {
		if more, err = p.read(ctx); err != nil {
			return false, err
		}
	}
	return more, p.deliver(ctx)
}

// read takes in a batch of events.
func (p *Poster) read(ctx context.Context) (more bool, err error) {
	events, err := p.Source.Events(ctx, journal.EventFilter{After: p.letters.Cursor, Limit: batch})
	if err != nil {
		return false, err
	}
	before := len(p.letters.Waiting)
	for i := range events {
		if err := p.owe(ctx, &events[i]); err != nil {
			return false, err
		}
		p.letters.Cursor = events[i].Seq
	}
	if len(p.letters.Waiting) > before {
		err = p.letters.save(p.File) // before anything is sent
	}
	return len(events) == batch, err
}

// owe writes a letter to each whom an event concerns.
func (p *Poster) owe(ctx context.Context, e *journal.Event) error {
	tag, ok := notify.TagOf(e)
	if !ok {
		return nil
	}
	j, err := p.concerned(ctx, e.VJob)
	if err != nil || j == nil {
		return err
	}
	for _, text := range j.Notify {
		to, err := notify.ParseAddress(text)
		if err != nil || !to.Wants(tag) {
			continue // addresses were checked at the submission; one of older rules is nobody's
		}
		m := notify.MessageOf(e, tag, j, p.Host)
		p.letters.Waiting = append(p.letters.Waiting, letter{To: text, Message: m, OAR: m.OAR, Next: p.Now().UTC()})
	}
	return nil
}

// concerned is the vjob, if anybody is told of it.
func (p *Poster) concerned(ctx context.Context, id cluster.VJobID) (*cluster.VJob, error) {
	if j, known := p.told[id]; known {
		return j, nil
	}
	kept, err := p.Source.VJob(ctx, id)
	if err != nil && !errors.Is(err, cluster.ErrNotFound) {
		return nil, err
	}
	if len(p.told) >= remember {
		clear(p.told)
	}
	p.told[id] = nil
	if err == nil && len(kept.Notify) > 0 {
		p.told[id] = &cluster.VJob{ID: id, Name: kept.Name, Owner: kept.Owner, Terms: kept.Terms}
	}
	return p.told[id], nil
}

// deliver makes one attempt at each letter that is due, and writes down what is left.
func (p *Poster) deliver(ctx context.Context) error {
	now := p.Now()
	var due []int
	for i := range p.letters.Waiting {
		if !p.letters.Waiting[i].Next.After(now) {
			due = append(due, i)
		}
	}
	if len(due) == 0 {
		return nil
	}
	done := make([]bool, len(p.letters.Waiting))
	var sending sync.WaitGroup
	slots := make(chan struct{}, together)
	for _, i := range due {
		slots <- struct{}{}
		sending.Go(func() {
			defer func() { <-slots }()
			done[i] = p.attempt(ctx, &p.letters.Waiting[i])
		})
	}
	sending.Wait()
	left := p.letters.Waiting[:0:0]
	for i, l := range p.letters.Waiting {
		if !done[i] {
			left = append(left, l)
		}
	}
	p.letters.Waiting = left
	return p.letters.save(p.File)
}

// attempt tries to deliver a letter; done reports that nothing is owed any more.
func (p *Poster) attempt(ctx context.Context, l *letter) (done bool) {
	to, err := notify.ParseAddress(l.To)
	carrier := p.Mail
	if to.URL != nil {
		carrier = p.Hook
	}
	if err != nil || carrier == nil {
		return true
	}
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	m := l.Message
	m.OAR = l.OAR
	err = carrier.Carry(soon, to, &m)
	switch {
	case err == nil:
		return true
	case ctx.Err() != nil:
		return false // the daemon stops: that was no attempt
	}
	l.Tries++
	pause, again := notify.Pause(l.Tries)
	l.Next = p.Now().UTC().Add(pause)
	given := errors.Is(err, ErrRefused) || !again
	level := slog.LevelDebug
	if given {
		level = slog.LevelWarn
	}
	p.Log.LogAttrs(ctx, level, "notification not delivered", slog.Int64("vjob", int64(m.VJob)), slog.String("tag", string(m.Tag)),
		slog.String("to", l.To), slog.Int("tries", l.Tries), slog.Bool("given_up", given), slog.String("error", err.Error()))
	return given
}

// wait rests, then waits for news or for the next letter that is due.
func (p *Poster) wait(ctx context.Context, more bool) {
	if !pause(ctx, rest, nil) || more {
		return
	}
	until := heartbeat
	if len(p.letters.Waiting) > 0 {
		next := slices.MinFunc(p.letters.Waiting, func(a, b letter) int { return a.Next.Compare(b.Next) }).Next
		until = min(until, max(next.Sub(p.Now()), 0))
	}
	pause(ctx, until, p.news)
}

// pause waits; it returns false when the context ended.
func pause(ctx context.Context, d time.Duration, news <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-news:
	case <-ctx.Done():
		return false
	}
	return true
}
