package scheduler

import (
	"cmp"
	"time"

	"vjob/ctxswitch/journal"
)

// Automation says which changes wait for approval. The zero value carries out all of them.
type Automation struct {
	Manual map[journal.RecommendationKind]bool
	Life   time.Duration // of a recommendation without approval; 0 is an hour
}

func (a *Automation) life() time.Duration { return cmp.Or(a.Life, time.Hour) }
