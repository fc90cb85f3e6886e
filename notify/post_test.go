package notify_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net/mail"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/notify"
)

// source is a log of events and vjobs in memory.
type source struct {
	mu     sync.Mutex
	events []journal.Event
	notify map[cluster.VJobID][]string
	owners map[cluster.VJobID]string // ann for all others
	asked  [][]cluster.VJobID        // the arguments of Notified
	read   int                       // events that Events has returned
}

func (s *source) add(id cluster.VJobID, state cluster.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := int64(len(s.events) + 1)
	s.events = append(s.events, journal.Event{
		Seq: n, At: time.Unix(n, 0), Kind: journal.EventState, VJob: id, State: state.String(), Text: fmt.Sprintf("vjob %d is %s: é", id, state),
	})
}

func (s *source) Events(_ context.Context, f journal.EventFilter) (list []journal.Event, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.Seq > f.After && len(list) < f.Limit {
			list = append(list, e)
		}
	}
	if f.Latest {
		list = s.events[max(len(s.events)-f.Limit, 0):]
	}
	s.read += len(list)
	return list, nil
}

func (s *source) Notified(_ context.Context, ids []cluster.VJobID) (list []journal.Row, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, ids)
	for _, id := range ids {
		if to := s.notify[id]; len(to) > 0 {
			list = append(list, journal.Row{VJob: &cluster.VJob{ID: id, Name: "run", Owner: cmp.Or(s.owners[id], "ann"), Terms: &cluster.Terms{Notify: to}}})
		}
	}
	return list, nil
}

// clock is a present that tests turn forward.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) turn(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// run starts a poster and returns what stops it.
func run(tb testing.TB, c notify.PosterSettings) (p *notify.Poster, stop func()) {
	tb.Helper()
	c.Log, c.Host = slog.New(slog.DiscardHandler), "frontal"
	p = notify.NewPoster(c)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				tb.Error(err)
			}
		})
	}
	tb.Cleanup(stop)
	return p, stop
}

func await[T any](tb testing.TB, from <-chan T) (v T) {
	tb.Helper()
	select {
	case v = <-from:
	case <-time.After(20 * time.Second):
		tb.Fatal("nothing came")
	}
	return v
}

// begun waits until a poster has stored its cursor, so that it reports later events.
func begun(tb testing.TB, file string) {
	tb.Helper()
	for range 1000 {
		if found, _ := filepath.Glob(file); len(found) > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	tb.Fatal("the poster did not begin")
}

// counting tells of each attempt.
type counting struct {
	notify.Carrier
	calls chan error
}

func (c *counting) Carry(ctx context.Context, to notify.Address, m *notify.Message) error {
	err := c.Carrier.Carry(ctx, to, m)
	c.calls <- err
	return err
}

// Mails go to the addresses of a vjob, for the tags that they want, and for nothing
// that was before.
func TestMail(t *testing.T) {
	box, file := newLetterbox(t), filepath.Join(t.TempDir(), "letters")
	s := &source{notify: map[cluster.VJobID][]string{1: {"[END]mail:ann@example.org", "mail:bob@example.org"}, 2: nil}}
	s.add(1, cluster.Terminated) // long ago
	p, _ := run(t, notify.PosterSettings{
		Source: s, File: file, Now: time.Now,
		Mail: &notify.Mail{Server: box.listener.Addr().String(), From: "vjob@example.org", Security: notify.Plain},
	})
	begun(t, file)
	for _, id := range []cluster.VJobID{1, 2, 3} {
		s.add(id, cluster.Booting)
		s.add(id, cluster.Running)
		s.add(id, cluster.Terminated)
	}
	p.Notify()
	var got []string
	for range 3 {
		m, err := mail.ReadMessage(strings.NewReader(await(t, box.mails)))
		if err != nil {
			t.Fatal(err)
		}
		subject, err := (&mime.WordDecoder{}).DecodeHeader(m.Header.Get("Subject"))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m.Header.Get("To")+" "+subject+" "+m.Header.Get("Message-ID"))
	}
	slices.Sort(got)
	want := []string{
		"ann@example.org *vjob* [END]: 1 (run) on frontal <4.1.vjob@frontal>",
		"bob@example.org *vjob* [END]: 1 (run) on frontal <4.1.vjob@frontal>",
		"bob@example.org *vjob* [RUNNING]: 1 (run) on frontal <3.1.vjob@frontal>",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A server that fails is tried again; what waits survives the daemon; an unknown
// recipient is given up; and an accepted mail is not sent again.
func TestRetries(t *testing.T) {
	box, file, c := newLetterbox(t), filepath.Join(t.TempDir(), "letters"), &clock{now: time.Unix(1e9, 0)}
	box.fail, box.refuse = 2, "unknown@"
	s := &source{notify: map[cluster.VJobID][]string{1: {"mail:unknown@example.org", "mail:ann@example.org"}}}
	carrier := &counting{
		Carrier: &notify.Mail{Server: box.listener.Addr().String(), From: "vjob@example.org", Security: notify.Plain}, calls: make(chan error, 100),
	}
	config := notify.PosterSettings{Source: s, File: file, Now: c.Now, Mail: carrier}
	p, stop := run(t, config)
	begun(t, file)
	s.add(1, cluster.Terminated)
	p.Notify()
	refused := 0
	for range 2 { // one for each recipient
		switch err := await(t, carrier.calls); {
		case errors.Is(err, notify.ErrRefused):
			refused++
		case err == nil:
			t.Error("a mail was taken that should not have been")
		}
	}
	if refused != 1 {
		t.Errorf("%d recipients were refused", refused)
	}
	stop()
	for tries := range 2 { // another daemon goes on where this one stood
		c.turn(time.Hour)
		_, stop = run(t, config)
		if err := await(t, carrier.calls); (err == nil) != (tries == 1) {
			t.Errorf("attempt %d: %v", tries+2, err)
		}
		stop()
	}
	if m := await(t, box.mails); !strings.Contains(m, "[END]") {
		t.Error(m)
	}
	c.turn(48 * time.Hour)
	s.add(1, cluster.Running)
	_, stop = run(t, config)
	if m := await(t, box.mails); !strings.Contains(m, "[RUNNING]") {
		t.Errorf("sent again: %s", m)
	}
	stop()
	if len(box.mails) != 0 {
		t.Errorf("%d mails too many", len(box.mails))
	}
}

// The audiences of a batch of events are read together, and once. Without a way of delivery none are read.
func TestAudiencesAreReadTogether(t *testing.T) {
	for _, c := range []struct {
		name string
		mail notify.Carrier
		want int // vjobs asked about
	}{{"no way of delivery", nil, 0}, {"mail", &counting{calls: make(chan error, 100)}, 300}} {
		file, s := filepath.Join(t.TempDir(), "letters"), &source{}
		synctest.Test(t, func(t *testing.T) {
			p, stop := run(t, notify.PosterSettings{Source: s, File: file, Now: time.Now, Mail: c.mail})
			begun(t, file)
			for id := range cluster.VJobID(300) {
				s.add(id+1, cluster.Booting) // has no tag
				s.add(id+1, cluster.Running)
				s.add(id+1, cluster.Terminated)
			}
			p.Notify()
			time.Sleep(time.Minute)
			stop()
			asked := map[cluster.VJobID]bool{}
			for _, ids := range s.asked {
				for _, id := range ids {
					if asked[id] {
						t.Errorf("%s: asked about vjob %s twice", c.name, id)
					}
					asked[id] = true
				}
			}
			if len(asked) != c.want || len(s.asked) > 900/500+1 {
				t.Errorf("%s: %d questions about %d vjobs, want %d", c.name, len(s.asked), len(asked), c.want)
			}
		})
	}
}

// TestEventsAreReadOnce: a poster begins where the last one ended, though nothing was owed; and without a way of delivery
// it passes over the events.
func TestEventsAreReadOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		mail notify.Carrier
		most int // events read by the first poster
	}{{"no way of delivery", nil, 20}, {"mail", &counting{calls: make(chan error, 100)}, 1020}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &source{}
				config := notify.PosterSettings{Source: s, File: filepath.Join(t.TempDir(), "letters"), Now: time.Now, Mail: c.mail}
				p, stop := run(t, config)
				begun(t, config.File)
				for id := range cluster.VJobID(1000) {
					s.add(id+1, cluster.Running)
				}
				p.Notify()
				time.Sleep(time.Minute)
				stop()
				if s.read > c.most {
					t.Errorf("%d events read, want at most %d", s.read, c.most)
				}
				s.read = 0
				_, stop = run(t, config)
				time.Sleep(time.Minute)
				stop()
				if s.read > 20 {
					t.Errorf("the next poster read %d events that the first one had read", s.read)
				}
			})
		})
	}
}
