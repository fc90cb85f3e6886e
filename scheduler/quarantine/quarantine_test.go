package quarantine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/scheduler/decide"
	"vjob/scheduler/quarantine"
)

var start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// town is a set of live vjobs with their quarantine.
type town struct {
	t        *testing.T
	now      time.Time
	live     map[cluster.VJobID]*cluster.VJob
	register *quarantine.Quarantine
	told     []string
	again    time.Time
}

func (w *town) Job(id cluster.VJobID) (execute.Report, bool) {
	job, ok := w.live[id]
	return execute.Report{Job: job}, ok
}

// newTown has the vjobs 1 and 2, and pauses of as many minutes as there were failures.
func newTown(t *testing.T) *town {
	t.Helper()
	w := &town{t: t, now: start, live: map[cluster.VJobID]*cluster.VJob{1: {ID: 1}, 2: {ID: 2}}}
	w.register = quarantine.New(func(times int) time.Duration { return time.Duration(times) * time.Minute })
	return w
}

// away returns the quarantined vjobs.
func (w *town) away() (ids []cluster.VJobID) {
	var reports []execute.Report
	for _, job := range w.live {
		reports = append(reports, execute.Report{Job: job})
	}
	for id := range w.register.Active(w.now, reports) {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// decide takes a decision that fails with some, or altogether.
func (w *town) decide(err error, suspects ...cluster.VJobID) {
	trial := quarantine.Decision{Now: w.now, Err: err, Quarantined: map[cluster.VJobID]decide.Quarantined{}}
	for _, id := range w.away() {
		trial.Quarantined[id] = decide.Quarantined{}
	}
	for _, id := range suspects {
		trial.Culprits = append(trial.Culprits, decide.Culprit{VJob: id, Why: "it breaks"})
	}
	alarms, again := w.register.Update(&trial, w)
	w.told, w.again = nil, again
	for _, e := range alarms {
		w.told = append(w.told, e.Text)
	}
}

func (w *town) expect(away []cluster.VJobID, told string, again time.Duration) {
	w.t.Helper()
	if got := w.away(); !slices.Equal(got, away) {
		w.t.Errorf("%v are away, want %v", got, away)
	}
	if text := strings.Join(w.told, "; "); (told == "") != (text == "") || !strings.Contains(text, told) {
		w.t.Errorf("the alarms are %q, want %q", text, told)
	}
	if want := w.now.Add(again); again > 0 && !w.again.Equal(want) || again == 0 && !w.again.IsZero() {
		w.t.Errorf("the next try is at %s, want %s after now", w.again, again)
	}
}

// Pauses grow with failures in a row, and begin anew after a success.
func TestPausesGrow(t *testing.T) {
	w := newTown(t)
	w.decide(nil, 2)
	w.expect([]cluster.VJobID{2}, "vjob 2 is set aside for 1m0s, no decision can be taken with it: it breaks", time.Minute)
	w.decide(nil) // without it
	w.expect([]cluster.VJobID{2}, "", 0)
	w.now = w.now.Add(time.Minute)
	w.expect(nil, "", 0)
	w.decide(nil, 2)
	w.expect([]cluster.VJobID{2}, "for 2m0s", 2*time.Minute)
	w.now = w.now.Add(2 * time.Minute)
	w.decide(nil) // with it: it is mended
	w.decide(nil, 2)
	w.expect([]cluster.VJobID{2}, "for 1m0s", time.Minute)
}

// A vjob that its owner has changed is tried at once, but has not become trustworthy by
// that alone.
func TestChanged(t *testing.T) {
	w := newTown(t)
	w.decide(nil, 1)
	w.live[1] = &cluster.VJob{ID: 1, Version: 1}
	w.expect(nil, "set aside", time.Minute)
	w.decide(nil, 1)
	w.expect([]cluster.VJobID{1}, "for 2m0s", 2*time.Minute)
}

// An ended vjob is not quarantined, and the first of several is tried first.
func TestSeveral(t *testing.T) {
	w := newTown(t)
	w.decide(nil, 9)
	w.expect(nil, "", 0)
	w.decide(nil, 1)
	w.now = w.now.Add(time.Minute)
	w.decide(nil, 1, 2)
	w.expect([]cluster.VJobID{1, 2}, "vjob 2 is set aside for 1m0s", time.Minute)
}

// While nothing can be decided at all alarms are raised as often as it tries by itself,
// however often something else makes it try.
func TestNobody(t *testing.T) {
	w, err := newTown(t), errors.New("the policy is broken")
	w.decide(err)
	w.expect(nil, "no decision can be taken, next try in 1m0s: the policy is broken", time.Minute)
	w.now = w.now.Add(20 * time.Second)
	w.decide(err)
	w.expect(nil, "", 40*time.Second)
	w.now = w.now.Add(40 * time.Second)
	w.decide(err)
	w.expect(nil, "next try in 2m0s", 2*time.Minute)
	w.decide(nil)
	w.expect(nil, "", 0)
	w.decide(err)
	w.expect(nil, "next try in 1m0s", time.Minute)
}
