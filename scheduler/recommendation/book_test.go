package recommendation_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/recommendation"
)

var start = time.Unix(0, 0).UTC()

// move proposes to move a VM of a vjob; after are the indices that it depends on.
func move(vjob cluster.VJobID, to cluster.NodeID, after ...int) recommendation.Proposal {
	p := recommendation.Proposal{After: after}
	p.Moves = []cluster.Move{{VM: cluster.VMID{VJob: vjob}, From: "n1", To: to}}
	return p
}

// book is a book and what it has written.
type book struct {
	*recommendation.Book
	t   *testing.T
	out journal.Step
}

func newBook(t *testing.T) *book {
	t.Helper()
	b := &book{t: t}
	b.Book = recommendation.NewBook(time.Hour, 1, nil, &b.out)
	return b
}

// expect compares the open and rejected recommendations with states, by number.
func (b *book) expect(want map[journal.RecommendationID]journal.RecommendationState) {
	b.t.Helper()
	for _, r := range b.List() {
		if want[r.ID] != r.State {
			b.t.Errorf("recommendation %d is %s, want %q", r.ID, r.State, want[r.ID])
		}
	}
	if len(b.List()) != len(want) {
		b.t.Errorf("%d in the book, want %d", len(b.List()), len(want))
	}
}

// last returns the last state that was written of a recommendation.
func (b *book) last(id journal.RecommendationID) journal.RecommendationState {
	for _, r := range slices.Backward(b.out.Recommendations) {
		if r.ID == id {
			return r.State
		}
	}
	return ""
}

const (
	pending  = journal.RecommendationPending
	approved = journal.RecommendationApproved
	rejected = journal.RecommendationRejected
)

type states = map[journal.RecommendationID]journal.RecommendationState

// What is proposed again keeps its number, what is not is superseded, other kinds stay.
func TestPropose(t *testing.T) {
	b := newBook(t)
	b.Propose(start, journal.RecommendBalance, []recommendation.Proposal{move(1, "n2"), move(2, "n2")})
	b.Propose(start, journal.RecommendDrain, []recommendation.Proposal{move(1, "n2")})
	b.Propose(start.Add(20*time.Minute), journal.RecommendBalance, []recommendation.Proposal{move(3, "n2"), move(2, "n2")})
	b.expect(states{2: pending, 3: pending, 4: pending})
	if got := b.last(1); got != journal.RecommendationSuperseded {
		t.Errorf("recommendation 1 is %s", got)
	}
	written := len(b.out.Recommendations)
	b.Propose(start.Add(21*time.Minute), journal.RecommendBalance, []recommendation.Proposal{move(3, "n2"), move(2, "n2")})
	if len(b.out.Recommendations) != written {
		t.Error("the same proposals are written again within a minute")
	}
	if next := b.Expire(start.Add(time.Hour)); !next.Equal(start.Add(80 * time.Minute)) {
		t.Errorf("the next one expires at %s", next)
	}
	b.expect(states{2: pending, 4: pending})
}

// What depends on another is approved after it, and falls with it.
func TestDependencies(t *testing.T) {
	b := newBook(t)
	b.Propose(start, journal.RecommendBalance, []recommendation.Proposal{move(1, "n2"), move(2, "n3", 0), move(3, "n4", 1)})
	if err := b.Approve(start, 2, "root"); !errors.Is(err, cluster.ErrConflict) {
		t.Errorf("2 before 1: %v", err)
	}
	for _, id := range []journal.RecommendationID{1, 2} {
		if err := b.Approve(start, id, "root"); err != nil {
			t.Error(err)
		}
	}
	if err := b.Approve(start, 1, "root"); !errors.Is(err, cluster.ErrConflict) {
		t.Errorf("1 again: %v", err)
	}
	if first, ok := b.Approved(journal.RecommendBalance); !ok || first.ID != 1 {
		t.Errorf("first is %d", first.ID)
	}
	b.Applied(start, 1, 9)
	if next, ok := b.Approved(journal.RecommendBalance); !ok || next.ID != 2 {
		t.Errorf("next is %d", next.ID)
	}
	b.Refuse(start, 2, "n3 is off")
	b.expect(states{})
	for id, want := range (states{1: journal.RecommendationApplied, 2: journal.RecommendationRefused, 3: journal.RecommendationSuperseded}) {
		if got := b.last(id); got != want {
			t.Errorf("recommendation %d is %s, want %s", id, got, want)
		}
	}
}

// What was rejected is not proposed again for a while, and neither is what depends on it.
func TestReject(t *testing.T) {
	b := newBook(t)
	search := []recommendation.Proposal{move(1, "n2"), move(2, "n3", 0)}
	b.Propose(start, journal.RecommendBalance, search)
	if err := b.Reject(start, 1, "root", "not now"); err != nil {
		t.Error(err)
	}
	if err := b.Reject(start, 9, "root", ""); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("an unknown one: %v", err)
	}
	b.expect(states{1: rejected})
	b.Propose(start.Add(time.Minute), journal.RecommendBalance, search)
	b.expect(states{1: rejected})
	b.Expire(start.Add(time.Hour))
	b.Propose(start.Add(time.Hour), journal.RecommendBalance, search)
	b.expect(states{3: pending, 4: pending})
}

// Whatever happens, a book that continues from what was written is the same.
func TestContinuesFromTheJournal(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		b, now := newBook(t), start
		for range 30 {
			now = now.Add(time.Duration(rng.Int64N(int64(20 * time.Minute))))
			id := journal.RecommendationID(1 + rng.IntN(12))
			switch rng.IntN(6) {
			case 0:
				_ = b.Approve(now, id, "root") // may be refused
			case 1:
				_ = b.Reject(now, id, "root", "")
			case 2:
				if r, ok := b.Approved(journal.RecommendBalance); ok && rng.IntN(2) == 0 {
					b.Applied(now, r.ID, 1)
				} else if ok {
					b.Refuse(now, r.ID, "it changed")
				}
			case 3:
				b.Expire(now)
			default:
				var list []recommendation.Proposal
				for i := range rng.IntN(4) {
					p := move(cluster.VJobID(1+rng.IntN(5)), "n2")
					if i > 0 && rng.IntN(2) == 0 {
						p.After = []int{rng.IntN(i)}
					}
					list = append(list, p)
				}
				b.Propose(now, journal.RecommendBalance, list)
			}
		}
		b.Expire(now)
		byNumber, next := map[journal.RecommendationID]journal.Recommendation{}, journal.RecommendationID(1)
		for _, r := range b.out.Recommendations {
			byNumber[r.ID], next = r, max(next, r.ID+1)
		}
		var loaded []journal.Recommendation
		for id := journal.RecommendationID(1); id < next; id++ {
			if r := byNumber[id]; r.Open() || r.State == rejected {
				loaded = append(loaded, r)
			}
		}
		status := b.Status()
		states, total := status.States[journal.RecommendBalance], status.Totals[journal.RecommendBalance]
		if sum := total.Applied + total.Refused + total.Superseded + total.Expired + total.Rejected + states[pending] + states[approved]; sum != total.Made || total.Made != int(next-1) {
			t.Fatalf("%d were made, %d have the numbers to %d: %+v, %+v", total.Made, sum, next-1, total, states)
		}
		again := recommendation.NewBook(time.Hour, next, loaded, &journal.Step{})
		again.Expire(now)
		if !slices.EqualFunc(again.List(), b.List(), func(x, y journal.Recommendation) bool {
			return x.ID == y.ID && x.State == y.State && x.Expires.Equal(y.Expires)
		}) {
			t.Fatalf("loaded %+v, want %+v", again.List(), b.List())
		}
	}
}
