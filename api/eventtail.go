package api

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"sync"
	"time"

	"vjob/ctxswitch/journal"
)

// tailSize is how many of the latest events are kept in memory at least, once there are so many.
const tailSize = 4096

// eventTail keeps the latest events in memory: after a commit one stream reads them from the log, and all others take them
// from here. It is safe for concurrent use.
type eventTail struct {
	log  eventReader
	news *broadcast
	poll time.Duration // the longest time between two readings of the log
	now  func() time.Time
	size int // of kept, about; 0 is tailSize

	mu     sync.Mutex
	begun  bool
	notice uint64          // of the last reading
	read   time.Time       // when that was
	after  int64           // the number before that of the first event that is kept
	kept   []journal.Event // without gaps, each with the owner of its vjob
}

// since returns the events after f.After that the filter admits, oldest first and at most f.Limit, and the number up to
// which the log was looked through: the next call may begin there.
func (t *eventTail) since(ctx context.Context, f journal.EventFilter) (list []journal.Event, upTo int64, err error) {
	kept, first, last, err := t.latest(ctx)
	if err != nil {
		return nil, f.After, err
	}
	if f.After < first || f.Array != 0 { // older events are in the log only, and so are the arrays of vjobs
		list, err = t.log.Events(ctx, f)
		switch n := len(list); {
		case err != nil:
			return nil, f.After, err
		case n > 0 && n == f.Limit:
			return list, list[n-1].Seq, nil
		case n > 0:
			return list, max(last, list[n-1].Seq), nil
		default:
			return nil, max(last, f.After), nil
		}
	}
	from := sort.Search(len(kept), func(i int) bool { return kept[i].Seq > f.After })
	for i := from; i < len(kept); i++ {
		e := &kept[i]
		if !admits(&f, e) {
			continue
		}
		if list = append(list, *e); len(list) == f.Limit {
			return list, e.Seq, nil
		}
	}
	return list, max(last, f.After), nil
}

// forget drops what is kept, after a change of owners.
func (t *eventTail) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun, t.kept = false, nil
}

// last returns the number of the last event.
func (t *eventTail) last(ctx context.Context) (int64, error) {
	_, _, last, err := t.latest(ctx)
	return last, err
}

// latest returns the events that are kept, once they include those of the last notice. They do not change.
func (t *eventTail) latest(ctx context.Context) (kept []journal.Event, first, last int64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	notice, now := t.news.notices(), t.now() // before reading, so that nothing is missed
	if !t.begun || notice != t.notice || now.Sub(t.read) >= t.poll {
		if err := t.readLog(ctx); err != nil {
			return nil, 0, 0, err
		}
		t.notice, t.read = notice, now
	}
	last = t.after
	if n := len(t.kept); n > 0 {
		last = t.kept[n-1].Seq
	}
	return t.kept, t.after, last, nil
}

// readLog reads what is new.
func (t *eventTail) readLog(ctx context.Context) error {
	if !t.begun {
		list, err := t.log.Events(ctx, journal.EventFilter{Latest: true, Limit: 1, WithOwner: true})
		if err != nil {
			return err
		}
		if t.kept = list; len(list) > 0 {
			t.after = list[0].Seq - 1
		}
		t.begun = true
		return nil
	}
	for {
		f := journal.EventFilter{After: t.after, Limit: streamBatch, WithOwner: true}
		if n := len(t.kept); n > 0 {
			f.After = t.kept[n-1].Seq
		}
		list, err := t.log.Events(ctx, f)
		if err != nil {
			return err
		}
		t.keep(list)
		if len(list) < streamBatch {
			return nil
		}
	}
}

// keep adds events, and drops the oldest where there are twice as many as needed. Slices that were given out stay as
// they are.
func (t *eventTail) keep(list []journal.Event) {
	size := cmp.Or(t.size, tailSize)
	t.kept = append(t.kept, list...)
	if extra := len(t.kept) - size; extra >= size {
		t.after = t.kept[extra-1].Seq
		t.kept = append(make([]journal.Event, 0, 2*size), t.kept[extra:]...)
	}
}

// admits reports whether a filter admits an event that has the owner of its vjob.
func admits(f *journal.EventFilter, e *journal.Event) bool {
	return (f.Owner == "" || e.Owner == f.Owner) && (f.VJob == 0 || e.VJob == f.VJob) && (f.Plan == 0 || e.Plan == f.Plan) &&
		(len(f.Kinds) == 0 || slices.Contains(f.Kinds, e.Kind))
}
