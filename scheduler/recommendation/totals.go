package recommendation

import "vjob/ctxswitch/journal"

// Total counts recommendations of a kind since the start of the daemon.
type Total struct {
	Made       int
	Automatic  int // of them began without approval
	Approved   int
	Rejected   int
	Applied    int // after approval
	Refused    int
	Superseded int
	Expired    int
	Moves      int // of running VMs, by those that were applied or began without approval
}

// Totals are the counts by kind.
type Totals map[journal.RecommendationKind]*Total

// of returns the counts of a kind.
func (t Totals) of(kind journal.RecommendationKind) *Total {
	if t[kind] == nil {
		t[kind] = &Total{}
	}
	return t[kind]
}

// close counts a recommendation by the state in which it is closed.
func (t Totals) close(r *journal.Recommendation) {
	total := t.of(r.Kind)
	switch r.State {
	case journal.RecommendationApplied:
		total.Applied++
		total.Moves += migrations(r)
	case journal.RecommendationRefused:
		total.Refused++
	case journal.RecommendationSuperseded:
		total.Superseded++
	case journal.RecommendationExpired:
		total.Expired++
	case journal.RecommendationPending, journal.RecommendationApproved, journal.RecommendationRejected: // they stay in the book
	}
}

// migrations counts the moves of running VMs.
func migrations(r *journal.Recommendation) (n int) {
	for _, m := range r.Moves {
		if m.From != "" {
			n++
		}
	}
	return n
}

// Status counts what is in the book, and what became of it since the start.
type Status struct {
	States map[journal.RecommendationKind]map[journal.RecommendationState]int // pending, approved or rejected lately
	Totals map[journal.RecommendationKind]Total
}

// Status returns a copy of the counts.
func (b *Book) Status() Status {
	s := Status{States: map[journal.RecommendationKind]map[journal.RecommendationState]int{}, Totals: make(map[journal.RecommendationKind]Total, len(b.totals))}
	for kind, total := range b.totals {
		s.Totals[kind] = *total
	}
	for _, r := range b.list {
		if s.States[r.Kind] == nil {
			s.States[r.Kind] = map[journal.RecommendationState]int{}
		}
		s.States[r.Kind][r.State]++
	}
	return s
}
