package notify

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Bounds of the work.
const (
	batch     = 500              // events at once
	remember  = 1000             // audiences of vjobs in memory
	patience  = 30 * time.Second // for one attempt
	rest      = 200 * time.Millisecond
	heartbeat = time.Minute // at least so often the log is looked at
)

// Source is what is read.
type Source interface {
	// Events lists events, oldest first.
	Events(ctx context.Context, f journal.EventFilter) ([]journal.Event, error)
	// Notified lists those of some vjobs that have addresses, with their terms.
	Notified(ctx context.Context, ids []cluster.VJobID) ([]journal.Row, error)
}

// Carrier delivers a message. An error that is [ErrRefused] is final.
type Carrier interface {
	Carry(ctx context.Context, to Address, m *Message) error
}

// ErrRefused says that the other side will never take the message.
var ErrRefused = errors.New("refused for good")

// PosterSettings is what a poster is made of. A carrier that is nil delivers nothing: its
// messages are dropped.
type PosterSettings struct {
	Source Source
	Mail   Carrier
	Hook   Carrier
	Rates  Rates
	File   string // where letters are kept
	Host   string // of the daemon, for messages
	Log    *slog.Logger
	Now    func() time.Time
	// Report writes an event down: owners read of hosts that do not answer. May be nil.
	Report func(ctx context.Context, e journal.Event) error
}

// Poster delivers notifications.
type Poster struct {
	PosterSettings
	news   chan struct{}
	ended  chan result
	outbox outbox
	cursor int64 // the last event that was read
	stored int64 // the same, as the file has it
	saved  bool  // the file holds what is owed
	known  map[cluster.VJobID]audience
}

// audience is the addresses of a vjob, and the data of its messages. Other texts of the user are
// left out, since many audiences are kept in memory.
type audience struct {
	addresses []string
	about     Message
}

// result is the result of an attempt.
type result struct {
	*attempt
	err error
}

// NewPoster makes a poster that has not begun.
func NewPoster(c PosterSettings) *Poster {
	return &Poster{
		PosterSettings: c, news: make(chan struct{}, 1), ended: make(chan result, together),
		outbox: outbox{rates: c.Rates}, known: map[cluster.VJobID]audience{},
	}
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
	if err := p.begin(ctx); err != nil {
		return err
	}
	if p.Mail == nil && p.Hook == nil {
		return p.pass(ctx)
	}
	for ctx.Err() == nil {
		more, err := p.turn(ctx)
		if err != nil && ctx.Err() == nil {
			p.Log.LogAttrs(ctx, slog.LevelError, "notifications stand still", slog.String("error", err.Error()))
		}
		p.wait(ctx, more, err == nil)
	}
	for len(p.outbox.attempts) > 0 { // they end by their deadlines
		p.settle(ctx, <-p.ended)
	}
	p.saved = p.saved && p.cursor == p.stored // so that the next one does not read the same events again
	return p.save()
}

// pass delivers nothing: it waits for the end of the context, and passes over what has happened by then.
func (p *Poster) pass(ctx context.Context) error {
	<-ctx.Done()
	if err := p.skip(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	p.saved = p.saved && p.cursor == p.stored
	return p.save()
}

// begin reads the stored letters.
func (p *Poster) begin(ctx context.Context) error {
	owed, known, err := load(p.File)
	if err != nil {
		return err
	}
	p.cursor, p.stored = owed.Cursor, owed.Cursor
	if !known {
		if err := p.skip(ctx); err != nil {
			return err
		}
	}
	for _, l := range owed.Waiting {
		if l.Since.IsZero() { // an older version wrote it
			l.Since = p.Now().UTC()
		}
		p.owe(l)
	}
	p.saved = known
	return p.save()
}

// skip passes over all events that have happened.
func (p *Poster) skip(ctx context.Context) error {
	last, err := p.Source.Events(ctx, journal.EventFilter{Latest: true, Limit: 1})
	if err != nil {
		return err
	}
	for _, e := range last {
		p.cursor = e.Seq
	}
	return nil
}

// owe queues a letter. A letter to an address that no carrier takes is dropped.
func (p *Poster) owe(l *letter) {
	var err error
	if l.to, err = ParseAddress(l.To); err == nil && p.carrier(l) != nil {
		p.outbox.add(l)
		p.saved = false
	}
}

func (p *Poster) carrier(l *letter) Carrier {
	if l.to.URL != nil {
		return p.Hook
	}
	return p.Mail
}

// save stores the letters if they have changed.
func (p *Poster) save() error {
	if p.saved {
		return nil
	}
	owed := letters{Cursor: p.cursor}
	for _, q := range p.outbox.queues {
		owed.Waiting = append(owed.Waiting, q.letters...)
	}
	err := owed.save(p.File)
	if p.saved = err == nil; p.saved {
		p.stored = p.cursor
	}
	return err
}

// turn reads what is new, writes down what is owed, and sends what is due. more reports
// that there is more to read.
func (p *Poster) turn(ctx context.Context) (more bool, err error) {
	if more, err = p.read(ctx); err != nil {
		return false, err
	}
	if n := p.outbox.expire(p.Now()); n > 0 {
		p.saved = false
		p.Log.LogAttrs(ctx, slog.LevelWarn, "notifications dropped after a day", slog.Int("count", n))
	}
	if err := p.save(); err != nil { // before anything is sent
		return false, err
	}
	p.send(ctx)
	return more, nil
}

// read reads a batch of events.
func (p *Poster) read(ctx context.Context) (more bool, err error) {
	events, err := p.Source.Events(ctx, journal.EventFilter{After: p.cursor, Limit: batch})
	if err != nil {
		return false, err
	}
	if err := p.meet(ctx, events); err != nil {
		return false, err
	}
	for i := range events {
		p.take(&events[i])
		p.cursor = events[i].Seq
	}
	return len(events) == batch, nil
}

// take writes a letter to each address that an event concerns.
func (p *Poster) take(e *journal.Event) {
	tag, ok := TagOf(e)
	if !ok {
		return
	}
	to := p.known[e.VJob]
	for _, text := range to.addresses {
		address, err := ParseAddress(text)
		if err != nil || !address.Wants(tag) {
			continue
		}
		m, now := to.about.Of(e, tag), p.Now().UTC()
		p.owe(&letter{To: text, Message: m, OAR: m.OAR, Since: now, Next: now})
	}
}

// meet reads the audiences of the vjobs of some events. A vjob that is gone has none.
func (p *Poster) meet(ctx context.Context, events []journal.Event) error {
	var strangers []cluster.VJobID
	if len(p.known) >= remember {
		clear(p.known)
	}
	for i := range events {
		e := &events[i]
		if _, tagged := TagOf(e); !tagged {
			continue
		}
		if _, known := p.known[e.VJob]; !known {
			strangers = append(strangers, e.VJob)
			p.known[e.VJob] = audience{}
		}
	}
	if len(strangers) == 0 {
		return nil
	}
	rows, err := p.Source.Notified(ctx, strangers)
	if err != nil {
		for _, id := range strangers {
			delete(p.known, id)
		}
		return err
	}
	for i := range rows {
		p.known[rows[i].ID] = audience{rows[i].Notify, About(rows[i].VJob, p.Host)}
	}
	return nil
}

// send begins the attempts that may begin now.
func (p *Poster) send(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	for a := p.outbox.take(p.Now()); a != nil; a = p.outbox.take(p.Now()) {
		go func() { p.ended <- result{a, p.deliver(ctx, a)} }()
	}
	for _, t := range p.outbox.troubles {
		p.report(ctx, &t)
	}
	p.outbox.troubles = nil
}

// deliver makes one attempt.
func (p *Poster) deliver(ctx context.Context, a *attempt) error {
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	m := a.message()
	return p.carrier(a.letters[0]).Carry(soon, a.letters[0].to, &m)
}

// settle records the result of an attempt.
func (p *Poster) settle(ctx context.Context, r result) {
	final := errors.Is(r.err, ErrRefused)
	if r.err != nil && !final && ctx.Err() != nil {
		p.outbox.cancel(r.attempt) // the daemon stops: that was none
		return
	}
	p.saved = false
	p.outbox.settle(r.attempt, p.Now().UTC(), r.err, final)
	if r.err == nil {
		return
	}
	level := slog.LevelDebug
	if final {
		level = slog.LevelWarn
	}
	l := r.letters[0]
	p.Log.LogAttrs(ctx, level, "notification not delivered", slog.Int64("vjob", int64(l.Message.VJob)), slog.String("tag", string(l.Message.Tag)),
		slog.String("to", l.To), slog.Int("tries", l.Tries), slog.Bool("given_up", final), slog.String("error", r.err.Error()))
}

// report tells an owner of trouble, by an event of the vjob.
func (p *Poster) report(ctx context.Context, t *trouble) {
	m := &t.letter.Message
	text := "to " + t.letter.to.place() + ": " + t.text
	p.Log.LogAttrs(ctx, slog.LevelWarn, "notifications in trouble", slog.String("owner", m.Owner), slog.Int64("vjob", int64(m.VJob)), slog.String("trouble", text))
	if p.Report == nil {
		return
	}
	if err := p.Report(ctx, journal.Event{At: p.Now().UTC(), Kind: journal.EventNotify, VJob: m.VJob, Text: text}); err != nil {
		p.Log.LogAttrs(ctx, slog.LevelWarn, "event not written", slog.String("error", err.Error()))
	}
}

// wait rests, so that what comes together is written down together, then waits for news or
// for what is due next. Attempts that end make room for others at once, if going.
func (p *Poster) wait(ctx context.Context, more, going bool) {
	if !p.pause(ctx, rest, nil, going) || more {
		return
	}
	until := heartbeat
	if next, ok := p.outbox.next(p.Now()); ok && going {
		until = min(until, max(next.Sub(p.Now()), 0))
	}
	p.pause(ctx, until, p.news, going)
}

// pause waits; it returns false when the context ended.
func (p *Poster) pause(ctx context.Context, d time.Duration, news <-chan struct{}, going bool) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case r := <-p.ended:
			p.settle(ctx, r)
			if news != nil {
				return true // so that it is written down
			}
			if going {
				p.send(ctx)
			}
		case <-timer.C:
			return true
		case <-news:
			return true
		case <-ctx.Done():
			return false
		}
	}
}
