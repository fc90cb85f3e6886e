package pool

import (
	"fmt"
	"strings"

	"vjob/cluster"
)

// Ledger counts what running vjobs have reserved in the pools of a hierarchy, to see what fits beside them.
// It belongs to one goroutine.
type Ledger struct{ h *Hierarchy }

// Ledger returns a ledger of the reservations in the hierarchy. The hierarchy itself stays as it is.
func (h *Hierarchy) Ledger() *Ledger { return &Ledger{h.Clone()} }

// Clone returns an independent copy.
func (l *Ledger) Clone() *Ledger { return l.h.Ledger() }

// Count reserves more in a pool, whatever its limit.
func (l *Ledger) Count(pool string, more cluster.Resources) { l.h.reserve(l.h.pools[pool], more) }

// Refuses returns which pool has not as much left as more reservations in a pool need, such as
// "pool physics: 6 of 8 CPU are reserved, 4 are needed"; "" if all have.
func (l *Ledger) Refuses(pool string, more cluster.Resources) string {
	short, lacks := l.h.lack(l.h.pools[pool], more)
	if !lacks {
		return ""
	}
	whose := "the cluster"
	if short.at > 0 {
		whose = "pool " + l.h.members[short.at].Name
	}
	return fmt.Sprintf("%s: %s of %s are reserved, %s are needed", whose, short.number(short.reserved), short.text(short.limit), short.number(short.more))
}

// number is an amount without its unit where the unit of the resource is always the same.
func (l *lack) number(n int64) string { return strings.TrimSuffix(l.text(n), " CPU") }
