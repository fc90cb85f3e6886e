// Package recommendation keeps the changes that are proposed for a cluster: those that wait for approval, and
// for a while those that were decided on. It is pure; what it changes goes into the journal.
package recommendation

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Proposal is a recommendation before it has a number and a state.
type Proposal struct {
	journal.Recommendation
	After []int // indices of the proposals of the same search that must be applied before
}

// Book keeps recommendations.
type Book struct {
	Life time.Duration // of a pending recommendation that no search proposes again, and of a rejection

	next   journal.RecommendationID
	list   []*journal.Recommendation // open or rejected ones, in order
	out    *journal.Step
	totals Totals
}

// NewBook continues from the journal.
func NewBook(life time.Duration, next journal.RecommendationID, loaded []journal.Recommendation, out *journal.Step) *Book {
	b := &Book{Life: life, next: max(next, 1), out: out, totals: Totals{}}
	for i := range loaded {
		r := loaded[i]
		b.list = append(b.list, &r)
	}
	return b
}

// List returns the open and the lately rejected recommendations, in order.
func (b *Book) List() []journal.Recommendation {
	list := make([]journal.Recommendation, len(b.list))
	for i, r := range b.list {
		list[i] = *r
	}
	return list
}

// Find returns an open or lately rejected recommendation.
func (b *Book) Find(id journal.RecommendationID) (journal.Recommendation, bool) {
	if r := b.find(id); r != nil {
		return *r, true
	}
	return journal.Recommendation{}, false
}

func (b *Book) find(id journal.RecommendationID) *journal.Recommendation {
	at, known := slices.BinarySearchFunc(b.list, id, func(r *journal.Recommendation, id journal.RecommendationID) int { return cmp.Compare(r.ID, id) })
	if !known {
		return nil
	}
	return b.list[at]
}

// Propose replaces the pending recommendations of a kind by what the last search proposes. One that proposes
// the same changes keeps its number and lives longer; one that a user has rejected is not proposed again
// before the rejection ends.
func (b *Book) Propose(now time.Time, kind journal.RecommendationKind, proposals []Proposal) {
	kept := b.Add(now, kind, proposals)
	b.Supersede(now, "a later search does not propose it any more", func(r *journal.Recommendation) bool { return r.Kind == kind && !kept[r.ID] })
}

// Supersede closes pending recommendations.
func (b *Book) Supersede(now time.Time, why string, which func(r *journal.Recommendation) bool) {
	b.closeAll(now, func(r *journal.Recommendation) bool {
		return r.State == journal.RecommendationPending && which(r)
	}, journal.RecommendationSuperseded, why)
}

// Add is Propose for a search of a part of the cluster: other pending recommendations stay. It returns the
// numbers of those that are proposed.
func (b *Book) Add(now time.Time, kind journal.RecommendationKind, proposals []Proposal) (kept map[journal.RecommendationID]bool) {
	numbers := make([]journal.RecommendationID, len(proposals))
	kept = map[journal.RecommendationID]bool{}
	for i := range proposals {
		p := proposals[i].Recommendation
		p.Kind, p.At, p.Expires, p.State, p.DependsOn = kind, now, now.Add(b.Life), journal.RecommendationPending, nil
		missing := false
		for _, before := range proposals[i].After {
			missing = missing || numbers[before] == 0
			p.DependsOn = append(p.DependsOn, numbers[before])
		}
		same := b.same(&p)
		switch {
		case missing || same != nil && same.State == journal.RecommendationRejected:
			continue // so those that depend on it are not proposed either
		case same != nil && p.Expires.Sub(same.Expires) < b.Life/4:
			numbers[i], kept[same.ID] = same.ID, true
			continue // it is as good as new: nothing is written
		case same != nil:
			p.ID, p.At, p.State, p.By, p.Decided = same.ID, same.At, same.State, same.By, same.Decided
			*same = p
		default:
			p.ID = b.next
			b.next++
			b.totals.of(kind).Made++
			same = &p
			b.list = append(b.list, same)
		}
		numbers[i], kept[same.ID] = same.ID, true
		b.out.Recommendations = append(b.out.Recommendations, *same)
	}
	return kept
}

// same returns the recommendation in the book that proposes the same changes; nil if there is none.
func (b *Book) same(p *journal.Recommendation) *journal.Recommendation {
	for _, r := range b.list {
		if r.Kind == p.Kind && r.VJob == p.VJob && r.Node == p.Node && slices.Equal(r.Moves, p.Moves) && slices.Equal(r.On, p.On) && slices.Equal(r.Off, p.Off) {
			return r
		}
	}
	return nil
}

// Record adds a proposal that begins without approval, with its plan.
func (b *Book) Record(now time.Time, kind journal.RecommendationKind, p Proposal, plan journal.PlanID) {
	r := p.Recommendation
	r.ID, r.Kind, r.At, r.Expires, r.State, r.Plan = b.next, kind, now, now, journal.RecommendationApplied, plan
	b.next++
	t := b.totals.of(kind)
	t.Made++
	t.Automatic++
	t.Moves += migrations(&r)
	b.out.Recommendations = append(b.out.Recommendations, r)
}

// Approve approves a pending recommendation. It fails with ErrNotFound or ErrConflict.
func (b *Book) Approve(now time.Time, id journal.RecommendationID, by string) error {
	r, err := b.pending(id)
	if err != nil {
		return err
	}
	for _, before := range r.DependsOn {
		if first := b.find(before); first != nil && first.State == journal.RecommendationPending {
			return fmt.Errorf("recommendation %d: recommendation %d has to be approved before: %w", id, before, cluster.ErrConflict)
		}
	}
	r.State, r.By, r.Decided = journal.RecommendationApproved, by, now
	b.totals.of(r.Kind).Approved++
	b.changed(now, r, fmt.Sprintf("approved by %s", by))
	return nil
}

// Reject rejects a pending recommendation, and those that depend on it. It fails with ErrNotFound or
// ErrConflict.
func (b *Book) Reject(now time.Time, id journal.RecommendationID, by, why string) error {
	r, err := b.pending(id)
	if err != nil {
		return err
	}
	r.State, r.By, r.Decided, r.Note, r.Expires = journal.RecommendationRejected, by, now, why, now.Add(b.Life)
	b.totals.of(r.Kind).Rejected++
	b.changed(now, r, fmt.Sprintf("rejected by %s", by))
	b.closeDependent(now, id)
	return nil
}

func (b *Book) pending(id journal.RecommendationID) (*journal.Recommendation, error) {
	r := b.find(id)
	switch {
	case r == nil:
		return nil, fmt.Errorf("recommendation %d: it was decided on, has expired or never was: %w", id, cluster.ErrNotFound)
	case r.State != journal.RecommendationPending:
		return nil, fmt.Errorf("recommendation %d is %s already: %w", id, r.State, cluster.ErrConflict)
	}
	return r, nil
}

// Approved returns the first approved recommendation of some kinds that depends on none that is open.
func (b *Book) Approved(kinds ...journal.RecommendationKind) (journal.Recommendation, bool) {
	for _, r := range b.list {
		open := func(id journal.RecommendationID) bool { d := b.find(id); return d != nil && d.Open() }
		if r.State == journal.RecommendationApproved && slices.Contains(kinds, r.Kind) && !slices.ContainsFunc(r.DependsOn, open) {
			return *r, true
		}
	}
	return journal.Recommendation{}, false
}

// Applied closes a recommendation when its plan begins.
func (b *Book) Applied(now time.Time, id journal.RecommendationID, plan journal.PlanID) {
	r := b.find(id)
	r.State, r.Plan = journal.RecommendationApplied, plan
	b.close(now, r)
}

// Refuse closes an approved recommendation that is not possible any more, and those that depend on it.
func (b *Book) Refuse(now time.Time, id journal.RecommendationID, why string) {
	r := b.find(id)
	r.State, r.Note = journal.RecommendationRefused, why
	b.close(now, r)
	b.closeDependent(now, id)
}

// Expire closes what has expired, and returns when the next one expires; zero if none does.
func (b *Book) Expire(now time.Time) (next time.Time) {
	b.closeAll(now, func(r *journal.Recommendation) bool {
		return r.State == journal.RecommendationPending && !now.Before(r.Expires)
	}, journal.RecommendationExpired, "")
	b.list = slices.DeleteFunc(b.list, func(r *journal.Recommendation) bool {
		return r.State == journal.RecommendationRejected && !now.Before(r.Expires)
	})
	for _, r := range b.list {
		if r.State != journal.RecommendationApproved && (next.IsZero() || r.Expires.Before(next)) {
			next = r.Expires
		}
	}
	return next
}

// closeDependent closes the open recommendations that depend on one that is not applied.
func (b *Book) closeDependent(now time.Time, id journal.RecommendationID) {
	for closed := []journal.RecommendationID{id}; len(closed) > 0; closed = closed[1:] {
		closed = append(closed, b.closeAll(now, func(r *journal.Recommendation) bool {
			return r.Open() && slices.Contains(r.DependsOn, closed[0])
		}, journal.RecommendationSuperseded, fmt.Sprintf("it depends on recommendation %d, which is not applied", closed[0]))...)
	}
}

// closeAll closes some recommendations, and returns their numbers.
func (b *Book) closeAll(now time.Time, which func(r *journal.Recommendation) bool, state journal.RecommendationState, note string) (closed []journal.RecommendationID) {
	for _, r := range slices.Clone(b.list) {
		if which(r) {
			r.State, r.Note = state, note
			closed = append(closed, r.ID)
			b.close(now, r)
		}
	}
	return closed
}

// close writes a closed recommendation and forgets it.
func (b *Book) close(now time.Time, r *journal.Recommendation) {
	text := string(r.State)
	if r.Note != "" {
		text += ": " + r.Note
	}
	b.totals.close(r)
	b.changed(now, r, text)
	b.list = slices.DeleteFunc(b.list, func(o *journal.Recommendation) bool { return o.ID == r.ID })
}

// changed writes a recommendation and an event.
func (b *Book) changed(now time.Time, r *journal.Recommendation, text string) {
	b.out.Recommendations = append(b.out.Recommendations, *r)
	b.out.Events = append(b.out.Events, journal.Event{
		At: now, Kind: journal.EventRecommendation, Plan: r.Plan, Text: fmt.Sprintf("recommendation %d (%s): %s", r.ID, r.Kind, text),
	})
}
